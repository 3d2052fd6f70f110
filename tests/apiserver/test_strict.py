"""Bodies are decoded, warned about and refused as the recorded API server did."""

import gzip
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.apiserver._scalars import base64_problem, canonical_time, time_problem
from env_core.apiserver.schema import resources, schema_for
from env_core.apiserver.strict import (
    Decoded,
    DecodeError,
    decode,
    decode_json_patched,
    decode_strategic_patched,
    normalize,
)
from env_core.objects.gojson import copied
from env_core.objects.patch_merge import read_merge_patch
from env_core.objects.patch_strategic import PatchError, merge_strategic_patch

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
L0_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
KINDS = {(row["group"], row["version"], row["plural"]): row["kind"] for row in resources()}


def records(name):
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def parts(key):
    return ["", *key.split("/")][-3:]


def test_recorded_bodies_decode_alike_in_every_mode():
    differences, matched = [], 0
    for record in records("l0/strict_decoding"):
        for mode in ("Strict", "Warn", "Ignore"):
            want = record[mode.lower()]
            try:
                decoded = decode(record["body"], *parts(record["key"]), mode, scheme=L0_SCHEME)
                got = {"ok": True, **({"warnings": list(decoded.warnings)} if decoded.warnings else {})}
            except DecodeError as why:
                got = {"ok": False, "message": why.message, "status": why.status}
            if got == want:
                matched += 1
            else:
                differences.append((record["id"], mode, got, want))
    assert matched >= 222, differences[:3]


def test_recorded_manifests_have_the_recorded_normal_form_from_text_and_from_objects():
    differences, matched = [], 0
    for record in records("l0/defaulting"):
        group, version, kind = parts(f"{record['apiVersion']}/{record['kind']}")
        before = copied(record["input"])
        from_object = decode(record["input"], group, version, kind, "Ignore").object
        assert record["input"] == before, "the input changed"
        from_text = decode(json.dumps(record["input"]), group, version, kind, "Ignore").object
        if from_object == from_text == record["decoded"]:
            matched += 1
        else:
            differences.append((record["id"], from_object, record["decoded"]))
    assert matched >= 166, differences[:3]


def _target(record):
    """Return (group, version, kind) of a recorded create or update, None when it is not for us."""
    if record["method"] not in ("POST", "PUT") or record.get("body") is None:
        return None
    if record.get("contentType") not in (None, "application/json"):
        return None
    path = urlsplit(record["path"]).path.strip("/").split("/")
    if path[0] not in ("api", "apis"):
        return None
    group, version, rest = ("", path[1], path[2:]) if path[0] == "api" else (path[1], path[2], path[3:])
    if len(rest) > 2 and rest[0] == "namespaces":
        rest = rest[2:]
    kind = KINDS.get((group, version, rest[0])) if rest and len(rest) < 3 else None
    return (group, version, kind) if kind and schema_for(group, version, kind) else None


def _outcome(record, target, mode):
    body = record.get("body", record.get("request"))
    text = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
    try:
        return decode(text, *target, mode)
    except DecodeError as why:
        return why


def test_recorded_live_errors_about_decoding_are_the_same():
    differences, matched = [], 0
    for record in [*records("l2/facts/errors"), *records("l2/facts/errors_extra")]:
        target = _target(record)
        if target is None:
            continue
        mode = parse_qs(urlsplit(record["path"]).query).get("fieldValidation", ["Warn"])[0]
        outcome = _outcome(record, target, mode if mode in ("Strict", "Warn", "Ignore") else "Warn")
        response = record.get("response")
        message = response.get("message", "") if isinstance(response, dict) else ""
        words = ("cannot be handled", "unrecognized (must be", "API version in the data")
        want = message if any(word in message for word in words) else None
        got = None if isinstance(outcome, Decoded) else outcome.message
        if got == want:
            matched += 1
        else:
            differences.append((record["id"], got, want))
    assert matched >= 116, differences[:3]


def test_stored_objects_are_in_normal_form_already_and_unknown_fields_were_warned_of():
    differences, matched = [], 0
    for record in records("l2/defaults"):
        target = _target({**record, "body": record["request"]})
        if target is None:
            continue
        if record["status"] >= 300:
            continue
        outcome = _outcome(record, target, "Warn")
        expected = [text for text in record["warnings"] if ' field \\"' in text]
        warned = [f"299 - {json.dumps(text)}" for text in outcome.warnings]
        stored = record["response"]
        is_normal = normalize(stored, schema_for(*target)) == stored
        expected = [text for text in expected if "unknown" in text or "duplicate" in text]
        if is_normal and warned == expected:
            matched += 1
        else:
            differences.append((record["id"], warned, expected, is_normal))
    assert matched >= 119, differences[:3]


def test_recorded_strategic_patches_end_alike():
    differences, matched = [], 0
    for record in records("l0/patch_strategic"):
        for mode in ("Strict", "Warn"):
            want = record[mode.lower()]
            error = want.get("error")
            try:
                patch, warnings = read_merge_patch(record["patch"], "")
                merged = merge_strategic_patch(record["original"], patch, schema_for(*parts(record["key"])))
                decoded = decode_strategic_patched(
                    *merged, *parts(record["key"]), mode, patch_warnings=warnings
                )
                is_same = not error and merged.object == want["result"]
                is_same = is_same and list(decoded.warnings) == want["warnings"]
            except DecodeError as why:
                is_same = bool(error) and error == {"message": why.message, "status": why.status}
            except PatchError as why:
                is_same = bool(error) and error["message"] == why.message
                if is_same and error["status"]:
                    is_same = (error["status"]["code"], error["status"]["reason"]) == (why.code, why.reason)
            if is_same:
                matched += 1
            else:
                differences.append((record["id"], mode, want.get("error")))
    assert matched >= 118, differences[:3]


def test_complaints_come_in_document_order():
    body = '{"spec":{"replica":1,"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"x":1}]}}}}'
    assert decode(body, "apps", "v1", "Deployment", "Warn").warnings == (
        'unknown field "spec.replica"',
        'duplicate field "spec.replicas"',
        'unknown field "spec.template.spec.containers[0].x"',
    )


def test_repeated_objects_are_merged_as_go_does():
    body = '{"metadata":{"name":"a","labels":{"x":"1"}},"metadata":{"labels":{"y":"2"}},"data":{}}'
    decoded = decode(body, "", "v1", "ConfigMap", "Ignore").object
    assert decoded["metadata"] == {"name": "a", "labels": {"x": "1", "y": "2"}}


def test_fields_come_in_the_order_of_the_go_structs():
    body = {
        "data": {"a": "1"},
        "metadata": {"labels": {"a": "1"}, "name": "x"},
        "apiVersion": "v1",
        "kind": "ConfigMap",
    }
    decoded = decode(body, "", "v1", "ConfigMap").object
    assert list(decoded) == ["kind", "apiVersion", "metadata", "data"]
    assert list(decoded["metadata"]) == ["name", "labels"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '{"spec":{"containers":[{"resources":{"limits":["x"]}}]}}',
            "json: cannot unmarshal array into Go struct field ResourceRequirements.spec.containers.resources.limits"
            " of type v1.ResourceList",
        ),
        (
            '{"metadata":{"creationTimestamp":"yesterday"}}',
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
        (
            '{"spec":{"restartPolicy":5}}',
            "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            '{"spec":{"volumes":[{"name":"v","hostPath":[]}]}}',
            "json: cannot unmarshal array into Go struct field Volume.spec.volumes.hostPath of type"
            " v1.HostPathVolumeSource",
        ),
    ],
)
def test_type_errors_name_the_go_type(body, message):
    with pytest.raises(DecodeError) as why:
        decode(body, "", "v1", "Pod")
    assert why.value.message == f'Pod in version "v1" cannot be handled as a Pod: {message}'


def test_the_kind_is_found_in_any_case_but_the_field_is_unknown():
    decoded = decode('{"Kind":"ConfigMap","apiVersion":"v1"}', "", "v1", "ConfigMap", "Warn")
    assert decoded.warnings == ('unknown field "Kind"',)
    assert decoded.object["kind"] == "ConfigMap"


def test_a_json_patched_object_that_does_not_fit_is_shown_whole():
    patched = {
        "apiVersion": "v1",
        "data": {"a": 5},
        "kind": "ConfigMap",
        "metadata": {"name": "cm", "uid": "u"},
    }
    with pytest.raises(DecodeError) as why:
        decode_json_patched(patched, "", "v1", "ConfigMap")
    shown = json.dumps(json.dumps(patched, separators=(",", ":")))
    reason = "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    assert why.value.message == f' "" is invalid: patch: Invalid value: {shown}: {reason}'
    assert (why.value.code, why.value.reason) == (422, "Invalid")


def test_a_json_patched_object_of_another_kind_is_refused():
    with pytest.raises(DecodeError, match=r"converting \(v1.Pod\) to \(core.ConfigMap\): unknown conversion"):
        decode_json_patched({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, "", "v1", "ConfigMap")


@pytest.mark.parametrize(
    ("text", "digits", "want"),
    [
        ("2026-01-15T12:00:00Z", 0, "2026-01-15T12:00:00Z"),
        ("2026-01-15T12:00:00.123456789Z", 0, "2026-01-15T12:00:00Z"),
        ("2026-01-01T00:30:00+02:00", 0, "2025-12-31T22:30:00Z"),
        ("2024-02-28T23:30:00-01:00", 0, "2024-02-29T00:30:00Z"),
        ("2026-01-15T12:00:00.1Z", 6, "2026-01-15T12:00:00.100000Z"),
        ("2026-02-30T12:00:00Z", 0, None),
        ("soon", 0, None),
    ],
)
def test_times_are_kept_in_utc(text, digits, want):
    assert canonical_time(text, digits) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'),
        ("2026-02-30T00:00:00Z", 'parsing time "2026-02-30T00:00:00Z": day out of range'),
        ("2026-01-01T00:00:00Zx", 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'),
        (
            "2026-01-01",
            'parsing time "2026-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
        ),
    ],
)
def test_bad_times_are_explained_as_go_does(text, want):
    assert time_problem(text) == want


def test_durations_are_kept_as_go_prints_them_and_bad_ones_explained():
    body = {"window": "90s", "timestamp": "2026-01-01T00:00:00Z", "usage": {"cpu": "1000m"}}
    decoded = decode(body, "metrics.k8s.io", "v1beta1", "NodeMetrics").object
    assert (decoded["window"], decoded["usage"]) == ("1m30s", {"cpu": "1"})
    with pytest.raises(DecodeError, match='as a NodeMetrics: time: unknown unit "d" in duration "1d"'):
        decode(body | {"window": "1d"}, "metrics.k8s.io", "v1beta1", "NodeMetrics")


@pytest.mark.parametrize(
    ("text", "offset"),
    [("YWI=", None), ("YW\nI=", None), ("abc", 0), ("ab!d", 2), ("=abc", 0), ("YQ=x", 2), ("YWI=x", 4)],
)
def test_bad_base64_is_placed_as_go_places_it(text, offset):
    assert base64_problem(text) == ("" if offset is None else f"illegal base64 data at input byte {offset}")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "spec", "metadata", "containers", "image", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "x"]), json_values, max_size=3))
def test_whatever_is_sent_is_either_refused_or_comes_out_in_normal_form(body):
    schema = schema_for("", "v1", "Pod")
    for form in (body, json.dumps(body)):
        try:
            decoded = decode(form, "", "v1", "Pod", "Ignore").object
        except DecodeError:
            continue
        assert normalize(decoded, schema) == decoded
