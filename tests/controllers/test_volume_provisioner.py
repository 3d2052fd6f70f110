"""The driver of the cluster's own disks: it makes, enlarges and deletes volumes of the classes that name it."""

import pytest

from env_core.scenarios.platform import with_platform

NAMESPACE = "default"


@pytest.fixture(scope="module")
def platform():
    return with_platform(7)


def storage_class(name, provisioner="disk.csi.example.net", policy="Delete", mode="Immediate"):
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
        "reclaimPolicy": policy, "volumeBindingMode": mode, "allowVolumeExpansion": True,
    }  # fmt: skip


def with_claim(platform, made):
    cluster = platform.fork()
    client = cluster.client()
    client.create("storageclasses", "", made)
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": made["metadata"]["name"], "resources": {"requests": {"storage": "5Gi"}},
        },
    }  # fmt: skip
    client.create("persistentvolumeclaims", NAMESPACE, claim)
    cluster.advance(10_000)
    return cluster


def claim_of(cluster):
    return cluster.store.get("persistentvolumeclaims", NAMESPACE, "data")


def test_a_claim_of_its_class_gets_a_volume_of_its_size(platform):
    cluster = with_claim(platform, storage_class("disks"))
    claim = claim_of(cluster)
    volume = cluster.store.get("persistentvolumes", "", claim["spec"]["volumeName"])
    assert claim["status"]["phase"] == volume["status"]["phase"] == "Bound"
    assert volume["spec"]["capacity"] == {"storage": "5Gi"}
    assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]


@pytest.mark.parametrize(
    "made",
    [storage_class("foreign", "example.com/disk"), storage_class("later", mode="WaitForFirstConsumer")],
)
def test_claims_of_others_and_those_without_a_pod_wait(platform, made):
    cluster = with_claim(platform, made)
    assert claim_of(cluster)["status"]["phase"] == "Pending"
    assert cluster.store.list("persistentvolumes") == []


def test_a_claim_that_asks_for_more_gets_it(platform):
    cluster = with_claim(platform, storage_class("disks"))
    more = {"spec": {"resources": {"requests": {"storage": "8Gi"}}}}
    cluster.client().patch("persistentvolumeclaims", NAMESPACE, "data", more)
    cluster.advance(5_000)
    claim = claim_of(cluster)
    assert claim["status"]["capacity"] == {"storage": "8Gi"}
    volume = cluster.store.get("persistentvolumes", "", claim["spec"]["volumeName"])
    assert volume["spec"]["capacity"] == {"storage": "8Gi"}


@pytest.mark.parametrize(("policy", "left"), [("Delete", []), ("Retain", ["Released"])])
def test_the_class_says_what_becomes_of_a_volume_without_its_claim(platform, policy, left):
    cluster = with_claim(platform, storage_class("disks", policy=policy))
    cluster.client().delete("persistentvolumeclaims", NAMESPACE, "data")
    cluster.advance(10_000)
    assert [volume["status"]["phase"] for volume in cluster.store.list("persistentvolumes")] == left
