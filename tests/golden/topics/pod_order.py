"""l0/pod_order: which pods go first, and which are chosen first."""

from env_core.controllers._victims import victims_first
from env_core.kubectl.pods import by_activity, by_logging, is_less_active
from env_core.objects.gosort import go_sorted
from env_core.sim.timefmt import parse_ms
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("victimOrder", "activePodsOrder", "byLogging", "kubectlActivePodsReversed")


def _names(pods: list[Record]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def _judge(record: Record, _folder: Folder) -> Comparison:
    pods = record["pods"]
    got = {
        "victimOrder": _names(victims_first(pods, record["ranks"], parse_ms(record["now"]))),
        "activePodsOrder": _names(go_sorted(pods, is_less_active)),
        "byLogging": _names(by_logging(pods)),
        "kubectlActivePodsReversed": _names(by_activity(pods)),
    }
    return Comparison({field: record.get(field) for field in ANSWERS}, got)


TOPIC = Topic(name="l0/pod_order", files=("pod_order.jsonl",), answers=ANSWERS, judge=_judge)
