"""l0/int_or_percent: counts that may be percentages."""

from env_core.objects.int_or_percent import IntOrPercentError, parse_int_or_string, scaled_value
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("out", "error")


def _judge(record: Record, _folder: Folder) -> Comparison:
    try:
        got = {"out": scaled_value(parse_int_or_string(record["in"]), record["total"], record["roundUp"])}
    except IntOrPercentError as error:
        got = {"error": str(error)}
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/int_or_percent", files=("int_or_percent.jsonl",), answers=ANSWERS, judge=_judge)
