"""l0/eviction_config: hard eviction thresholds of the kubelet as its configuration writes them."""

from env_core.node import thresholds
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {key: record[key] for key in ("thresholds", "error") if key in record}
    try:
        got = {"thresholds": [each.shown() for each in thresholds.configured(record["hard"])]}
    except thresholds.ThresholdError as error:
        return Comparison(wanted, {"error": str(error)})
    return Comparison(wanted, got)


TOPIC = Topic(
    name="l0/eviction_config", files=("eviction_config.jsonl",), answers=("thresholds", "error"), judge=_judge
)
