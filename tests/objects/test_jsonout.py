import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.jsonout import shortest_float, to_compact_json, to_json

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "yaml_print.jsonl.gz"


def test_kubectl_recordings_are_matched_byte_for_byte():
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    wrong = [record["id"] for record in recorded if to_json(record["object"]) != record["json"]]
    assert len(recorded) - len(wrong) >= 302, wrong[:5]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": "<&>"}, '{"a":"\\u003c\\u0026\\u003e","b":1}'),
        ([], "[]"),
        ({"a": {}, "b": [None, True, False]}, '{"a":{},"b":[null,true,false]}'),
        ("\u2028\x07\b\n", '"\\u2028\\u0007\\b\\n"'),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789.5, "123456789.5"),
        (2**64, "18446744073709552000"),
        (-0.0, "-0"),
    ],
)
def test_compact_form_is_go_json_marshal(value, expected):
    assert to_compact_json(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1e6, "1e+06"), (999999.0, "999999"), (0.0001, "0.0001"), (0.00001, "1e-05"), (0.0, "0")],
)
def test_shortest_float_follows_format_float_g(value, expected):
    assert shortest_float(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_exactly(value):
    assert float(json.loads(to_compact_json(value))) == value
    assert float(shortest_float(value)) == value
