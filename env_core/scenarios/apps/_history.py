"""What an ordinary past leaves behind: releases, a process that hung once, a mistyped image, a finished job, neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.scenarios import loader
from env_core.scenarios._app import Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY, wait_healthy
from env_core.verify.data import write

_PARTS = "apps/_parts"
MINUTE_MS = 60_000


def fill(cluster: Cluster, workloads: Iterable[Workload]) -> None:
    """Let the databases hold what they are said to hold.

    Raises:
        RuntimeError: if one takes nothing; a base world must work.
    """
    for known in workloads:
        why = write(cluster, known.database, known.records) if known.records else ""
        if why:
            raise RuntimeError(f"{known.name} takes no records: {why}")


def release(cluster: Cluster, workloads: Sequence[Workload]) -> None:
    """Let the pipeline roll workloads to their present image, one after the other."""
    delivery = cluster.client(DELIVERY)
    for known in workloads:
        change = {
            "metadata": {"annotations": {"kubernetes.io/change-cause": f"release {known.tag}"}},
            "spec": {"template": {"spec": {"containers": [{"name": known.container, "image": known.image}]}}},
        }
        delivery.patch("deployments", known.namespace, known.name, change, STRATEGIC_PATCH)
        wait_healthy(cluster, known.namespace)


def hang_once(cluster: Cluster, known: Workload) -> None:
    """Let the first pod of a workload hang; its liveness probe sees to it, and a restart stays on record."""
    pods = [
        pod for pod in cluster.store.list("pods", known.namespace)
        if known.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]  # fmt: skip
    cluster.kubelets.hang(known.namespace, pods[0]["metadata"]["name"], known.container)
    cluster.advance(2 * MINUTE_MS)


def mistype_once(cluster: Cluster, namespace: str, image: str) -> None:
    """Let a colleague start a pod with an image that nobody pushed, and remove it: its events stay a while."""
    colleague = cluster.client(COLLEAGUE)
    container = {"name": "shell", "image": image, "command": ["sleep", "600"], "stdin": True}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "debug-shell", "namespace": namespace, "labels": {"run": "debug-shell"}},
        "spec": {"containers": [container], "restartPolicy": "Never"},
    }
    colleague.create("pods", namespace, pod)
    cluster.advance(40_000)
    colleague.delete("pods", namespace, "debug-shell")
    cluster.advance(5_000)


def neighbour(cluster: Cluster, namespace: str, team: str) -> None:
    """Add a namespace of another team, with a workload nobody complains about and one that is switched off."""
    values = {"namespace": namespace, "team": team}
    loader.create_filled(cluster.client(), f"{_PARTS}/neighbour.yaml", values)
    wait_healthy(cluster, namespace)
