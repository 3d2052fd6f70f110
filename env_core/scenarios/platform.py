"""The platform under every application: nodes, DNS, the ingress controller, the on-call engineer's rights."""

from __future__ import annotations

from env_core.apiserver.request import Identity
from env_core.cluster import Cluster
from env_core.scenarios import loader

ON_CALL = Identity("sre", ("on-call", "system:authenticated"))
"""The agent."""

DELIVERY = Identity("delivery-bot", ("on-call", "system:authenticated"))
"""The pipeline whose rollouts everybody sees."""

COLLEAGUE = Identity("m.okafor", ("on-call", "system:authenticated"))
"""A teammate."""

_NODES = (("node-a", "4", "16Gi"), ("node-b", "4", "16Gi"), ("node-c", "4", "16Gi"))
HEALTHY_TIMEOUT_MS = 180_000


def with_platform(seed: int) -> Cluster:
    """Return a cluster with its nodes and platform workloads, all of them healthy."""
    cluster = Cluster(seed=seed)
    cluster.boot()
    for name, cpu, memory in _NODES:
        cluster.kubelets.join(
            name, cpu=cpu, memory=memory, labels={"topology.kubernetes.io/zone": f"zone-{name[-1]}"}
        )
    cluster.advance(2_000)
    loader.apply(cluster.client(), "platform")
    wait_healthy(cluster, "kube-system")
    return cluster


def wait_healthy(cluster: Cluster, namespace: str) -> None:
    """Let time pass until every Deployment of a namespace is rolled out.

    Raises:
        RuntimeError: if that takes longer than three minutes; a base world must come up.
    """

    def is_healthy() -> bool:
        return all(
            entry.get("status", {}).get("readyReplicas", 0) >= entry["spec"].get("replicas", 1)
            and entry.get("status", {}).get("observedGeneration", 0) >= entry["metadata"].get("generation", 0)
            and entry.get("status", {}).get("updatedReplicas", 0) >= entry["spec"].get("replicas", 1)
            for entry in cluster.store.list("deployments.apps", namespace)
        )

    if not cluster.advance_until(is_healthy, HEALTHY_TIMEOUT_MS):
        pods = [
            (pod["metadata"]["name"], pod.get("status", {}).get("phase"))
            for pod in cluster.store.list("pods", namespace)
        ]
        raise RuntimeError(f"the workloads of {namespace} did not become healthy: {pods}")
    cluster.settle()
