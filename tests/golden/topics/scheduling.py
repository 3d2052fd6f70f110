"""l0/scheduling: where the scheduler puts a pod, or what it says instead."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.scheduler.test_golden import outcome_of

ANSWERS = ("event", "conditions", "nominatedNodeName", "victimEvents")


def _judge(record: Record, _folder: Folder) -> Comparison:
    got = outcome_of(record)
    wanted = {
        "event": record.get("event"),
        "conditions": record["conditions"],
        "nominatedNodeName": record["nominatedNodeName"],
        "victimEvents": record.get("victimEvents") or [],
    }
    if record.get("tie"):  # README: "`tie: true` = the node differs between runs (event left out)"
        del wanted["event"], got["event"]
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/scheduling", files=("scheduling.jsonl",), answers=ANSWERS, judge=_judge)
