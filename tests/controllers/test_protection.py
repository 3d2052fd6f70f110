"""Claims in use and bound volumes stay until they are free; claims say whether a pod refers to them."""

import pytest

from env_core.apiserver.request import Options
from env_core.controllers.persistentvolumebinder import RESYNC_MS
from tests.controllers.world import World

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
NOW = Options(grace_period_seconds=0)


@pytest.fixture
def world():
    world = World()
    world.api.create(
        CLAIMS,
        "default",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
    )
    world.api.create(
        VOLUMES,
        "",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "disk"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/mnt/disk"},
            },
        },
    )
    world.advance(100)
    return world


def set_phase(world, resource, namespace, name, phase):
    found = world.api.get(resource, namespace, name)
    world.api.update_status(
        resource, namespace, {**found, "status": {**found.get("status", {}), "phase": phase}}
    )
    world.advance(100)


def add_pod(world, name="web", node="node-0", claim="data"):
    spec = {
        "containers": [{"name": "c", "image": "nginx:1.27"}],
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}],
    }
    if node:
        spec["nodeName"] = node
    world.api.create(
        "pods", "default", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    )
    world.advance(100)


def delete(world, resource, namespace, name, options=NOW):
    world.api.delete(resource, namespace, name, options)
    world.advance(100)


def bind(world):
    """Wait for the claim, which was there before the volume, to be looked at again."""
    world.advance(RESYNC_MS)
    assert world.store.get(VOLUMES, "", "disk")["status"]["phase"] == "Bound"


def unused(world):
    conditions = world.api.get(CLAIMS, "default", "data")["status"].get("conditions", [])
    return [(each["type"], each["status"], each["reason"], each["message"]) for each in conditions]


def test_a_claim_that_no_pod_uses_goes_at_once(world):
    delete(world, CLAIMS, "default", "data")
    assert world.store.get(CLAIMS, "default", "data") is None


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_claim_goes_with_the_last_pod_that_uses_it(world, phase):
    add_pod(world)
    add_pod(world, "other", claim="else")
    set_phase(world, "pods", "default", "web", phase)
    delete(world, CLAIMS, "default", "data")
    assert "deletionTimestamp" in world.store.get(CLAIMS, "default", "data")["metadata"]
    delete(world, "pods", "default", "web")
    assert world.store.get(CLAIMS, "default", "data") is None


def test_a_pod_that_no_node_has_seen_holds_no_claim(world):
    add_pod(world, node="")
    delete(world, CLAIMS, "default", "data")
    assert world.store.get(CLAIMS, "default", "data") is None


def test_a_volume_stays_while_it_is_bound(world):
    bind(world)
    delete(world, VOLUMES, "", "disk")
    assert "deletionTimestamp" in world.store.get(VOLUMES, "", "disk")["metadata"]
    delete(world, CLAIMS, "default", "data")
    assert world.store.get(VOLUMES, "", "disk") is None


@pytest.mark.parametrize("phase", ["Available", "Released"])
def test_a_volume_that_is_not_bound_goes_at_once(world, phase):
    if phase == "Released":
        bind(world)
        delete(world, CLAIMS, "default", "data")
    assert world.store.get(VOLUMES, "", "disk")["status"]["phase"] == phase
    delete(world, VOLUMES, "", "disk")
    assert world.store.get(VOLUMES, "", "disk") is None


@pytest.mark.parametrize(
    ("resource", "namespace", "name", "finalizer"),
    [
        (CLAIMS, "default", "data", "kubernetes.io/pvc-protection"),
        (VOLUMES, "", "disk", "kubernetes.io/pv-protection"),
    ],
)
def test_a_finalizer_that_is_taken_away_comes_back(world, resource, namespace, name, finalizer):
    world.api.patch(resource, namespace, name, {"metadata": {"finalizers": None}})
    world.advance(100)
    assert world.store.get(resource, namespace, name)["metadata"]["finalizers"] == [finalizer]


def test_a_bound_claim_says_whether_a_pod_refers_to_it(world):
    assert unused(world) == []
    bind(world)
    assert unused(world) == [
        ("Unused", "True", "NoPodsUsingPVC", "No pods are currently referencing this PVC")
    ]
    add_pod(world, node="")
    assert unused(world) == [("Unused", "False", "PodUsingPVC", "A pod is currently referencing this PVC")]
    delete(world, "pods", "default", "web")
    assert [status for _, status, _, _ in unused(world)] == ["True"]
    delete(world, VOLUMES, "", "disk")
    world.api.patch(VOLUMES, "", "disk", {"metadata": {"finalizers": None}})
    world.advance(100)
    assert world.store.get(CLAIMS, "default", "data")["status"]["phase"] == "Lost"
    add_pod(world)
    assert [status for _, status, _, _ in unused(world)] == ["True"]
    assert world.failures() == {}
