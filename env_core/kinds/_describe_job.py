"""`kubectl describe` of jobs and cron jobs."""

from __future__ import annotations

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_template import write_pod_template
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    bool_text,
    controller_text,
    labels_and_annotations,
    name_lines,
    rfc1123z,
    write_events,
)
from env_core.objects import selectors
from env_core.sim import timefmt
from env_core.world import Object

_UNSET = "<unset>"
_INDEXES_LENGTH = 50


def describe_job(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe job` prints.

    Source: k8s.io/kubectl pkg/describe JobDescriber; tests/golden/l0/describe.jsonl.gz.
    """
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    name_lines(writer, obj)
    writer.line(0, f"Selector:\t{selectors.from_object(spec.get('selector'))!s}")
    labels_and_annotations(writer, obj)
    controller = controller_text(obj)
    if controller:
        writer.line(0, f"Controlled By:\t{controller}")
    _write_job_spec(writer, spec)
    _write_job_status(writer, spec, status)
    write_pod_template(writer, spec["template"])
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def _write_job_spec(writer: LineWriter, spec: Object) -> None:
    if spec.get("parallelism") is not None:
        writer.line(0, f"Parallelism:\t{spec['parallelism']}")
    writer.line(0, f"Completions:\t{_or_unset(spec.get('completions'))}")
    if spec.get("completionMode") is not None:
        writer.line(0, f"Completion Mode:\t{spec['completionMode']}")
    if spec.get("suspend") is not None:
        writer.line(0, f"Suspend:\t{'true' if spec['suspend'] else 'false'}")
    if spec.get("backoffLimit") is not None:
        writer.line(0, f"Backoff Limit:\t{spec['backoffLimit']}")
    if spec.get("ttlSecondsAfterFinished") is not None:
        writer.line(0, f"TTL Seconds After Finished:\t{spec['ttlSecondsAfterFinished']}")


def _write_job_status(writer: LineWriter, spec: Object, status: Object) -> None:
    started, completed = status.get("startTime"), status.get("completionTime")
    if started:
        writer.line(0, f"Start Time:\t{rfc1123z(started)}")
    if completed:
        writer.line(0, f"Completed At:\t{rfc1123z(completed)}")
    if started and completed:
        took_ms = timefmt.parse_ms(completed) - timefmt.parse_ms(started)
        writer.line(0, f"Duration:\t{timefmt.human_duration(took_ms)}")
    if spec.get("activeDeadlineSeconds") is not None:
        writer.line(0, f"Active Deadline Seconds:\t{spec['activeDeadlineSeconds']}s")
    ready = "" if status.get("ready") is None else f" ({status['ready']} Ready)"
    writer.line(
        0,
        f"Pods Statuses:\t{status.get('active', 0)} Active{ready} / {status.get('succeeded', 0)} Succeeded / "
        f"{status.get('failed', 0)} Failed",
    )
    if spec.get("completionMode") == "Indexed":
        writer.line(0, f"Completed Indexes:\t{_cut_indexes(status.get('completedIndexes') or '')}")


def _cut_indexes(indexes: str) -> str:
    """Return the list, cut behind the first comma after 50 characters; `<none>` for an empty one."""
    if not indexes:
        return NONE
    comma = indexes.find(",", _INDEXES_LENGTH)
    return indexes if comma < 0 else indexes[: comma + 1] + "..."


def _or_unset(value: object, suffix: str = "") -> str:
    return _UNSET if value is None else f"{value}{suffix}"


def describe_cronjob(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe cronjob` prints."""
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    suspend = spec.get("suspend")
    name_lines(writer, obj)
    labels_and_annotations(writer, obj)
    writer.line(0, f"Schedule:\t{spec.get('schedule', '')}")
    writer.line(0, f"Concurrency Policy:\t{spec.get('concurrencyPolicy', '')}")
    writer.line(0, f"Suspend:\t{_UNSET if suspend is None else bool_text(suspend)}")
    writer.line(0, f"Time Zone:\t{_or_unset(spec.get('timeZone'))}")
    writer.line(0, f"Successful Job History Limit:\t{_or_unset(spec.get('successfulJobsHistoryLimit'))}")
    writer.line(0, f"Failed Job History Limit:\t{_or_unset(spec.get('failedJobsHistoryLimit'))}")
    writer.line(0, f"Starting Deadline Seconds:\t{_or_unset(spec.get('startingDeadlineSeconds'), 's')}")
    _write_job_template(writer, spec["jobTemplate"].get("spec") or {})
    last = status.get("lastScheduleTime")
    writer.line(0, f"Last Schedule Time:\t{rfc1123z(last) if last else _UNSET}")
    active = ", ".join(job.get("name", "") for job in status.get("active") or ())
    writer.line(0, f"Active Jobs:\t{active if status.get('active') else NONE}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def _write_job_template(writer: LineWriter, spec: Object) -> None:
    selector = spec.get("selector")
    shown = _UNSET if selector is None else str(selectors.from_object(selector))
    writer.line(0, f"Selector:\t{shown}")
    writer.line(0, f"Parallelism:\t{_or_unset(spec.get('parallelism'))}")
    writer.line(0, f"Completions:\t{_or_unset(spec.get('completions'))}")
    if spec.get("activeDeadlineSeconds") is not None:
        writer.line(0, f"Active Deadline Seconds:\t{spec['activeDeadlineSeconds']}s")
    write_pod_template(writer, spec.get("template") or {})
