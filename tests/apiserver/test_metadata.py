"""Metadata of any object is checked as the API server does."""

from __future__ import annotations

from env_core.apiserver.metadata import (
    name_is_path_segment,
    validate_object_meta,
    validate_object_meta_update,
)
from tests.kinds import replayer


def texts(problems) -> list[str]:  # type: ignore[no-untyped-def]
    return [problem.text() for problem in problems]


def test_a_namespaced_object_needs_name_and_namespace() -> None:
    assert texts(validate_object_meta({}, True)) == [
        "metadata.name: Required value: name or generateName is required",
        "metadata.namespace: Required value",
    ]


def test_a_cluster_object_may_not_have_a_namespace() -> None:
    assert texts(validate_object_meta({"name": "n", "namespace": "x"}, False)) == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_a_name_to_generate_from_may_end_in_a_dash() -> None:
    meta = {"generateName": "web-", "name": "web-x2b4c", "namespace": "default"}
    assert validate_object_meta(meta, True) == []


def test_path_segment_names_only_have_to_fit_a_path() -> None:
    assert validate_object_meta({"name": "system:Node"}, False, name_is_path_segment) == []
    assert texts(validate_object_meta({"name": "a/b"}, False, name_is_path_segment)) == [
        "metadata.name: Invalid value: \"a/b\": may not contain '/'"
    ]


def test_identity_stays_and_a_version_is_needed() -> None:
    old = {"name": "a", "namespace": "d", "uid": "u1", "resourceVersion": "1"}
    assert validate_object_meta_update({**old, "labels": {"a": "b"}}, old) == []
    new = {**old, "uid": "u2", "resourceVersion": ""}
    assert texts(validate_object_meta_update(new, old)) == [
        'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        'metadata.uid: Invalid value: "u2": field is immutable',
    ]


def test_a_terminating_object_gets_no_new_finalizers() -> None:
    old = {"name": "a", "resourceVersion": "1", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    new = {**old, "finalizers": ["example.com/new"]}
    assert texts(validate_object_meta_update(new, old)) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"example.com/new"}'
    ]


def test_recorded_metadata_causes_of_new_pods_are_found() -> None:
    pairs = []
    for record in replayer.records("l0/validation"):
        if (
            record["op"] != "create"
            or record["key"] != "v1/Pod"
            or not record["mutation"].startswith("metadata.")
        ):
            continue
        causes = ((record.get("status") or {}).get("details") or {}).get("causes") or []
        if any(cause["field"].startswith("metadata.annotations[") for cause in causes):
            continue  # Annotations that mean something to pods are the pod's own rules.
        if any(cause["field"].startswith("metadata.annotations.") for cause in causes):
            continue
        got = [problem.cause() for problem in validate_object_meta(record["object"]["metadata"], True)]
        pairs.append((record["id"], got, causes))
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched == len(pairs), replayer.differences(pairs)
    assert matched >= 15
