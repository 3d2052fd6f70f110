import gzip
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects._yamltypes import YamlTextError
from env_core.objects.yamlout import to_yaml

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "yaml_print.jsonl.gz"


def records():
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def printed(record):
    try:
        return to_yaml(record["object"])
    except YamlTextError as error:
        return str(error)


def test_kubectl_recordings_are_matched_byte_for_byte():
    differences = []
    matched = 0
    for record in records():
        wanted = record.get("yaml", record.get("yamlError"))
        if printed(record) == wanted:
            matched += 1
        else:
            differences.append((record["id"], wanted, printed(record)))
    assert matched >= 302, differences[:3]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (None, "null\n"),
        (["a", {"b": 1}], "- a\n- b: 1\n"),
        ({"a": 1e21}, "a: 1e+21\n"),
        ({"a": 2**63}, "a: 9223372036854776000\n"),
        ({"a": -0.0}, "a: 0\n"),
        ({"a10": 1, "a9": 2, "a-": 3}, "a-: 3\na9: 2\na10: 1\n"),
        ({"a": "x\x85y"}, "a: x y\n"),
        ({"k" * 130: {"a": 1}}, f"? {'k' * 130}\n: a: 1\n"),
        ({"k" * 130: ["a"]}, f"? {'k' * 130}\n: - a\n"),
    ],
)
def test_corners_print_as_go_yaml_prints_them(value, expected):
    assert to_yaml(value) == expected


_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x7f\x85\ufffe\uffff\u2028\u2029")
    .filter(lambda char: not "\x7f" <= char <= "\x9f")
    .filter(lambda char: char != "\r"),
    max_size=120,
).filter(lambda text: text not in ("=", "<<"))  # go-yaml leaves YAML 1.1's merge and value words plain
_leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _texts
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(_values)
def test_output_reads_back_as_the_same_object(value):
    assert yaml.load(to_yaml(value), Loader=yaml.CSafeLoader) == value


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="word  :#-'\"y1.\n", min_size=60, max_size=300))
def test_long_strings_survive_folding(text):
    value = {"spec": [{"message": text}]}
    assert yaml.load(to_yaml(value), Loader=yaml.CSafeLoader) == value
