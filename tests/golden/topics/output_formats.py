"""l0/output_formats: jsonpath, go-template and custom-columns output."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.kubectl.output.test_expressions import REPLAYS

INPUTS = ("id", "format", "data", "template", "noHeaders", "in")
ANSWERS = ("output", "error", "parseError", "strictOutput", "strictError")


def _judge(record: Record, folder: Folder) -> Comparison:
    replay, _ = REPLAYS[record["format"]]
    data = folder.companion("l0/output_data.json")
    got = replay(record, data.get(record.get("data")))
    return Comparison({field: value for field, value in record.items() if field not in INPUTS}, got)


TOPIC = Topic(name="l0/output_formats", files=("output_formats.jsonl",), answers=ANSWERS, judge=_judge)
