"""Pods and workloads default, prepare and validate as the recorded API server does."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import pytest

from env_core.apiserver.metadata import validate_object_meta, validate_object_meta_update
from tests.kinds import replayer

KINDS = (
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "ReplicationController",
    "HorizontalPodAutoscaler",
)
STRATEGIES = {kind: importlib.import_module(f"env_core.kinds._{kind.lower()}_strategy") for kind in KINDS}
UID = "00000000-0000-4000-8000-000000000001"
CREATED = "2026-01-15T10:00:00Z"


def defaulting_records() -> list[dict[str, Any]]:
    return [
        record
        for record in replayer.records("l0/defaulting")
        if record["kind"] in KINDS and "decoded" in record
    ]


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def with_server_metadata(obj: dict[str, Any], name: str | None = None) -> dict[str, Any]:
    metadata = {**(obj.get("metadata") or {}), "uid": UID, "creationTimestamp": CREATED, "generation": 1}
    metadata.pop("deletionTimestamp", None)
    if name:
        metadata.setdefault("name", name)
        metadata.setdefault("namespace", "default")
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata}


def problems_of(record: dict[str, Any]) -> list[dict[str, str]]:
    kind = record["key"].rsplit("/", 1)[1]
    strategy = STRATEGIES[kind]
    obj = strategy.default(without_nulls(record["object"]))
    if record["op"] == "create":
        obj = strategy.prepare_create(with_server_metadata(obj))
        found = validate_object_meta(obj["metadata"], True, getattr(strategy, "validate_name", None))
        return [problem.cause() for problem in found + strategy.validate(obj)]
    old = record["old"]
    subresource = record.get("subresource", "")
    if subresource == "status":
        obj = strategy.prepare_status(obj, old) if hasattr(strategy, "prepare_status") else obj
        return [problem.cause() for problem in strategy.validate_status(obj, old)]
    if subresource == "ephemeralcontainers":
        return [problem.cause() for problem in strategy.validate_ephemeral_containers(obj, old)]
    if subresource == "resize":
        resized = strategy.prepare_resize(obj, old)
        return [problem.cause() for problem in strategy.validate_resize(resized, old)]
    obj = strategy.prepare_update(obj, old)
    found = validate_object_meta_update(obj["metadata"], old["metadata"])
    return [problem.cause() for problem in found + strategy.validate_update(obj, old)]


def test_defaulting_gives_every_recorded_object() -> None:
    pairs = [
        (record["id"], STRATEGIES[record["kind"]].default(record["decoded"]), record["defaulted"])
        for record in defaulting_records()
    ]
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 103, replayer.differences(pairs)


def test_defaulting_twice_returns_the_same_object() -> None:
    for record in defaulting_records():
        default = STRATEGIES[record["kind"]].default
        defaulted = default(record["decoded"])
        assert default(defaulted) is defaulted, record["id"]


def test_created_objects_are_stored_as_recorded() -> None:
    pairs = []
    for record in defaulting_records():
        if "created" in record:
            strategy = STRATEGIES[record["kind"]]
            wanted = record["created"]
            obj = with_server_metadata(strategy.default(record["decoded"]), wanted["metadata"]["name"])
            pairs.append((record["id"], strategy.prepare_create(obj), wanted))
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 98, replayer.differences(pairs)


def test_validation_reports_the_recorded_causes() -> None:
    pairs = []
    for record in replayer.records("l0/validation"):
        if record["key"].rsplit("/", 1)[1] not in KINDS or record.get("decode"):
            continue
        details = (record.get("status") or {}).get("details") or {}
        wanted = details.get("causes") or []
        if not record["valid"] and not wanted:
            continue  # Refused before validation: the namespace differs from the request's.
        pairs.append((record["id"], problems_of(record), wanted))
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 450, replayer.differences(pairs)


def test_warnings_of_new_pods_are_the_recorded_ones() -> None:
    strategy = STRATEGIES["Pod"]
    pairs = [
        (
            record["id"],
            strategy.warnings(strategy.default(without_nulls(record["object"]))),
            record.get("warnings") or [],
        )
        for record in replayer.records("l0/validation")
        if record["key"] == "v1/Pod" and record["op"] == "create" and record["valid"]
    ]
    assert sum(got == wanted for _, got, wanted in pairs) == len(pairs), replayer.differences(pairs)


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("registry.example.com:5000/team/app", "Always"),
        ("registry.example.com:5000/team/app:1.2", "IfNotPresent"),
        ("localhost/app", "Always"),
        ("UPPER/app", "Always"),
        ("Nginx", "IfNotPresent"),
        ("", "IfNotPresent"),
        (f"nginx@sha256:{'a' * 64}", "IfNotPresent"),
        (f"nginx:latest@sha256:{'a' * 64}", "Always"),
        ("nginx:latest@sha256:short", "IfNotPresent"),
    ],
)
def test_pull_policy_defaults_to_always_for_latest_images_only(image: str, policy: str) -> None:
    pod = {"spec": {"containers": [{"name": "c", "image": image}]}}
    defaulted = STRATEGIES["Pod"].default(pod)
    assert defaulted["spec"]["containers"][0]["imagePullPolicy"] == policy
    assert "imagePullPolicy" not in pod["spec"]["containers"][0]


def test_only_a_controllers_changed_pod_fields_are_shown_in_the_refusal() -> None:
    strategy = STRATEGIES["Pod"]
    old = strategy.default({"metadata": {}, "spec": {"containers": [{"name": "c", "image": "a:1"}]}})
    image = {**old["spec"]["containers"][0], "image": "a:2"}
    assert strategy.validate_update({**old, "spec": {**old["spec"], "containers": [image]}}, old) == []
    tty = {**image, "tty": True}
    (problem,) = strategy.validate_update({**old, "spec": {**old["spec"], "containers": [tty]}}, old)
    assert '-   "TTY": false\n+   "TTY": true\n' in problem.detail
    assert "a:2" not in problem.detail


def test_stateful_set_pods_may_mount_their_claims() -> None:
    strategy = STRATEGIES["StatefulSet"]
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    container = {"name": "db", "image": "db:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    spec = {
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container]}},
        "volumeClaimTemplates": [claim],
    }
    obj = strategy.default({"metadata": {"name": "db"}, "spec": spec})
    assert strategy.validate(obj) == []
    missing = strategy.default({"metadata": {"name": "db"}, "spec": {**spec, "volumeClaimTemplates": []}})
    assert [problem.field for problem in strategy.validate(missing)] == [
        "spec.template.spec.containers[0].volumeMounts[0].name"
    ]


def test_a_cached_good_container_does_not_hide_a_missing_volume() -> None:
    strategy = STRATEGIES["Pod"]
    container = {"name": "c", "image": "a:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    good = strategy.default({"metadata": {}, "spec": {"containers": [container], "volumes": [{"name": "v"}]}})
    bad = strategy.default({"metadata": {}, "spec": {"containers": [container]}})
    assert strategy.validate(good) == []
    assert [problem.text() for problem in strategy.validate(bad)] == [
        'spec.containers[0].volumeMounts[0].name: Not found: "v"'
    ]


def test_a_job_shows_the_labels_of_its_pods() -> None:
    strategy = STRATEGIES["Job"]
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a:1"}]}}}
    job = strategy.default({"metadata": {"name": "j"}, "spec": spec})
    # What is read from the store has been defaulted again: the labels come from the template.
    created = strategy.default(strategy.prepare_create(with_server_metadata(job)))
    assert created["metadata"]["labels"] == created["spec"]["template"]["metadata"]["labels"]
    assert created["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] == UID


def test_a_suspended_job_that_never_started_may_move_but_not_change() -> None:
    strategy = STRATEGIES["Job"]
    spec = {
        "suspend": True,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a:1"}]}},
    }
    old = strategy.prepare_create(
        with_server_metadata(strategy.default({"metadata": {"name": "j"}, "spec": spec}))
    )
    template = old["spec"]["template"]
    moved = {**template, "spec": {**template["spec"], "nodeSelector": {"disk": "ssd"}}}
    assert strategy.validate_update({**old, "spec": {**old["spec"], "template": moved}}, old) == []
    started = {**old, "status": {"startTime": CREATED}}
    (problem,) = strategy.validate_update({**old, "spec": {**old["spec"], "template": moved}}, started)
    assert (problem.field, problem.detail) == ("spec.template", "field is immutable")


@pytest.mark.parametrize(
    ("schedule", "complaint"),
    [
        ("*/5 * * * *", ""),
        ("@every 1h30m", ""),
        ("0 0 1 jan mon", ""),
        ("@often", "unrecognized descriptor: @often"),
        ("0 0 * * 7", "end of range (7) above maximum (6): 7"),
        ("0 0 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ],
)
def test_schedules_are_refused_in_the_parsers_words(schedule: str, complaint: str) -> None:
    spec = {
        "schedule": schedule,
        "jobTemplate": {
            "spec": {
                "template": {
                    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a:1"}]}
                }
            }
        },
    }
    strategy = STRATEGIES["CronJob"]
    found = strategy.validate(strategy.default({"metadata": {"name": "c"}, "spec": spec}))
    assert [problem.detail for problem in found] == ([complaint] if complaint else [])


def test_refusals_of_a_live_server_name_the_same_causes() -> None:
    plurals = {f"{kind.lower()}s": kind for kind in KINDS}
    pairs = []
    for record in replayer.records("l2/defaults"):
        kind = plurals.get(record["path"].partition("?")[0].rpartition("/")[2])
        if kind is None or record["status"] != 422:
            continue
        strategy = STRATEGIES[kind]
        obj = without_nulls(record["request"])
        if kind == "Pod":
            # Admission, which a live server runs, names the service account.
            obj = {**obj, "spec": {"serviceAccountName": "default", **(obj.get("spec") or {})}}
        obj = strategy.prepare_create(with_server_metadata(strategy.default(obj)))
        obj["metadata"].setdefault("namespace", "default")
        found = validate_object_meta(obj["metadata"], True, getattr(strategy, "validate_name", None))
        got = [problem.cause() for problem in found + strategy.validate(obj)]
        wanted = record["response"]["details"]["causes"]
        text = json.dumps(wanted)
        wanted = json.loads(re.sub(r"00000000-0000-0000-0000-\d{12}", UID, text))
        pairs.append((record["id"], got, wanted))
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 76, replayer.differences(pairs)
