"""What the scheduler does over time: back-off, wake-ups, gates, preemption, volumes, ties."""

from __future__ import annotations

from typing import Any

import pytest

from env_core.scheduler.queue import backoff_ms
from tests.scheduler.world import World, node, pod


def world_with(*nodes: dict[str, Any], seed: int = 1) -> World:
    world = World(seed)
    for found in nodes:
        world.put("nodes", found)
    return world


@pytest.mark.parametrize(
    ("attempts", "expected_ms"), [(1, 1000), (2, 2000), (4, 8000), (5, 10_000), (60, 10_000)]
)
def test_backoff_doubles_from_one_to_ten_seconds(attempts, expected_ms):
    assert backoff_ms(attempts) == expected_ms


def test_a_pod_is_bound_and_told_about():
    world = world_with(node("n1"))
    world.put("pods", pod("p"))
    world.run(100)
    assert world.node_of("p") == "n1"
    (event,) = world.events()
    assert event["message"] == "Successfully assigned default/p to n1"
    assert (event["reason"], event["action"], event["reportingComponent"]) == (
        "Scheduled",
        "Binding",
        "default-scheduler",
    )


def test_without_nodes_a_pod_waits_for_one():
    world = World()
    world.put("pods", pod("p"))
    world.run(100)
    assert world.events()[0]["message"] == "no nodes available to schedule pods"
    world.put("nodes", node("n1"))
    world.run(3000)
    assert world.node_of("p") == "n1"


def test_a_pod_that_fails_again_writes_nothing_new_to_its_status():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("big", "2"))
    world.run(500)
    before = world.pod("big")
    world.run(700_000)
    assert world.pod("big") is before


def test_an_idle_cluster_has_nothing_on_the_agenda():
    world = world_with(node("n1"))
    world.put("pods", pod("p"))
    world.run(1000)
    assert world.loop.next_ms() is None


def test_room_that_comes_free_is_given_to_a_waiting_pod():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("first", "800m"))
    world.run(100)
    world.put("pods", pod("second", "800m"))
    world.run(5000)
    assert world.node_of("second") == ""
    world.store.remove("pods", "default", "first")
    world.run(100)
    assert world.node_of("second") == "n1"


def test_a_finished_pod_frees_its_room():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("first", "800m"))
    world.run(100)
    world.put("pods", pod("second", "800m"))
    world.run(5000)
    first = world.pod("first")
    world.put("pods", {**first, "status": {**first["status"], "phase": "Succeeded"}})
    world.run(100)
    assert world.node_of("second") == "n1"


def test_an_unrelated_change_does_not_wake_a_pod():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("big", "2"))
    world.run(5000)
    attempts = len(world.events())
    found = world.store.get("nodes", "", "n1")
    world.put("nodes", {**found, "metadata": {**found["metadata"], "labels": {"a": "b"}}})
    world.run(5000)
    assert len(world.events()) == attempts


def test_uncordoning_lets_pods_in():
    world = world_with(node("n1", unschedulable=True))
    world.put("pods", pod("p"))
    world.run(5000)
    found = world.store.get("nodes", "", "n1")
    world.put("nodes", {**found, "spec": {}})
    world.run(100)
    assert world.node_of("p") == "n1"


def test_gated_pods_and_those_of_other_schedulers_are_left_alone():
    world = world_with(node("n1"))
    world.put("pods", pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    world.put("pods", pod("other", schedulerName="other"))
    world.run(1000)
    assert (world.node_of("gated"), world.node_of("other")) == ("", "")
    assert world.events() == []
    gated = world.pod("gated")
    spec = {key: value for key, value in gated["spec"].items() if key != "schedulingGates"}
    world.put("pods", {**gated, "spec": spec})
    world.run(100)
    assert world.node_of("gated") == "n1"


def test_more_urgent_pods_go_first():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("low", "800m", priority=0))
    world.put("pods", pod("high", "800m", priority=10))
    world.run(5)
    world.run(100)
    assert world.node_of("high") == "n1"


def test_preemption_evicts_the_least_important_and_then_takes_the_room():
    world = world_with(node("n1", "2"))
    world.put("pods", pod("low", "1500m", priority=-10))
    world.run(100)
    world.put("pods", pod("high", "1500m", priority=1000))
    world.run(100)
    high = world.pod("high")
    assert high["status"]["nominatedNodeName"] == "n1"
    assert high["status"]["conditions"][0]["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod "
        "on node n1, preempting 1 victims"
    )
    (victim,) = world.events("Preempted")
    assert victim["message"] == "Preempted by pod uid-high on node n1"
    low = world.pod("low")
    assert low["status"]["conditions"][-1]["reason"] == "PreemptionByScheduler"
    assert "deletionTimestamp" in low["metadata"]
    world.store.remove("pods", "default", "low")
    world.run(3000)
    assert world.node_of("high") == "n1"
    assert "nominatedNodeName" not in world.pod("high")["status"]


def test_nobody_takes_the_room_of_a_nominated_pod():
    world = world_with(node("n1", "2"))
    world.put("pods", pod("low", "1500m", priority=-10))
    world.run(100)
    world.put("pods", pod("high", "1500m", priority=1000))
    world.run(100)
    world.put("pods", pod("late", "1500m", priority=0))
    world.run(100)
    world.store.remove("pods", "default", "low")
    world.run(5000)
    assert (world.node_of("high"), world.node_of("late")) == ("n1", "")


def test_a_budget_protects_its_pods_from_preemption_if_others_will_do():
    world = world_with(node("n1", "2"), node("n2", "2"))
    world.put("pods", pod("a", "1500m", labels={"app": "a"}, priority=1, nodeName="n1"))
    world.put("pods", pod("b", "1500m", labels={"app": "b"}, priority=1, nodeName="n2"))
    budget = {
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}},
        "status": {"disruptionsAllowed": 0},
    }
    world.put("poddisruptionbudgets.policy", budget)
    world.put("pods", pod("high", "1500m", priority=1000))
    world.run(100)
    assert world.pod("high")["status"]["nominatedNodeName"] == "n2"


def claim(name: str, storage_class: str, **annotations: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
        },
        "status": {"phase": "Pending"},
    }


def storage_class(name: str, provisioner: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def with_claim(name: str, claim_name: str) -> dict[str, Any]:
    volume = {"name": "d", "persistentVolumeClaim": {"claimName": claim_name}}
    return pod(name, volumes=[volume])


def bound(found: dict[str, Any], volume: str) -> dict[str, Any]:
    annotations = {**found["metadata"].get("annotations", {}), "pv.kubernetes.io/bind-completed": "yes"}
    return {
        **found,
        "metadata": {**found["metadata"], "annotations": annotations},
        "spec": {**found["spec"], "volumeName": volume},
        "status": {"phase": "Bound"},
    }


def test_a_claim_that_waits_for_its_consumer_learns_the_node_and_the_pod_waits_for_the_claim():
    world = world_with(node("n1"))
    world.put("storageclasses.storage.k8s.io", storage_class("slow", "csi.example.com"))
    world.api.create("persistentvolumeclaims", "default", claim("data", "slow"))
    world.put("pods", with_claim("p", "data"))
    world.run(1000)
    assert world.node_of("p") == ""
    found = world.store.get("persistentvolumeclaims", "default", "data")
    assert found["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "n1"
    world.put("persistentvolumes", {"metadata": {"name": "pv"}, "spec": {}})
    world.put("persistentvolumeclaims", bound(found, "pv"))
    world.run(100)
    assert world.node_of("p") == "n1"


def test_a_local_volume_decides_the_node():
    world = world_with(node("n1"), node("n2"), node("n3"))
    world.put("storageclasses.storage.k8s.io", storage_class("local", "kubernetes.io/no-provisioner"))
    world.api.create("persistentvolumeclaims", "default", claim("data", "local"))
    world.put("pods", with_claim("p", "data"))
    world.run(100)
    assert world.pod("p")["status"]["conditions"][0]["message"].startswith(
        "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind."
    )
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv", "uid": "uid-pv"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "local",
        },
    }
    created = world.api.create("persistentvolumes", "", volume)
    world.put("persistentvolumes", {**created, "status": {"phase": "Available"}})
    world.run(3000)
    reserved = world.store.get("persistentvolumes", "", "pv")
    assert reserved["spec"]["claimRef"]["name"] == "data"
    assert reserved["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert world.store.get("pods", "default", "p")["status"]["nominatedNodeName"] == "n2"
    found = world.store.get("persistentvolumeclaims", "default", "data")
    world.put("persistentvolumeclaims", bound(found, "pv"))
    # Recorded (l2/flows pvc-wffc): the scheduler looks once a second.
    world.run(1_000)
    assert world.node_of("p") == "n2"


def test_a_fork_goes_on_by_itself():
    world = world_with(node("n1", "1"))
    world.put("pods", pod("first", "800m"))
    world.run(100)
    world.put("pods", pod("second", "800m"))
    world.run(5000)
    fork = world.fork()
    fork.store.remove("pods", "default", "first")
    fork.run(100)
    world.run(100)
    assert (fork.node_of("second"), world.node_of("second")) == ("n1", "")
    world.store.remove("pods", "default", "first")
    world.run(100)
    assert world.node_of("second") == "n1"


def test_equal_nodes_are_drawn_for_by_the_seed():
    def chosen(seed: int) -> list[str]:
        world = world_with(*(node(f"n{index}") for index in range(5)), seed=seed)
        for index in range(4):
            world.put("pods", pod(f"p{index}"))
        world.run(200)
        return [world.node_of(f"p{index}") for index in range(4)]

    assert chosen(1) == chosen(1)
    assert len({tuple(chosen(seed)) for seed in range(6)}) > 1


def test_replicas_of_one_kind_are_spread_over_the_nodes():
    world = world_with(*(node(f"n{index}") for index in range(3)))
    service = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    world.put("services", service)
    for index in range(6):
        world.put("pods", pod(f"p{index}", labels={"app": "web"}))
    world.run(200)
    nodes = [world.node_of(f"p{index}") for index in range(6)]
    assert {name: nodes.count(name) for name in nodes} == {"n0": 2, "n1": 2, "n2": 2}


@pytest.mark.parametrize("latest", ["a", "b"])
def test_of_equal_victims_the_one_that_started_last_goes(latest):
    """A pod's start comes with its status, after the scheduler has seen it bound."""
    world = world_with(node("n1", "1"), node("n2", "1"))
    for name in ("a", "b"):
        world.put("pods", pod(name, "800m"))
        world.run(100)
    for name in ("a", "b"):
        second = 2 if name == latest else 1
        found = world.store.get("pods", "default", name)
        world.put(
            "pods", {**found, "status": {"phase": "Running", "startTime": f"2026-01-01T00:00:0{second}Z"}}
        )
    urgent = pod("urgent", "800m")
    world.put("pods", {**urgent, "spec": {**urgent["spec"], "priority": 10}})
    world.run(100)
    assert world.store.get("pods", "default", "urgent")["status"]["nominatedNodeName"] == world.node_of(
        latest
    )
