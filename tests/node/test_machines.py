"""Machines that lose their pods' packets: what shows, what does not, and what the platform's tool does about it."""

from __future__ import annotations

import pytest

from env_core.cluster import Cluster
from env_core.node.machines import REPAIRING, REPLACING, RUNNING, Refused
from env_core.objects.conditions import is_pod_ready, status_of
from env_core.programs import Request
from env_core.scenarios.apps import base
from env_core.scenarios.platform import ON_CALL
from env_core.tools.terminal import Terminal

CART = Request(path="/api/cart", host="shop.example.com", timeout_ms=3_000)


def _world() -> tuple[Cluster, str]:
    """Return the shop, and a node without the ingress controller."""
    cluster = base("shop", 0).cluster.fork()
    gates = {
        pod["spec"]["nodeName"]
        for pod in cluster.store.list("pods", "kube-system")
        if pod["metadata"]["labels"].get("app.kubernetes.io/name") == "traefik"
    }
    return cluster, next(name for name in ("node-a", "node-b", "node-c") if name not in gates)


def _answers(cluster: Cluster) -> list[str]:
    found = []
    for _ in range(12):
        reply = cluster.network.request_ingress(CART)
        found.append(reply.failure or str(reply.status))
        cluster.advance(1_000)
    return found


def test_requests_fail_while_node_and_pods_count_as_ready() -> None:
    cluster, node = _world()
    cluster.machines.lose_packets(node)
    cluster.advance(300_000)
    assert set(_answers(cluster)) != {"200"}
    found = cluster.store.get("nodes", "", node)
    assert found is not None
    assert status_of(found, "Ready") == "True"
    # Whoever asks a store whether it is ready notices; all others are asked within the machine.
    names = ("gateway", "payment", "search", "recommendation", "mailer", "queue")
    pods = [pod for pod in cluster.store.list("pods", "shop") if pod["metadata"]["labels"]["app"] in names]
    here = [pod for pod in pods if pod["spec"]["nodeName"] == node]
    assert here
    assert all(is_pod_ready(pod) for pod in here)
    assert "machines" not in str(found)


def test_pods_of_one_node_reach_each_other() -> None:
    cluster, node = _world()
    mine = [pod for pod in cluster.store.list("pods", "shop") if pod["spec"]["nodeName"] == node]
    ports = {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["ports"][0]["containerPort"] for pod in mine
    }
    cluster.machines.lose_packets(node)
    first, second = mine[0], mine[1]
    source = cluster.network.source_of_pod("shop", first["metadata"]["name"])
    assert source is not None
    port = ports[second["metadata"]["name"]]
    assert not cluster.network.connect(source, second["status"]["podIP"], port).failure
    other = next(pod for pod in cluster.store.list("pods", "shop") if pod["spec"]["nodeName"] != node)
    port = other["spec"]["containers"][0]["ports"][0]["containerPort"]
    assert cluster.network.connect(source, other["status"]["podIP"], port).failure == "timeout"


def test_a_node_in_service_is_neither_repaired_nor_replaced() -> None:
    cluster, node = _world()
    with pytest.raises(Refused, match="cordon and drain it first"):
        cluster.machines.repair(node)
    cluster.client().patch("nodes", "", node, {"spec": {"unschedulable": True}})
    with pytest.raises(Refused, match="still runs"):
        cluster.machines.replace(node)
    with pytest.raises(Refused, match="no machine"):
        cluster.machines.repair("node-z")


def _said(terminal: Terminal, line: str) -> str:
    output = terminal.run(line, lambda _argv: None, 600_000)
    return output.stdout + output.stderr


def test_repair_brings_the_node_back_and_replacement_brings_another() -> None:
    cluster, node = _world()
    cluster.machines.lose_packets(node)
    terminal = Terminal(cluster, ON_CALL, namespace="default", has_node_tool=True)
    assert "0 of 64" in _said(terminal, f"nodectl check {node}")
    _said(terminal, f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --timeout=300s")
    fork = cluster.fork()

    assert _said(terminal, f"nodectl repair {node}") == f"{node}: repair has begun\n"
    assert cluster.machines.state(node) == REPAIRING
    assert "is repairing" in _said(terminal, f"nodectl repair {node}")
    cluster.advance(150_000)
    assert cluster.machines.state(node) == RUNNING
    _said(terminal, f"kubectl uncordon {node}")
    cluster.advance(30_000)
    assert set(_answers(cluster)) == {"200"}
    assert "64 of 64" in _said(terminal, f"nodectl check {node}")

    elsewhere = terminal.fork(fork)
    assert _said(elsewhere, f"nodectl replace {node}") == f"{node}: retired; {node}-2 will take its place\n"
    assert fork.machines.state(node) == REPLACING
    fork.advance(240_000)
    assert fork.store.get("nodes", "", node) is None
    successor = fork.store.get("nodes", "", f"{node}-2")
    assert successor is not None
    assert status_of(successor, "Ready") == "True"
    before = base("shop", 0).cluster.store.get("nodes", "", node)
    assert before is not None
    zone = "topology.kubernetes.io/zone"
    assert successor["metadata"]["labels"][zone] == before["metadata"]["labels"][zone]
    assert set(_answers(fork)) == {"200"}


def test_the_tool_says_what_it_does_and_only_where_it_is_offered() -> None:
    cluster, node = _world()
    terminal = Terminal(cluster, ON_CALL, namespace="default", has_node_tool=True)
    assert "replace NODE" in _said(terminal, "nodectl --help")
    listed = _said(terminal, "nodectl list")
    assert listed.splitlines()[0].split() == ["NODE", "ZONE", "CPU", "MEMORY", "PODS", "MACHINE"]
    assert f"{node}   zone-" in listed
    assert "cannot make sense of 'explode now'" in _said(terminal, "nodectl explode now")
    assert "not found" in _said(Terminal(cluster, ON_CALL, namespace="default"), "nodectl list")
