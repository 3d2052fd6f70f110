"""JSON patches do what the recorded API server did with them."""

import gzip
import json
from pathlib import Path

import pytest

from env_core.objects.gojson import copied
from env_core.objects.patch_json import PatchError, apply_json_patch, read_json_patch
from env_core.objects.patch_merge import apply_merge_patch, read_merge_patch

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def records(name):
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def outcome(record):
    try:
        if record["kind"] == "jsonpatch":
            operations, warnings = read_json_patch(record["patch"])
            return {"result": apply_json_patch(record["original"], operations), "strict": list(warnings)}
        patch, warnings = read_merge_patch(record["patch"])
        return {"result": apply_merge_patch(record["original"], patch), "strict": list(warnings)}
    except PatchError as why:
        return {"error": (why.message, why.code, why.reason)}


def recorded(record):
    if "error" in record:
        status = record["error"]["status"]
        return {"error": (record["error"]["message"], status["code"], status["reason"])}
    return {"result": record["result"], "strict": record["strict"]}


def test_recorded_json_and_merge_patches_apply_or_fail_alike():
    differences, matched = [], 0
    for record in records("l0/patch_json"):
        before = copied(record["original"])
        got, want = outcome(record), recorded(record)
        assert record["original"] == before, f"{record['id']}: the input changed"
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], record["patch"], got, want))
    assert matched >= 70, differences[:3]


def test_touched_objects_get_sorted_keys_and_others_keep_their_order():
    document = {
        "kind": "K",
        "metadata": {"name": "a", "labels": {"z": "1", "b": "2"}},
        "data": {"y": "1", "x": "2"},
    }
    patched = apply_json_patch(document, [{"op": "add", "path": "/metadata/labels/c", "value": "3"}])
    assert list(patched) == ["data", "kind", "metadata"]
    assert list(patched["metadata"]["labels"]) == ["b", "c", "z"]
    assert patched["data"] is document["data"]


def test_a_copied_value_is_independent_of_its_source():
    operations = [
        {"op": "copy", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/b/x", "value": 1},
    ]
    assert apply_json_patch({"a": {}}, operations) == {"a": {}, "b": {"x": 1}}


def test_one_patch_does_not_change_another_use_of_its_values():
    operations = [{"op": "add", "path": "/a", "value": {}}, {"op": "add", "path": "/a/x", "value": 1}]
    assert apply_json_patch({}, operations) == apply_json_patch({}, operations) == {"a": {"x": 1}}


def test_true_is_not_one():
    with pytest.raises(PatchError):
        apply_json_patch({"a": 1}, [{"op": "test", "path": "/a", "value": True}])


def test_too_many_operations_are_refused():
    with pytest.raises(PatchError) as why:
        apply_json_patch({}, [{"op": "add", "path": "/a", "value": 1}] * 10_001)
    assert why.value.code == 413
