"""Nodes that run out of numbers for processes: what their kubelets do, when they are told to mind.

Source: k8s.io/kubernetes pkg/kubelet/eviction (helpers.go: rankPIDPressure, evictionMessage), 1.37; no recording has it.
"""

from __future__ import annotations

import json

import pytest

from env_core.node.thresholds import ThresholdError
from tests.node.lab import CREATED_MS, Lab
from tests.node.test_node_causes import CONFIG, add, condition_of, status_of, taints_of


@pytest.fixture
def lab() -> Lab:
    world = Lab(CREATED_MS)
    world.join("node-1", CONFIG)
    world.advance(12_000)
    return world


def running(processes: int) -> str:
    return json.dumps({"containers": {"app": {"processes": processes, "term": {"code": 143}}}})


def evicted(lab: Lab) -> list[str]:
    return [
        change.object["involvedObject"]["name"]
        for _, change in lab.changes
        if change.ref.resource == "events" and change.object["reason"] == "Evicted"
    ]


def test_a_kubelet_that_was_not_told_to_mind_does_nothing(lab):
    add(lab, "web")
    lab.kubelets.set_free("node-1", pids=3)
    lab.advance(60_000)
    assert condition_of(lab, "node-1", "PIDPressure")["status"] == "False"
    assert status_of(lab, "web")["phase"] == "Running"
    assert taints_of(lab, "node-1") == set()


def test_a_node_without_numbers_ends_the_pod_with_most_processes_first(lab):
    add(lab, "few", running(3))
    add(lab, "many", running(900))
    lab.advance(5_000)
    lab.is_watching = True
    lab.kubelets.set_hard_pids("node-1", "10%")
    lab.advance(30_000)
    assert evicted(lab) == []
    lab.kubelets.set_free("node-1", pids=12_000)
    lab.advance(12_000)
    assert evicted(lab) == ["many", "few"]
    assert status_of(lab, "many")["reason"] == "Evicted"
    # 4194304 x float32(0.1), and 12000 as Go prints a decimal quantity; no word of containers.
    assert status_of(lab, "many")["message"] == (
        "The node was low on resource: pids. Threshold quantity: 419430, available: 12k. "
    )
    lab.advance(10_000)
    found = condition_of(lab, "node-1", "PIDPressure")
    assert (found["status"], found["reason"]) == ("True", "KubeletHasInsufficientPID")
    assert found["message"] == "kubelet has insufficient PID available"
    assert taints_of(lab, "node-1") == {("node.kubernetes.io/pid-pressure", "NoSchedule")}
    events = [(each["reason"], each["message"]) for each in lab.store.list("events", "default")]
    assert ("EvictionThresholdMet", "Attempting to reclaim pids") in events
    assert ("NodeHasInsufficientPID", "Node node-1 status is now: NodeHasInsufficientPID") in events


def test_priority_counts_before_processes(lab):
    for name, value in (("low", 1), ("high", 1_000)):
        lab.create(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
        )
    for name, count in (("low", 2), ("high", 900)):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": {"oracle/script": running(count)}},
            "spec": {
                "nodeName": "node-1",
                "priorityClassName": name,
                "containers": [{"name": "app", "image": "registry.example.com/present/app:1.0"}],
            },
        }
        lab.create(pod)
    lab.advance(5_000)
    lab.is_watching = True
    lab.kubelets.set_hard_pids("node-1", "1000")
    lab.kubelets.set_free("node-1", pids=999)
    lab.advance(12_000)
    assert evicted(lab) == ["low", "high"]
    assert status_of(lab, "low")["message"] == (
        "The node was low on resource: pids. Threshold quantity: 1k, available: 999. "
    )


def test_pods_are_refused_meanwhile_and_taken_five_minutes_later(lab):
    lab.kubelets.set_hard_pids("node-1", "1000")
    lab.kubelets.set_free("node-1", pids=10)
    lab.advance(25_000)
    add(lab, "late", resources={"requests": {"memory": "10Mi"}})
    lab.advance(1_000)
    assert status_of(lab, "late")["message"] == "Pod was rejected: The node had condition: [PIDPressure]. "
    lab.kubelets.set_free("node-1")
    lab.advance(280_000)
    assert condition_of(lab, "node-1", "PIDPressure")["status"] == "True"
    lab.advance(50_000)
    found = condition_of(lab, "node-1", "PIDPressure")
    assert (found["status"], found["reason"]) == ("False", "KubeletHasSufficientPID")
    assert taints_of(lab, "node-1") == set()
    add(lab, "later")
    lab.advance(5_000)
    assert status_of(lab, "later")["phase"] == "Running"


@pytest.mark.parametrize("text", ["lots", "150%", "-3"])
def test_a_threshold_that_cannot_be_is_refused(lab, text):
    with pytest.raises(ThresholdError):
        lab.kubelets.set_hard_pids("node-1", text)
