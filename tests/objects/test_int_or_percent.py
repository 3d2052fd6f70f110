import gzip
import json
from pathlib import Path

import pytest

from env_core.objects.int_or_percent import IntOrPercentError, parse_int_or_string, scaled_value

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "int_or_percent.jsonl.gz"


def test_recorded_values_match():
    records = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    differences = []
    for record in records:
        value = parse_int_or_string(record["in"])
        try:
            got = scaled_value(value, record["total"], record["roundUp"])
        except IntOrPercentError as error:
            got = str(error)
        if got != record.get("out", record.get("error")):
            differences.append((record["id"], got))
    assert len(records) - len(differences) >= 346, differences[:5]


def test_a_number_in_a_string_is_no_percentage():
    with pytest.raises(IntOrPercentError, match="string is not a percentage"):
        scaled_value("10", 4, round_up=True)


def test_an_absurd_percentage_is_out_of_range():
    with pytest.raises(IntOrPercentError, match="value out of range"):
        scaled_value("99999999999999999999%", 4, round_up=True)
