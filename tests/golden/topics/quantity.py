"""l0/quantity: quantities are read, compared and printed as apimachinery does."""

from env_core.objects.quantity import QuantityError
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_quantity import REPLAYS

INPUTS = ("id", "kind", "in", "a", "b", "n")
ANSWERS = (
    "canonical", "format", "sign", "isZero", "value", "milliValue", "scaledKilo", "scaledMicro", "asInt64",
    "approxFloat64", "neg", "roundUp0", "roundUpMilli", "error", "add", "sub", "mul3", "cmp", "equal", "newBinary",
    "newDecimal", "newExponent", "newMilliBinary", "newMilliDecimal", "out",
)  # fmt: skip


def _judge(record: Record, _folder: Folder) -> Comparison:
    try:
        got = REPLAYS[record["kind"]](record)
    except QuantityError as error:
        got = {"error": str(error)}
    return Comparison({field: value for field, value in record.items() if field not in INPUTS}, got)


TOPIC = Topic(name="l0/quantity", files=("quantity.jsonl",), answers=ANSWERS, judge=_judge)
