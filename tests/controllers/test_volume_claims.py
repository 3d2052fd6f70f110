"""Claims and volumes find each other, stay together, and part as the reclaim policy says."""

import pytest

from env_core.controllers.persistentvolumebinder import RESYNC_MS
from tests.controllers.town import Town

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"


@pytest.fixture
def town():
    return Town()


def add_volume(town, name="disk", size="1Gi", storage_class="by-hand", path="/mnt/disk", **spec):
    wanted = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "hostPath": {"path": path},
        **spec,
    }
    town.make(VOLUMES, "v1", "PersistentVolume", name, wanted, namespace="")


def add_claim(town, name="data", size="1Gi", storage_class="by-hand", **spec):
    wanted = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}},
        **spec,
    }
    town.make(CLAIMS, "v1", "PersistentVolumeClaim", name, wanted)


def phase(town, resource, name):
    return town.get(resource, name, "" if resource == VOLUMES else "default")["status"]["phase"]


def test_the_smallest_volume_that_is_large_enough_is_taken(town):
    for name, size in (("large", "10Gi"), ("small", "1Gi"), ("middle", "5Gi")):
        add_volume(town, name, size)
    town.world.advance(100)
    add_claim(town, size="2Gi")
    town.world.advance(100)
    assert town.get(CLAIMS, "data")["spec"]["volumeName"] == "middle"
    assert town.get(CLAIMS, "data")["status"]["capacity"] == {"storage": "5Gi"}
    assert [phase(town, VOLUMES, name) for name in ("large", "middle", "small")] == [
        "Available",
        "Bound",
        "Available",
    ]


@pytest.mark.parametrize(
    "misfit",
    [
        {"size": "512Mi"},
        {"storage_class": "other"},
        {"accessModes": ["ReadOnlyMany"]},
        {"volumeMode": "Block"},
    ],
)
def test_a_volume_that_does_not_fit_is_left(town, misfit):
    add_volume(town, **misfit)
    add_claim(town)
    town.world.advance(3 * RESYNC_MS)
    assert phase(town, CLAIMS, "data") == "Pending"
    assert phase(town, VOLUMES, "disk") == "Available"


def test_a_volume_that_comes_later_is_found_by_the_next_round(town):
    add_claim(town)
    town.world.advance(1_000)
    add_volume(town)
    town.world.advance(RESYNC_MS)
    assert phase(town, CLAIMS, "data") == phase(town, VOLUMES, "disk") == "Bound"


def test_of_two_claims_one_gets_the_volume(town):
    add_volume(town)
    town.world.advance(100)
    add_claim(town, "first")
    add_claim(town, "second")
    town.world.advance(3 * RESYNC_MS)
    assert [phase(town, CLAIMS, name) for name in ("first", "second")] == ["Bound", "Pending"]


def test_a_reserved_volume_waits_for_its_claim(town):
    add_volume(town, claimRef={"namespace": "default", "name": "chosen"})
    town.world.advance(100)
    add_claim(town, "other")
    town.world.advance(2 * RESYNC_MS)
    assert phase(town, CLAIMS, "other") == "Pending"
    add_claim(town, "chosen")
    town.world.advance(100)
    assert phase(town, CLAIMS, "chosen") == "Bound"


@pytest.mark.parametrize(
    ("policy", "path", "end"),
    [("Retain", "/tmp/disk", "Released"), ("Delete", "/tmp/disk", None), ("Delete", "/mnt/disk", "Failed")],
)
def test_what_becomes_of_a_volume_without_its_claim_is_its_policys_to_say(town, policy, path, end):
    add_volume(town, path=path, persistentVolumeReclaimPolicy=policy)
    town.world.advance(100)
    add_claim(town)
    town.world.advance(100)
    town.world.api.delete(CLAIMS, "default", "data")
    town.world.advance(1_000)
    if end is None:
        assert town.get(VOLUMES, "disk", "") is None
    else:
        assert phase(town, VOLUMES, "disk") == end
        add_claim(town, "next")
        town.world.advance(2 * RESYNC_MS)
        assert phase(town, CLAIMS, "next") == "Pending"


def test_a_claim_whose_class_waits_is_bound_when_a_pod_needs_it(town):
    town.world.api.create(
        "storageclasses.storage.k8s.io",
        "",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "by-hand"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    )
    add_volume(town)
    town.world.advance(100)
    add_claim(town)
    town.world.advance(2 * RESYNC_MS)
    assert phase(town, CLAIMS, "data") == "Pending"
    assert ("Normal", "WaitForFirstConsumer") in [row[:2] for row in town.events("data")]
    pod = {
        "containers": [{"name": "c", "image": "nginx:1.27"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    town.make("pods", "v1", "Pod", "p", pod)
    town.world.advance(2 * RESYNC_MS)
    assert phase(town, CLAIMS, "data") == "Bound"
    assert phase(town, "pods", "p") == "Running"
