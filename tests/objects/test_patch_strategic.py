"""Strategic merge patches have the recorded text, and applied give the recorded object."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.apiserver.schema import schema_for
from env_core.objects.gojson import copied
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_strategic import (
    PatchError,
    apply_strategic_patch,
    changes_identity,
    create_three_way_patch,
    create_two_way_patch,
    merge_strategic_patch,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
DEPLOYMENT = schema_for("apps", "v1", "Deployment")


def records(name):
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def schema(key):
    return schema_for(*(["", *key.split("/")][-3:]))


def text_or_error(create, *args, **options):
    before = copied(list(args[:-1]))
    try:
        got = to_compact_json(create(*args, **options))
    except PatchError as why:
        got = why.message
    assert list(args[:-1]) == before, "an input changed"
    return got


def test_recorded_two_way_patches_have_the_same_text():
    differences, matched = [], 0
    for record in records("l0/patch_twoway"):
        got = text_or_error(
            create_two_way_patch, record["original"], record["modified"], schema(record["key"])
        )
        want = record.get("patch", record.get("error"))
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], got, want))
    assert matched >= 111, differences[:3]


def test_recorded_three_way_patches_have_the_same_text():
    differences, matched = [], 0
    for record in records("l0/patch_threeway"):
        documents = record["original"], record["modified"], record["current"]
        got = text_or_error(create_three_way_patch, *documents, schema(record["key"]))
        want = record.get("patch", record.get("error"))
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], got, want))
    assert matched >= 153, differences[:3]


def test_recorded_conflicts_of_apply_without_overwrite_have_the_same_text():
    differences, matched = [], 0
    for record in records("l0/patch_threeway"):
        if record["original"] is None:
            continue  # recorded with overwrite only
        documents = record["original"], record["modified"], record["current"]
        want = record.get("noOverwriteError")
        try:
            create_three_way_patch(*documents, schema(record["key"]), overwrite=False)
            got = None
        except PatchError as why:
            got = why.message
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], got, want))
    assert matched >= 144, differences[:3]


@pytest.mark.parametrize(
    ("topic", "base", "floor"), [("twoway", "original", 111), ("threeway", "current", 144)]
)
def test_recorded_patches_applied_give_the_recorded_object(topic, base, floor):
    differences, matched = [], 0
    for record in records(f"l0/patch_{topic}"):
        if "result" not in record:
            continue
        before = copied(record[base])
        got = apply_strategic_patch(record[base], json.loads(record["patch"]), schema(record["key"]))
        assert record[base] == before, "the input changed"
        if got == record["result"]:
            matched += 1
        else:
            differences.append((record["id"], got, record["result"]))
    assert matched >= floor, differences[:3]


def test_what_is_left_of_a_patch_lacks_the_lists_that_came_with_an_order():
    original = {"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}}
    pod = {
        "$setElementOrder/containers": [{"name": "a"}],
        "containers": [{"name": "a", "imge": "x"}],
        "hostname": "h",
    }
    patch = {"spec": {"template": {"spec": pod}}}
    before = copied(patch)
    merged = merge_strategic_patch(original, patch, DEPLOYMENT)
    assert merged.patch_left == {"spec": {"template": {"spec": {"hostname": "h"}}}}
    assert patch == before


@pytest.mark.parametrize(
    ("patch", "message", "code"),
    [
        ({"spec": {"$patch": "foo"}}, "unknown patch type: foo in map: map[$patch:foo]", 500),
        (
            {"spec": {"strategy": {"$retainKeys": "x", "type": "Recreate"}}},
            "invalid patch format of retainKeys",
            400,
        ),
        (
            {"metadata": {"$deleteFromPrimitiveList": ["a"]}},
            "invalid patch format of primitive list",
            400,
        ),
    ],
)
def test_malformed_directives_are_refused(patch, message, code):
    original = {"metadata": {"name": "a"}, "spec": {"strategy": {"type": "RollingUpdate"}}}
    with pytest.raises(PatchError) as why:
        apply_strategic_patch(original, patch, DEPLOYMENT)
    assert (why.value.message, why.value.code) == (message, code)


names = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=4)


@st.composite
def deployments(draw):
    containers = [
        {
            "name": name,
            "image": draw(st.sampled_from(["x:1", "x:2"])),
            **({"env": [{"name": key, "value": draw(st.sampled_from("12"))} for key in draw(names)]}),
        }
        for name in draw(names)
    ]
    spec = {"containers": containers}
    if draw(st.booleans()):
        spec["nodeSelector"] = dict.fromkeys(draw(names), "1")
    finalizers = draw(names)
    return {
        "metadata": {"name": "web", "finalizers": finalizers},
        "spec": {"replicas": draw(st.integers(0, 3)), "template": {"spec": spec}},
    }


def unordered(deployment):
    """Keep of a Deployment what a patch promises: merged lists as sets."""
    spec = deployment["spec"]["template"]["spec"]
    containers = {item["name"]: {**item, "env": _by_name(item.get("env", []))} for item in spec["containers"]}
    return {
        **deployment,
        "metadata": {
            **deployment["metadata"],
            "finalizers": sorted(deployment["metadata"].get("finalizers") or []),
        },
        "spec": {**deployment["spec"], "template": {"spec": {**spec, "containers": containers}}},
    }


def _by_name(items):
    return {item["name"]: item for item in items}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(deployments(), deployments())
def test_a_two_way_patch_turns_one_object_into_the_other(original, modified):
    patch = create_two_way_patch(original, modified, DEPLOYMENT)
    assert unordered(apply_strategic_patch(original, patch, DEPLOYMENT)) == unordered(modified)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(deployments())
def test_there_is_no_patch_between_equal_objects(deployment):
    assert create_two_way_patch(deployment, copied(deployment), DEPLOYMENT) in (
        {},
        # Upstream sorts the old finalizers before comparing, and so sees a new order.
        {"metadata": {"$setElementOrder/finalizers": deployment["metadata"]["finalizers"]}},
    )


def test_identity_changes_are_noticed():
    assert changes_identity({"metadata": {"name": "x"}})
    assert changes_identity({"kind": "x"})
    assert not changes_identity({"metadata": {"labels": {"name": "x"}}})
