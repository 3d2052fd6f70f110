"""l0/deployment_math: the arithmetic of rolling updates."""

from tests.controllers.test_golden_deployment_math import _KINDS as REPLAYS
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = (
    "surge", "unavailable", "MaxSurge", "MaxUnavailable", "MinAvailable", "result", "complete", "progressing",
)  # fmt: skip


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    return Comparison(wanted, REPLAYS[record["kind"]](record))


TOPIC = Topic(name="l0/deployment_math", files=("deployment_math.jsonl",), answers=ANSWERS, judge=_judge)
