"""Cluster-level kinds (nodes, namespaces, events, RBAC, storage, quotas, policies) against recorded truth."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from env_core.apiserver._normal_form import normalize
from env_core.apiserver.kind import Kind
from env_core.apiserver.metadata import validate_object_meta, validate_object_meta_update
from env_core.apiserver.schema import schema_for
from env_core.kinds import _event_conversion, namespace, node, persistentvolume
from env_core.kinds._node_pod_resources import pod_limits, pod_requests
from env_core.kinds._policy_unstructured import label_for
from tests.kinds import replayer

GENERIC = [
    "namespace",
    "node",
    "event",
    "serviceaccount",
    "role",
    "clusterrole",
    "rolebinding",
    "clusterrolebinding",
    "persistentvolumeclaim",
    "persistentvolume",
    "storageclass",
    "poddisruptionbudget",
    "lease",
    "priorityclass",
    "limitrange",
    "resourcequota",
]
LATE = [
    "runtimeclass",
    "csidriver",
    "csinode",
    "volumeattachment",
    "validatingadmissionpolicy",
    "validatingadmissionpolicybinding",
    "validatingwebhookconfiguration",
    "mutatingwebhookconfiguration",
    "customresourcedefinition",
    "certificatesigningrequest",
]
KINDS: dict[str, Kind] = {
    replayer.key_of(kind): kind
    for kind in (import_module(f"env_core.kinds.{name}").KIND for name in (*GENERIC, *LATE))
}


def mine(topic: str) -> list[dict[str, Any]]:
    return [record for record in replayer.records(topic) if record.get("key") in KINDS]


def without_metadata(obj: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key != "metadata"}


def causes(problems: list[Any]) -> list[Any]:
    return [problem.cause() for problem in problems]


def recorded_causes(status: dict[str, Any] | None) -> list[Any]:
    details = (status or {}).get("details") or {}
    return list(details.get("causes") or [])


def defaulting_records() -> list[tuple[Kind, dict[str, Any]]]:
    keyed = ((f"{each['apiVersion']}/{each['kind']}", each) for each in replayer.records("l0/defaulting"))
    return [(KINDS[key], record) for key, record in keyed if key in KINDS]


def test_defaults_are_the_recorded_ones() -> None:
    pairs = [
        (each["id"], kind.default(each["decoded"]), each["defaulted"]) for kind, each in defaulting_records()
    ]
    assert len([1 for _, got, wanted in pairs if got == wanted]) >= 33, replayer.differences(pairs)


def test_defaulting_twice_changes_nothing_more() -> None:
    for kind, record in defaulting_records():
        once = kind.default(record["decoded"])
        assert kind.default(once) == once, record["id"]


def test_what_create_stores_is_what_the_server_stores() -> None:
    pairs = []
    for kind, record in defaulting_records():
        if not record.get("created"):
            continue
        obj = kind.default(record["decoded"])
        metadata = {
            **obj["metadata"],
            "creationTimestamp": record["created"]["metadata"]["creationTimestamp"],
        }
        pairs.append(
            (
                record["id"],
                without_metadata(kind.prepare_create({**obj, "metadata": metadata})),
                without_metadata(record["created"]),
            )
        )
    # The five claims were recorded without a round trip through storage, which adds their phase (l2/defaults has it).
    matched = [1 for _, got, wanted in pairs if got == wanted]
    assert len(matched) >= 28, replayer.differences(pairs)


def problems_of(record: dict[str, Any]) -> list[Any]:
    kind = KINDS[record["key"]]
    obj = kind.default(record["object"])
    if record["op"] == "create":
        obj = kind.prepare_create(obj)
        return [
            *validate_object_meta(obj["metadata"], kind.is_namespaced, kind.validate_name),
            *kind.validate(obj),
        ]
    old = record["old"]
    if record.get("subresource") == "status":
        return kind.validate_status(kind.prepare_status(obj, old), old)
    obj = kind.prepare_update(obj, old)
    found = kind.validate(obj) if kind.validate_update is None else kind.validate_update(obj, old)
    return [*validate_object_meta_update(obj["metadata"], old["metadata"]), *found]


def test_validation_finds_the_recorded_problems_in_order() -> None:
    pairs = [
        (record["id"], causes(problems_of(record)), recorded_causes(record.get("status")))
        for record in mine("l0/validation")
        if not record.get("decode")
    ]
    assert len([1 for _, got, wanted in pairs if got == wanted]) >= 118, replayer.differences(pairs)


def test_dry_run_creates_answer_as_the_real_server_did() -> None:
    pairs = []
    for record in replayer.records("l2/defaults"):
        body, response = record["request"], record["response"]
        kind = KINDS.get(f"{body.get('apiVersion')}/{body.get('kind')}")
        if kind is None:
            continue
        struct = schema_for(kind.group, kind.version, kind.kind)
        obj = normalize(body, struct) if struct is not None else body
        metadata = {
            key: value
            for key, value in response.get("metadata", {}).items()
            if key in ("namespace", "creationTimestamp")
        }
        if kind.is_namespaced:
            metadata.setdefault("namespace", "defaults")
        obj = kind.default({**obj, "metadata": {**obj["metadata"], **metadata}})
        if kind.has_status:
            obj = {key: value for key, value in obj.items() if key != "status"}
        obj = kind.prepare_create(obj)
        found = validate_object_meta(obj["metadata"], kind.is_namespaced, kind.validate_name)
        found += kind.validate(obj)
        if record["status"] == 201:
            # What is answered was defaulted once more when it was read back.
            answer = [] if found else without_metadata(kind.default(obj))
            pairs.append((record["id"], answer, without_metadata(response)))
        else:
            pairs.append((record["id"], causes(found), recorded_causes(response)))
    # Not among them: a node's taint (admission) and a policy's CEL syntax error.
    assert len([1 for _, got, wanted in pairs if got == wanted]) >= 51, replayer.differences(pairs)


@pytest.mark.parametrize("key", sorted(KINDS))
def test_columns_are_declared_as_recorded(key: str) -> None:
    kind = KINDS[key]
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    recorded = replayer.document("l0/printer_columns").get(key)
    if recorded is None:
        table = replayer.document("l2/facts/tables")[f"{root}/{kind.plural}"]
        recorded = table.get("columnDefinitions") or table["columns"]
    wanted = [(each["name"], each["type"], each["format"], each["priority"]) for each in recorded]
    assert [(each.name, each.type, each.format, each.priority) for each in kind.columns] == wanted


def test_cells_are_the_recorded_ones() -> None:
    pairs = [
        (each["id"], replayer.cells_of(KINDS[each["key"]], each["object"], each["now"]), each["cells"])
        for each in mine("l0/printers")
    ]
    assert len([1 for _, got, wanted in pairs if got == wanted]) >= 54, replayer.differences(pairs)


def test_describe_prints_what_kubectl_prints() -> None:
    pairs = [
        (each["id"], replayer.describe_record(KINDS[each["key"]], each), each["output"])
        for each in mine("l0/describe")
    ]
    # One record is of a user who may not list pods, which a Reader does not tell from there being none.
    assert len([1 for _, got, wanted in pairs if got == wanted]) >= 71, replayer.differences(pairs)


@pytest.mark.parametrize("key", sorted(KINDS))
def test_kinds_are_served_as_discovery_says(key: str) -> None:
    kind = KINDS[key]
    groups = [
        *replayer.document("l2/facts/discovery/aggregated_api")["items"],
        *replayer.document("l2/facts/discovery/aggregated_apis")["items"],
    ]
    recorded = next(
        resource
        for group in groups
        if group["metadata"].get("name", "") == kind.group
        for version in group["versions"]
        if version["version"] == kind.version
        for resource in version["resources"]
        if resource["resource"] == kind.plural
    )
    assert kind.singular == recorded["singularResource"]
    assert list(kind.short_names) == recorded.get("shortNames", [])
    assert list(kind.categories) == recorded.get("categories", [])
    assert kind.is_namespaced == (recorded["scope"] == "Namespaced")
    assert sorted(kind.verbs) == sorted(recorded["verbs"])
    assert sorted(kind.subresources) == sorted(
        each["subresource"] for each in recorded.get("subresources", [])
    )


def test_an_event_survives_the_way_to_events_v1_and_back() -> None:
    for record in mine("l0/printers"):
        if record["key"] == "v1/Event":
            event = record["object"]
            there = _event_conversion.to_events_v1(event)
            assert there["regarding"] == event["involvedObject"]
            assert there["note"] == event["message"]
            assert _event_conversion.from_events_v1(there) == event


def test_a_namespace_may_not_lose_its_finalizer_by_an_update() -> None:
    old = {
        "metadata": {"name": "shop"},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
    new = {**old, "spec": {"finalizers": []}, "status": {"phase": "Terminating"}}
    assert namespace.KIND.prepare_update(new, old) == old
    assert namespace.prepare_finalize(new, old) == {**new, "status": {"phase": "Active"}}


def test_an_update_leaves_a_nodes_status_alone() -> None:
    old = {"metadata": {"name": "n"}, "spec": {}, "status": {"capacity": {"cpu": "4"}}}
    new = {**old, "spec": {"unschedulable": True}, "status": {}}
    assert node.KIND.prepare_update(new, old) == {**old, "spec": {"unschedulable": True}}


def test_a_volume_remembers_when_it_became_pending() -> None:
    obj = {"metadata": {"name": "v", "creationTimestamp": "2026-01-01T00:00:21Z"}, "spec": {}}
    status = persistentvolume.KIND.prepare_create(obj)["status"]
    assert status == {"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:00:21Z"}


@pytest.mark.parametrize(
    ("field", "label"),
    [
        ("podIP", "Pod IP"),
        ("apiVersion", "API Version"),
        ("openAPIV3Schema", "openAPIV3Schema"),
        ("x-kubernetes-validations", "X - Kubernetes - Validations"),
        ("lastObservedTime", "Last Observed Time"),
        ("uid", "UID"),
    ],
)
def test_labels_of_unknown_kinds_are_made_from_field_names(field: str, label: str) -> None:
    assert label_for(field) == label


def test_an_init_container_counts_where_it_is_larger_and_a_sidecar_always() -> None:
    def container(name: str, cpu: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}, **more}

    pod = {
        "spec": {
            "containers": [container("a", "100m"), container("b", "200m")],
            "initContainers": [container("proxy", "50m", restartPolicy="Always"), container("init", "1")],
            "overhead": {"cpu": "10m"},
        }
    }
    assert str(pod_requests(pod)["cpu"]) == "1060m"
    assert str(pod_limits(pod)["cpu"]) == "1060m"
