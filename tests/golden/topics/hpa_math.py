"""l0/hpa_math: replica counts of the pod autoscaler, and what its limits leave of them."""

from env_core.controllers import _hpa_limits as limits
from env_core.controllers import _hpa_replicas as replicas
from env_core.controllers._hpa_limits import Past
from env_core.controllers._hpa_replicas import MetricError, PodMetric, Proposal
from env_core.sim.timefmt import parse_ms
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = (
    "result", "reason", "message", "replicas", "utilization", "rawAverage", "error", "usage", "steps",
)  # fmt: skip
WINDOW_MS = 60_000


def _proposal(record: Record) -> Proposal:
    pods, current = record.get("pods", []), record["current"]
    now_ms = parse_ms(record["now"]) if "now" in record else 0
    metrics = {
        name: PodMetric(value, now_ms, WINDOW_MS) for name, value in record.get("metrics", {}).items()
    }
    kind = record["kind"]
    if kind == "resource":
        target = record["targetUtilization"]
        return replicas.resource_replicas(current, target, "cpu", "", metrics, pods, now_ms)
    if kind in ("pods-metric", "raw-resource"):
        resource = record.get("resource", "")
        target = record["targetAverage"]
        return replicas.plain_replicas(current, target, metrics, pods, now_ms, resource=resource)
    if kind == "external-average":
        return replicas.average_replicas(current, record["targetAverage"], record["value"])
    return replicas.value_replicas(current, record["target"], record["value"], pods)


def _steps(record: Record) -> list[Record]:
    past = Past()
    out = []
    for step in record["steps"]:
        current, now_ms = step["current"], step["atSeconds"] * 1000
        if not past.recommendations:
            past = past.recommended(current, now_ms)
        found = limits.limited(
            record["behavior"],
            past,
            current=current,
            desired=step["recommended"],
            minimum=record["min"],
            maximum=record["max"],
            now_ms=now_ms,
        )
        past = found.past
        if found.replicas != current:
            past = past.scaled(current, found.replicas, now_ms)
        out.append(
            {
                **step,
                "result": found.replicas,
                "conditions": [
                    _condition("AbleToScale", "True", found.able),
                    _condition("ScalingLimited", str(found.is_limited), found.limited),
                ],
            }
        )
    return out


def _condition(kind: str, status: str, why: tuple[str, str]) -> Record:
    return {"type": kind, "status": status, "reason": why[0], "message": why[1]}


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    if record["kind"] == "sequence":
        return Comparison(wanted, {"steps": _steps(record)})
    if record["kind"] == "rules":
        result, (reason, message) = limits.within_bounds(
            record["current"], record["desired"], record["min"], record["max"]
        )
        return Comparison(wanted, {"result": result, "reason": reason, "message": message})
    try:
        found = _proposal(record)
    except MetricError as error:
        return Comparison(wanted, {**dict.fromkeys(wanted, 0), "error": str(error)})
    got = {"replicas": found.replicas, "usage": found.average}
    if record["kind"] == "resource":
        got = {"replicas": found.replicas, "utilization": found.utilization, "rawAverage": found.average}
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/hpa_math", files=("hpa_math.jsonl",), answers=ANSWERS, judge=_judge)
