"""The platform under every application: nodes, DNS, the ingress controller, the on-call engineer's rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from env_core.apiserver.request import Identity
from env_core.cluster import Cluster
from env_core.scenarios import loader
from env_core.world import Object

ON_CALL = Identity("sre", ("on-call", "system:authenticated"))
"""The agent."""

DELIVERY = Identity("delivery-bot", ("on-call", "system:authenticated"))
"""The pipeline whose rollouts everybody sees."""

COLLEAGUE = Identity("m.okafor", ("on-call", "system:authenticated"))
"""A teammate."""

HEALTHY_TIMEOUT_MS = 180_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine that joins the cluster."""

    name: str
    zone: str
    cpu: str = "4"
    memory: str = "16Gi"
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()


NODES = tuple(Node(name=f"node-{letter}", zone=f"zone-{letter}") for letter in "abc")


def with_platform(seed: int, nodes: Sequence[Node] = NODES) -> Cluster:
    """Return a cluster with its nodes and platform workloads, all of them healthy."""
    cluster = Cluster(seed=seed)
    cluster.boot()
    for node in nodes:
        labels = {"topology.kubernetes.io/zone": node.zone, **node.labels}
        cluster.kubelets.join(node.name, cpu=node.cpu, memory=node.memory, labels=labels, taints=node.taints)
    cluster.advance(2_000)
    loader.apply(cluster.client(), "platform")
    wait_healthy(cluster, "kube-system")
    return cluster


def wait_healthy(cluster: Cluster, namespace: str) -> None:
    """Let time pass until every Deployment and StatefulSet of a namespace is rolled out.

    Raises:
        RuntimeError: if that takes longer than three minutes; a base world must come up.
    """

    def is_healthy() -> bool:
        return all(
            entry.get("status", {}).get("readyReplicas", 0) >= entry["spec"].get("replicas", 1)
            and entry.get("status", {}).get("observedGeneration", 0) >= entry["metadata"].get("generation", 0)
            and entry.get("status", {}).get("updatedReplicas", 0) >= entry["spec"].get("replicas", 1)
            for resource in ("deployments.apps", "statefulsets.apps")
            for entry in cluster.store.list(resource, namespace)
        )

    if not cluster.advance_until(is_healthy, HEALTHY_TIMEOUT_MS):
        pods = [
            (pod["metadata"]["name"], pod.get("status", {}).get("phase"))
            for pod in cluster.store.list("pods", namespace)
        ]
        raise RuntimeError(f"the workloads of {namespace} did not become healthy: {pods}")
    cluster.settle()
