"""l0/backoff_curves: how long a container that keeps dying waits, from crash to crash."""

from types import SimpleNamespace

from env_core.node import containers
from env_core.node._records import Instance, PodRecord
from env_core.sim.timefmt import go_duration
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

_POD = {"metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def _ended(started_ms: int, finished_ms: int) -> Instance:
    return Instance("id", 0, "i", "i", started_ms, "i", finished_ms=finished_ms, exit_code=1)


def _steps(run_ms: int, crashes: int) -> list[Record]:
    """Let a container crash again and again after `run_ms`, restarting it as soon as it may be."""
    host = SimpleNamespace(now_ms=10**9, event=lambda *_: None)
    record = PodRecord("u", "n", "p", "node", host.now_ms)
    steps = []
    for crash in range(1, crashes + 1):
        started_ms, host.now_ms = host.now_ms, host.now_ms + run_ms
        finished_ms = host.now_ms
        state = record.container("c")._replace(current=_ended(started_ms, finished_ms))
        record = record._replace(containers={"c": state})
        record, must_wait = containers.crash_backoff(host, record, _POD, "c")
        if must_wait:
            # Just past the tie that chance decides.
            host.now_ms = finished_ms + record.container("c").backoff_ms + 1
            record, must_wait = containers.crash_backoff(host, record, _POD, "c")
            assert not must_wait
        steps.append(
            {
                "crash": crash,
                "waitSeconds": (host.now_ms - finished_ms) // 1000,
                "backoffAfter": go_duration(record.container("c").backoff_ms),
            }
        )
    return steps


def _judge(record: Record, _folder: Folder) -> Comparison:
    kept = containers.BACKOFF_FIRST_MS, containers.BACKOFF_MAX_MS
    # The curves of other settings of the kubelet: the same rule with other constants.
    containers.BACKOFF_FIRST_MS = record["initialSeconds"] * 1000
    containers.BACKOFF_MAX_MS = record["maxSeconds"] * 1000
    try:
        got = _steps(record["containerRunsSeconds"] * 1000, len(record["steps"]))
    finally:
        containers.BACKOFF_FIRST_MS, containers.BACKOFF_MAX_MS = kept
    return Comparison(record["steps"], got)


TOPIC = Topic(name="l0/backoff_curves", files=("backoff_curves.jsonl",), answers=("steps",), judge=_judge)
