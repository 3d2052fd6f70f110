"""Clusters with many pods, for the rows whose cost might grow with them."""

from __future__ import annotations

from functools import lru_cache

from env_core.cluster import Cluster
from env_core.scenarios.platform import with_platform
from env_core.world import Object

NAMESPACE = "crowd"
_NAMESPACE_OF_THE_OTHERS = "others"
_PODS_A_NODE = 100
_REPLICAS = 4


def _deployment(namespace: str, name: str, replicas: int) -> Object:
    labels = {"app": name}
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "resources": {"requests": {"cpu": "5m", "memory": "8Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def _service(namespace: str, name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def _populate(cluster: Cluster, namespace: str, pods: int) -> None:
    admin = cluster.client()
    admin.create("namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for number in range(pods // _REPLICAS):
        name = f"app-{number:03}"
        admin.create("services", namespace, _service(namespace, name))
        admin.create("deployments.apps", namespace, _deployment(namespace, name, _REPLICAS))


@lru_cache(maxsize=4)
def crowd(pods: int, others: int = 0) -> Cluster:
    """Return a settled cluster with `pods` running pods in one namespace and `others` in another; fork it.

    Raises:
        RuntimeError: if not all of them run.
    """
    cluster = with_platform(5)
    for number in range((pods + others) // _PODS_A_NODE):
        cluster.kubelets.join(f"crowd-{number:03}", cpu="8", memory="32Gi")
    cluster.advance(2_000)
    for namespace, count in ((NAMESPACE, pods), (_NAMESPACE_OF_THE_OTHERS, others)):
        if count:
            _populate(cluster, namespace, count)
    cluster.settle(10_000, 600_000)
    cluster.advance(120_000)
    found = [*cluster.store.list("pods", NAMESPACE), *cluster.store.list("pods", _NAMESPACE_OF_THE_OTHERS)]
    running = sum(pod.get("status", {}).get("phase") == "Running" for pod in found)
    if running != pods + others:
        raise RuntimeError(f"{running} of {pods + others} pods run")
    return cluster
