"""The columns of jobs and cron jobs.

Source: kubernetes pkg/printers/internalversion printJob, printCronJob; tests/golden/l0/printers.jsonl.gz.
"""

from __future__ import annotations

from env_core.apiserver.kind import Column
from env_core.kinds._columns_workload import AGE, CONTAINERS, IMAGES, NAME, SELECTOR, containers_cell
from env_core.kinds._describe_text import NONE, bool_text, translate_age
from env_core.objects import selectors
from env_core.sim import timefmt
from env_core.world import Object

_ENDED = ("Complete", "Failed")
_OTHER = (
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _cell_status(obj: Object, _now_ms: int) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    true = {condition["type"] for condition in conditions if condition.get("status") == "True"}
    for kind in _ENDED:
        if kind in true:
            return kind
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next((text for kind, text in _OTHER if kind in true), "Running")


def _cell_completions(obj: Object, _now_ms: int) -> str:
    spec = obj["spec"]
    succeeded = (obj.get("status") or {}).get("succeeded", 0)
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _cell_duration(obj: Object, now_ms: int) -> str:
    status = obj.get("status") or {}
    started, completed = status.get("startTime"), status.get("completionTime")
    if not started:
        return ""
    end_ms = timefmt.parse_ms(completed) if completed else now_ms
    return timefmt.human_duration(end_ms - timefmt.parse_ms(started))


JOB = (
    NAME,
    Column("Status", _cell_status),
    Column("Completions", _cell_completions),
    Column("Duration", _cell_duration),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
)


def _job_spec(obj: Object) -> Object:
    return (obj["spec"].get("jobTemplate") or {}).get("spec") or {}


def _job_containers(obj: Object) -> list[Object]:
    return ((_job_spec(obj).get("template") or {}).get("spec") or {}).get("containers") or []


def _cell_schedule(obj: Object, _now_ms: int) -> str:
    return str(obj["spec"].get("schedule", ""))


def _cell_time_zone(obj: Object, _now_ms: int) -> str:
    zone = obj["spec"].get("timeZone")
    return NONE if zone is None else str(zone)


def _cell_suspend(obj: Object, _now_ms: int) -> str:
    suspend = obj["spec"].get("suspend")
    return "<unset>" if suspend is None else bool_text(suspend)


def _cell_active(obj: Object, _now_ms: int) -> int:
    return len((obj.get("status") or {}).get("active") or ())


def _cell_last_schedule(obj: Object, now_ms: int) -> str:
    last = (obj.get("status") or {}).get("lastScheduleTime")
    return translate_age(last, now_ms) if last else NONE


def _cell_job_selector(obj: Object, _now_ms: int) -> str:
    return selectors.format_label_selector(_job_spec(obj).get("selector"))


CRONJOB = (
    NAME,
    Column("Schedule", _cell_schedule),
    Column("Timezone", _cell_time_zone),
    Column("Suspend", _cell_suspend, "boolean"),
    Column("Active", _cell_active, "integer"),
    Column("Last Schedule", _cell_last_schedule),
    AGE,
    Column("Containers", containers_cell(_job_containers, "name"), priority=1),
    Column("Images", containers_cell(_job_containers, "image"), priority=1),
    Column("Selector", _cell_job_selector, priority=1),
)
