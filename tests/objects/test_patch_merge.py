"""Merge patches: what is computed, applied, gives what was wanted."""

import gzip
import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects.gojson import copied
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_merge import (
    PatchError,
    apply_merge_patch,
    create_merge_patch,
    create_three_way_json_merge_patch,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

scalars = st.booleans() | st.integers(-5, 5) | st.text("abc", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=3)
    ),
)
objects = st.dictionaries(st.text("xyz", max_size=2), values, max_size=4)


def records(name):
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_recorded_two_way_merge_patches_have_the_same_text():
    differences, matched = [], 0
    for record in records("l0/patch_twoway"):
        got = to_compact_json(create_merge_patch(record["original"], record["modified"]))
        if got == record["jsonMergePatch"]:
            matched += 1
        else:
            differences.append((record["id"], got, record["jsonMergePatch"]))
    assert matched >= 111, differences[:3]


def test_recorded_three_way_merge_patches_have_the_same_text():
    differences, matched = [], 0
    for record in records("l0/patch_threeway"):
        if "jsonMergePatch" not in record and "jsonMergeError" not in record:
            continue
        before = copied(record)
        try:
            patch = create_three_way_json_merge_patch(
                record["original"], record["modified"], record["current"]
            )
            got = to_compact_json(patch)
        except PatchError as why:
            got = why.message
        assert record == before
        want = record.get("jsonMergePatch", record.get("jsonMergeError"))
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], got, want))
    assert matched >= 144, differences[:3]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(objects, objects)
def test_a_created_patch_turns_one_object_into_the_other(original, modified):
    before = copied(original), copied(modified)
    assert apply_merge_patch(original, create_merge_patch(original, modified)) == modified
    assert (original, modified) == before


@settings(max_examples=200, deadline=None, derandomize=True)
@given(objects, objects)
def test_a_three_way_patch_without_drift_does_the_same(original, modified):
    patch = create_three_way_json_merge_patch(original, modified, original)
    assert apply_merge_patch(original, patch) == modified


def test_nulls_in_arrays_stay_and_nulls_in_new_objects_go():
    patched = apply_merge_patch({}, {"a": [None, {"b": None, "c": 1}], "d": {"e": None}})
    assert patched == {"a": [None, {"c": 1}], "d": {}}
