import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects import quantity
from env_core.objects.quantity import Format, QuantityError

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "quantity.jsonl.gz"


def _rounded(amount, exponent):
    result = amount.rounded_up(exponent)
    return {"exact": result.equals(amount), "value": str(result)}


def _parsed(record):
    amount = quantity.parse(record["in"])
    whole = amount.as_int64()
    return {
        "canonical": str(amount),
        "format": amount.format.value,
        "sign": amount.sign(),
        "isZero": amount.is_zero(),
        "value": str(amount.value()),
        "milliValue": str(amount.milli_value()),
        "scaledKilo": str(amount.scaled(quantity.KILO)),
        "scaledMicro": str(amount.scaled(quantity.MICRO)),
        "asInt64": {"ok": whole is not None, "value": str(whole or 0)},
        "approxFloat64": f"{amount.as_float():.10g}".replace("inf", "+Inf"),
        "neg": str(-amount),
        "roundUp0": _rounded(amount, 0),
        "roundUpMilli": _rounded(amount, quantity.MILLI),
    }


def _arithmetic(record):
    left, right = quantity.parse(record["a"]), quantity.parse(record["b"])
    return {
        "add": str(left + right),
        "sub": str(left - right),
        "mul3": str(left * 3),
        "cmp": left.compare(right),
        "equal": left.equals(right),
    }


def _new(record):
    number = record["n"]
    made = {
        "newBinary": str(quantity.from_units(number, Format.BINARY_SI)),
        "newDecimal": str(quantity.from_units(number)),
        "newExponent": str(quantity.from_units(number, Format.DECIMAL_EXPONENT)),
        "newMilliBinary": str(quantity.from_milli(number, Format.BINARY_SI)),
        "newMilliDecimal": str(quantity.from_milli(number)),
    }
    return {field: text for field, text in made.items() if field in record}


def _json(record):
    return {"out": json.dumps(str(quantity.parse_json(record["in"])))}


REPLAYS = {"parse": _parsed, "arith": _arithmetic, "new": _new, "json": _json}


def test_recorded_quantities_match():
    records = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    differences = []
    for record in records:
        try:
            got = REPLAYS[record["kind"]](record)
        except QuantityError as error:
            got = {"error": str(error)}
        want = {
            field: value
            for field, value in record.items()
            if field not in ("id", "in", "kind", "a", "b", "n")
        }
        if got != want:
            differences.append((record["id"], got, want))
    assert len(records) - len(differences) >= 331, differences[:3]


@pytest.mark.parametrize(
    ("text", "milli"),
    [("250m", 250), ("1", 1000), ("0.1", 100), ("1u", 1), (2, 2000), (0.5, 500), ("-1500m", -1500)],
)
def test_milli_rounds_up(text, milli):
    assert quantity.to_milli(text) == milli


@pytest.mark.parametrize(
    ("text", "count"),
    [("64Mi", 67108864), ("1.5Gi", 1610612736), ("100m", 1), ("128974848", 128974848), ("1e3", 1000)],
)
def test_bytes_round_up(text, count):
    assert quantity.to_bytes(text) == count


@pytest.mark.parametrize(("text", "stored"), [("0.5", "500m"), ("1024Mi", "1Gi"), (2, "2"), (1.5, "1500m")])
def test_canonical_is_what_the_server_stores(text, stored):
    assert quantity.canonical(text) == stored


def test_huge_exponents_are_refused_quickly():
    with pytest.raises(QuantityError):
        quantity.parse("1e999999999")


SUFFIXES = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3", "E6"])
TEXTS = st.builds(
    lambda number, places, suffix: f"{number / 10**places:.{places}f}{suffix}",
    st.integers(-(10**9), 10**9),
    st.integers(0, 3),
    SUFFIXES,
)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_canonical_text_reads_back_as_the_same_amount(text):
    amount = quantity.parse(text)
    again = quantity.parse(str(amount))
    assert again.equals(amount)
    assert str(quantity.parse(str(again))) == str(again)


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_what_is_added_can_be_taken_away(left, right):
    first, second = quantity.parse(left), quantity.parse(right)
    assert ((first + second) - second).equals(first)
    assert (first < second) is (not first >= second)
