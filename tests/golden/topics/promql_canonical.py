"""promql/canonical: queries printed by Prometheus's parser."""

from env_core.observability.promql import ParseError, parse, pretty
from env_core.observability.promql._printing import text_of
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("string", "pretty", "type", "error")


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    try:
        expr = parse(record["query"])
    except ParseError as error:
        return Comparison(wanted, {"error": str(error)})
    return Comparison(wanted, {"string": text_of(expr), "pretty": pretty(expr), "type": expr.type})


TOPIC = Topic(name="promql/canonical", files=("canonical.jsonl",), answers=ANSWERS, judge=_judge)
