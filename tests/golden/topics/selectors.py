"""l0/selectors: label and field selectors."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_selectors import REPLAYS, SETS

ANSWERS = (
    "string", "empty", "matches", "requirements", "toLabelSelector", "toLabelSelectorError", "error", "format",
)  # fmt: skip


def _sets(folder: Folder) -> Record:
    """The label and field sets that selectors were tried on; they always stand in the main file."""
    records = folder.with_main("l0/selectors.jsonl")
    return {record["kind"]: record["sets"] for record in records if "sets" in record}


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    if "sets" in record:
        return []
    sets = folder.once("sets", lambda: _sets(folder))
    got = REPLAYS[record["kind"]](record, sets[SETS[record["kind"]]])
    wanted = {field: value for field, value in record.items() if field not in ("id", "in", "kind")}
    return [Comparison(wanted, got)]


TOPIC = Topic(name="l0/selectors", files=("selectors.jsonl",), answers=ANSWERS, judge=_judge)
