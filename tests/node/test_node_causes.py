"""Physical causes of a node: what a client sees when it runs low, or its network, runtime or kubelet fails."""

from __future__ import annotations

from typing import Any

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import LogOptions
from env_core.node.thresholds import ThresholdError, configured
from tests.node.lab import CREATED_MS, SCRIPT, Lab

CONFIG = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
MIB = 1 << 20


@pytest.fixture
def lab() -> Lab:
    world = Lab(CREATED_MS)
    world.join("node-1", CONFIG)
    world.join("node-2", CONFIG)
    world.advance(12_000)
    return world


def add(lab: Lab, name: str, script: str = "{}", node: str = "node-1", **container: Any) -> None:
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": {SCRIPT: script}},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "app", "image": "registry.example.com/present/app:1.0", **container}],
            },
        }
    )


def status_of(lab: Lab, name: str) -> Any:
    pod = lab.store.get("pods", "default", name)
    assert pod is not None
    return pod["status"]


def condition_of(lab: Lab, node: str, kind: str) -> Any:
    found = lab.store.get("nodes", "", node)
    assert found is not None
    return next(each for each in found["status"]["conditions"] if each["type"] == kind)


def taints_of(lab: Lab, node: str) -> set[tuple[str, str]]:
    found = lab.store.get("nodes", "", node)
    assert found is not None
    return {(each["key"], each["effect"]) for each in found["spec"].get("taints") or ()}


def test_a_node_that_runs_low_of_memory_ends_those_over_their_requests_first(lab):
    using = '{{"containers": {{"app": {{"memMi": {}, "term": {{"code": 143}}}}}}}}'
    add(lab, "within", using.format(100), resources={"requests": {"memory": "512Mi"}})
    add(lab, "over", using.format(900), resources={"requests": {"memory": "100Mi"}})
    lab.advance(5_000)
    lab.is_watching = True
    lab.kubelets.set_free("node-1", memory_bytes=50 * MIB)
    lab.advance(12_000)
    evicted = [
        change.object["involvedObject"]["name"]
        for _, change in lab.changes
        if change.ref.resource == "events" and change.object["reason"] == "Evicted"
    ]
    assert evicted == ["over", "within"]
    assert status_of(lab, "over")["reason"] == "Evicted"
    assert status_of(lab, "over")["message"] == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container app was using "
        "900Mi, request is 100Mi, has larger consumption of memory. "
    )
    lab.advance(10_000)
    assert condition_of(lab, "node-1", "MemoryPressure")["reason"] == "KubeletHasInsufficientMemory"
    assert ("node.kubernetes.io/memory-pressure", "NoSchedule") in taints_of(lab, "node-1")


def test_pressure_ends_five_minutes_after_it_was_last_seen(lab):
    lab.kubelets.set_free("node-1", disk_bytes=8 << 30)
    lab.advance(25_000)
    assert condition_of(lab, "node-1", "DiskPressure")["status"] == "True"
    add(lab, "late")
    lab.advance(1_000)
    assert status_of(lab, "late")["message"] == "Pod was rejected: The node had condition: [DiskPressure]. "
    lab.kubelets.set_free("node-1")
    lab.advance(280_000)
    assert condition_of(lab, "node-1", "DiskPressure")["status"] == "True"
    lab.advance(50_000)
    assert condition_of(lab, "node-1", "DiskPressure")["status"] == "False"
    handled = lab.loop.handled
    lab.advance(3_600_000)
    assert lab.loop.handled - handled < 100


def test_pods_get_no_sandbox_while_the_network_is_not_ready(lab):
    lab.kubelets.set_network_problem("node-1")
    add(lab, "web")
    lab.advance(15_000)
    assert status_of(lab, "web")["phase"] == "Pending"
    assert condition_of(lab, "node-1", "Ready")["message"] == (
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
        "message:Network plugin returns error: cni plugin not initialized"
    )
    lab.kubelets.set_network_problem("node-1", "")
    lab.advance(12_000)
    assert status_of(lab, "web")["phase"] == "Running"
    assert condition_of(lab, "node-1", "Ready")["status"] == "True"


def test_a_stopped_kubelet_leaves_its_containers_alone(lab):
    add(lab, "web")
    lab.advance(5_000)
    uid = lab.store.get("pods", "default", "web")["metadata"]["uid"]
    lab.kubelets.stop_kubelet("node-1")
    lab.advance(70_000)
    assert lab.runtime.run(uid, "app").is_running(lab.now_ms)
    assert condition_of(lab, "node-1", "Ready")["status"] == "Unknown"
    with pytest.raises(StatusError) as refused:
        lab.admin.logs("default", "web", LogOptions())
    assert str(refused.value).endswith(":10250: connect: connection refused")
    lab.kubelets.start_node("node-1")
    lab.advance(12_000)
    assert condition_of(lab, "node-1", "Ready")["status"] == "True"
    assert status_of(lab, "web")["containerStatuses"][0]["restartCount"] == 0


def test_local_storage_beyond_its_limit_ends_a_pod(lab):
    script = '{"containers": {"app": {"diskMi": 300, "term": {"code": 143}}}}'
    add(lab, "writer", script, resources={"limits": {"ephemeral-storage": "100Mi"}})
    lab.advance(15_000)
    status = status_of(lab, "writer")
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert (
        status["message"] == "Pod ephemeral local storage usage exceeds the total limit of containers 100Mi. "
    )
    assert "DisruptionTarget" not in {each["type"] for each in status["conditions"]}


def test_a_resize_changes_what_a_running_container_has(lab):
    add(lab, "web", resources={"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}})
    lab.advance(5_000)
    resources = {"requests": {"cpu": "150m"}, "limits": {"cpu": "300m"}}
    patch = {"spec": {"containers": [{"name": "app", "resources": resources}]}}
    pod = lab.store.get("pods", "default", "web")
    lab.act(["resize", patch], pod)
    lab.advance(1_000)
    assert status_of(lab, "web")["containerStatuses"][0]["resources"] == {
        "limits": {"cpu": "300m"},
        "requests": {"cpu": "150m"},
    }
    assert lab.runtime.run(pod["metadata"]["uid"], "app").container.cpu_limit_millis == 300


def test_a_threshold_that_cannot_be_is_refused():
    with pytest.raises(ThresholdError, match="must be <= 100%: 150%"):
        configured({"memory.available": "150%"})


def test_a_node_whose_network_plugin_fails_makes_no_sandbox_until_it_works_again(lab):
    problem = 'failed to setup network for sandbox "$ID": plugin type="loopback" failed (add): no such file'
    lab.kubelets.set_sandbox_problem("node-1", problem)
    add(lab, "stuck")
    add(lab, "elsewhere", node="node-2")
    lab.advance(20_000)
    assert status_of(lab, "stuck")["phase"] == "Pending"
    assert status_of(lab, "elsewhere")["phase"] == "Running"
    events = [
        each for each in lab.store.list("events", "default") if each["reason"] == "FailedCreatePodSandBox"
    ]
    # Each try is a sandbox of its own, and the text tells its id.
    assert {each["involvedObject"]["name"] for each in events} == {"stuck"}
    assert all('plugin type="loopback" failed' in each["message"] for each in events)
    assert not any("$ID" in each["message"] for each in events)
    lab.kubelets.set_sandbox_problem("node-1", "")
    lab.advance(120_000)
    assert status_of(lab, "stuck")["phase"] == "Running"
