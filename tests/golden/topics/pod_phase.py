"""l0/pod_phase: the phase and conditions that the kubelet gives a pod."""

from env_core.node import conditions
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.node.test_conditions import _statuses as statuses_of

ANSWERS = (
    "phase", "phaseIfTerminal", "phaseNotInitialized", "initialized", "containersReady", "ready", "podFormat",
)  # fmt: skip
_KEYS = ("type", "status", "reason", "message")


def _stated(condition: Record | None) -> Record | None:
    return None if condition is None else {key: condition.get(key) for key in _KEYS if condition.get(key)}


def _judge(record: Record, _folder: Folder) -> Comparison:
    pod = record["pod"]
    statuses = statuses_of(pod)

    def phase(*, is_ended: bool, was_initialized: bool) -> str:
        return conditions.phase_of(pod, statuses, is_ended=is_ended, was_initialized=was_initialized)

    found = phase(is_ended=False, was_initialized=True)
    all_ready = conditions.containers_ready(pod, statuses, found)
    known = (pod.get("status") or {}).get("conditions") or ()
    metadata = pod["metadata"]
    got = {
        "phase": found,
        "phaseNotInitialized": phase(is_ended=False, was_initialized=False),
        "phaseIfTerminal": phase(is_ended=True, was_initialized=True),
        "containersReady": _stated(all_ready),
        "initialized": _stated(conditions.initialized(pod, statuses, found)),
        "ready": _stated(conditions.ready(pod, known, all_ready)),
        "podFormat": f"{metadata['name']}_{metadata.get('namespace', '')}({metadata.get('uid', '')})",
    }
    return Comparison(
        {field: record[field] for field in ANSWERS if field in record},
        {field: value for field, value in got.items() if field in record},
    )


TOPIC = Topic(name="l0/pod_phase", files=("pod_phase.jsonl",), answers=ANSWERS, judge=_judge)
