"""Volumes are attached to the nodes of their pods: one node at a time where the claim allows no more."""

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.scenarios.apps import base

ATTACHMENTS = "volumeattachments.storage.k8s.io"
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def redis_of_a_shop():
    world = base("shop", 0)
    return world.workloads["redis"], world.cluster.fork(5)


def pods_of(cluster, place):
    return [
        pod
        for pod in cluster.store.list("pods", place.namespace)
        if place.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]


def attachments_of(cluster, place):
    claim = cluster.store.get("persistentvolumeclaims", place.namespace, place.claims[0])
    return [
        (each["spec"]["nodeName"], each["status"]["attached"])
        for each in cluster.store.list(ATTACHMENTS)
        if each["spec"]["source"]["persistentVolumeName"] == claim["spec"]["volumeName"]
    ]


def change(cluster, place, spec):
    cluster.client().patch(place.resource, place.namespace, place.name, {"spec": spec}, STRATEGIC_PATCH)


def rolled_to_another_node(cluster, place):
    """Roll so that old and new pod overlap, the new one on another node."""
    here = pods_of(cluster, place)[0]["spec"]["nodeName"]
    cluster.client().patch("nodes", "", here, {"spec": {"unschedulable": True}})
    stamp = {"metadata": {"annotations": {"rolled": "again"}}}
    change(cluster, place, {"strategy": ROLLING, "template": stamp})
    cluster.advance(90_000)
    return here


def test_a_volume_is_attached_where_its_pod_runs():
    place, cluster = redis_of_a_shop()
    assert attachments_of(cluster, place) == [(pods_of(cluster, place)[0]["spec"]["nodeName"], True)]


def test_a_second_node_waits_for_a_volume_of_one_writer():
    place, cluster = redis_of_a_shop()
    here = rolled_to_another_node(cluster, place)
    old, new = sorted(pods_of(cluster, place), key=lambda pod: pod["spec"]["nodeName"] != here)
    assert new["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    texts = [
        (event["count"], event["message"])
        for event in cluster.store.list("events", place.namespace)
        if event["reason"] == "FailedAttachVolume"
        and event["involvedObject"]["name"] == new["metadata"]["name"]
    ]
    claim = cluster.store.get("persistentvolumeclaims", place.namespace, place.claims[0])
    told = (
        f'Waiting for detach for volume "{claim["spec"]["volumeName"]}" '
        f"Volume is already used by pod(s) {old['metadata']['name']}"
    )
    assert texts == [(1, told)]
    assert attachments_of(cluster, place) == [(here, True)]


def test_the_volume_follows_when_the_old_pod_is_gone():
    place, cluster = redis_of_a_shop()
    here = rolled_to_another_node(cluster, place)
    change(cluster, place, {"strategy": {"type": "Recreate", "rollingUpdate": None}})
    cluster.advance(60_000)
    (pod,) = pods_of(cluster, place)
    assert pod["spec"]["nodeName"] != here
    assert pod["status"]["containerStatuses"][0]["ready"]
    assert attachments_of(cluster, place) == [(pod["spec"]["nodeName"], True)]


def test_two_pods_of_one_node_share_a_volume():
    place, cluster = redis_of_a_shop()
    here = pods_of(cluster, place)[0]["spec"]["nodeName"]
    change(
        cluster,
        place,
        {"strategy": ROLLING, "template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": here}}}},
    )
    cluster.advance(60_000)
    (pod,) = pods_of(cluster, place)
    assert pod["status"]["containerStatuses"][0]["ready"]
    assert attachments_of(cluster, place) == [(here, True)]


def test_a_volume_is_detached_when_nobody_uses_it():
    place, cluster = redis_of_a_shop()
    change(cluster, place, {"replicas": 0})
    cluster.advance(60_000)
    assert attachments_of(cluster, place) == []
