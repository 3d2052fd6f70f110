"""What a fresh control plane holds, against what a real one held."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from env_core.apiserver.boot import boot, default_objects
from env_core.apiserver.managedfields.history import with_managed_fields
from env_core.apiserver.store import Store
from env_core.cluster import registry
from env_core.sim.rng import Streams
from tests.golden import servers

FACTS = Path(__file__).parent.parent / "golden" / "l2" / "facts"
NOW_MS = servers.CREATED_MS
RESOURCES = (
    "apiservices.apiregistration.k8s.io",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    "servicecidrs.networking.k8s.io",
)


def recorded(resource: str) -> list[Any]:
    with gzip.open(FACTS / "default_objects.json.gz", "rt", encoding="utf-8") as text:
        tables = json.load(text)
    plural, _, group = resource.partition(".")
    return list(tables[f"/apis/{group}/v1/{plural}"])


def booted() -> Store:
    store = Store()
    boot(store, Streams(1), NOW_MS, registry())
    return store


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_same_objects_are_there_by_default(resource: str) -> None:
    ours = {obj["metadata"]["name"]: obj["spec"] for obj in booted().list(resource)}
    assert ours == {obj["metadata"]["name"]: obj["spec"] for obj in recorded(resource)}


TRACKED = (
    "namespaces",
    "services",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
)


@pytest.mark.parametrize("resource", TRACKED)
def test_the_same_managers_hold_the_same_fields(resource: str) -> None:
    with gzip.open(FACTS / "default_objects.json.gz", "rt", encoding="utf-8") as text:
        tables = json.load(text)
    plural, _, group = resource.partition(".")
    store = booted()
    theirs, ours = {}, {}
    for obj in tables[f"/apis/{group}/v1/{plural}" if group else f"/api/v1/{plural}"]:
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace", "")
        mine = store.get(resource, namespace, name)
        if mine is None:
            continue
        theirs[namespace, name] = obj["metadata"]["managedFields"]
        shown = with_managed_fields(mine, store.written(resource, namespace, name))
        ours[namespace, name] = [
            {key: value for key, value in entry.items() if key != "time"}
            for entry in shown["metadata"]["managedFields"]
        ]
    assert theirs
    assert ours == theirs


def test_default_objects_differ_by_seed_in_uids_alone() -> None:
    def without_uids(seed: int) -> Any:
        made = default_objects(Streams(seed), NOW_MS)
        return {
            resource: [
                {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != "uid"}}
                for obj in objects
            ]
            for resource, objects in made.items()
        }

    assert without_uids(1) == without_uids(2)
    assert default_objects(Streams(1), NOW_MS) != default_objects(Streams(2), NOW_MS)
    uids = [
        obj["metadata"]["uid"] for objects in default_objects(Streams(1), NOW_MS).values() for obj in objects
    ]
    assert len(set(uids)) == len(uids)


def test_preloaded_objects_leave_no_trace() -> None:
    store = Store()
    seen: list[Any] = []
    store.subscriber = seen.append
    revision = store.revision
    store.preload("apiservices.apiregistration.k8s.io", [{"metadata": {"name": "v1."}}])
    assert (store.revision, seen, store.events_since(revision)) == (revision, [], ())
    held = store.get("apiservices.apiregistration.k8s.io", "", "v1.")
    assert held == {"metadata": {"name": "v1.", "resourceVersion": "1"}}


def test_a_fork_changes_preloaded_objects_for_itself() -> None:
    store = booted()
    fork = store.fork()
    fork.remove("servicecidrs.networking.k8s.io", "", "kubernetes")
    assert fork.list("servicecidrs.networking.k8s.io") == []
    assert [obj["metadata"]["name"] for obj in store.list("servicecidrs.networking.k8s.io")] == ["kubernetes"]
