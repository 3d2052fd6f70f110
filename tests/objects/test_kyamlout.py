import gzip
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects._yamltypes import YamlTextError
from env_core.objects.kyamlout import to_kyaml

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "yaml_print.jsonl.gz"


def printed(value):
    try:
        return to_kyaml(value)
    except YamlTextError as error:
        return str(error)


def test_kubectl_recordings_are_matched_byte_for_byte():
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    wrong = [
        record["id"]
        for record in recorded
        if printed(record["object"]) != record.get("kyaml", record.get("kyamlError"))
    ]
    assert len(recorded) - len(wrong) >= 302, wrong[:5]


@pytest.mark.parametrize("key", ["t", "NaN", "0x1F", "1_0", "2001-01-01", "-a", "a-", "12:30", "a\nb", ""])
def test_ambiguous_keys_are_quoted(key):
    assert to_kyaml({key: 1}).startswith('---\n{\n  "')


@pytest.mark.parametrize("key", ["a", "_a", "a.b/c-d", "1e", "abc1", "日"])
def test_safe_keys_are_bare(key):
    assert to_kyaml({key: 1}) == f"---\n{{\n  {key}: 1,\n}}\n"


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.text("ab \n\t\\\"'#:-", max_size=8), st.text("ab \n\t\\\"'#:-{}", max_size=40), max_size=4
    )
)
def test_output_reads_back_as_the_same_object(value):
    assert yaml.load(to_kyaml(value), Loader=yaml.CSafeLoader) == value
