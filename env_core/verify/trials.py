"""What a repair must stand: each trial does to a fork what ordinary days do to a cluster, and the checks are asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.objects import selectors
from env_core.objects.conditions import is_pod_ready
from env_core.sim.timefmt import rfc3339
from env_core.world import Objects

_SOON = Options(grace_period_seconds=1)
OUTAGE_MS = 100_000
"""Longer than a usual liveness probe and a container's end take."""
WORKLOADS = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")


@dataclass(frozen=True, slots=True)
class Trial:
    """A named trial; `act` may raise nothing: what the API refuses it leaves undone.

    What it returns went wrong while it went on; nothing or "" when all was well.
    """

    name: str
    act: Callable[[Cluster], str | None]


class Owner(NamedTuple):
    """A workload."""

    resource: str
    namespace: str
    name: str


def churn(owners: Sequence[Owner]) -> Trial:
    """Return the trial that every pod which a workload selects is deleted, as an eviction would."""

    def act(cluster: Cluster) -> None:
        for owner in owners:
            for pod in _pods_of(cluster, owner):
                _try(cluster, "delete", "pods", owner.namespace, pod["metadata"]["name"])

    return Trial("churn", act)


def roll(owners: Sequence[Owner]) -> Trial:
    """Return the trial that the workloads are rolled out anew."""

    def act(cluster: Cluster) -> None:
        stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
        patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
        for owner in owners:
            if owner.resource in WORKLOADS:
                _try(cluster, "patch", *owner, patch)

    return Trial("roll", act)


def drain(node: str) -> Trial:
    """Return the trial that a node is cordoned and its pods are evicted, but for those of daemon sets."""

    def act(cluster: Cluster) -> None:
        _try(cluster, "patch", "nodes", "", node, {"spec": {"unschedulable": True}})
        for pod in cluster.store.list("pods"):
            owners = pod["metadata"].get("ownerReferences") or ()
            if pod["spec"].get("nodeName") == node and not any(
                owner["kind"] in ("DaemonSet", "Node") for owner in owners
            ):
                _try(cluster, "delete", "pods", pod["metadata"]["namespace"], pod["metadata"]["name"])

    return Trial("drain", act)


def passes(duration_ms: int) -> Trial:
    """Return the trial that time passes: past the next trigger of what broke."""
    return Trial("time", lambda cluster: cluster.advance(duration_ms))


def hang(owner: Owner, container: str, within_ms: int) -> Trial:
    """Return the trial that a container's process hangs in every pod of a workload: kubelets must have restarted it in time."""

    def act(cluster: Cluster) -> str:
        for pod in _pods_of(cluster, owner):
            run = cluster.runtime.run(pod["metadata"]["uid"], container)
            if run is not None and run.is_running(cluster.now_ms):
                cluster.kubelets.hang(owner.namespace, pod["metadata"]["name"], container)
        cluster.advance(within_ms)
        for pod in _pods_of(cluster, owner):
            run = cluster.runtime.run(pod["metadata"]["uid"], container)
            if run is not None and run.is_hung and run.is_running(cluster.now_ms):
                return f"pod {pod['metadata']['name']} hangs, and nobody restarts it"
        return ""

    return Trial("hang", act)


def outage(owner: Owner, dependency: Owner, container: str) -> Trial:
    """Return the trial that a dependency's container hangs for a while: a workload's pods get unready, and none is restarted.

    In the end the dependency's pods are deleted, as whoever is called would do.
    """

    def act(cluster: Cluster) -> str:
        before = _restarts(cluster, owner)
        for pod in _pods_of(cluster, dependency):
            cluster.kubelets.hang(dependency.namespace, pod["metadata"]["name"], container)
        cluster.advance(OUTAGE_MS)
        why = _why_not_waiting(cluster, owner, before)
        for pod in _pods_of(cluster, dependency):
            _try(cluster, "delete", "pods", dependency.namespace, pod["metadata"]["name"])
        return why

    return Trial("outage", act)


def _why_not_waiting(cluster: Cluster, owner: Owner, before: Mapping[str, int]) -> str:
    for uid, restarts in sorted(_restarts(cluster, owner).items()):
        if restarts > before.get(uid, 0):
            return f"{owner.name} is restarted when what it depends on is out"
    if any(is_pod_ready(pod) for pod in _pods_of(cluster, owner)):
        return f"{owner.name} is ready though what it depends on is out"
    return ""


def _restarts(cluster: Cluster, owner: Owner) -> dict[str, int]:
    return {
        pod["metadata"]["uid"]: sum(
            status.get("restartCount", 0) for status in pod["status"].get("containerStatuses") or ()
        )
        for pod in _pods_of(cluster, owner)
    }


def _pods_of(cluster: Cluster, owner: Owner) -> Objects:
    found = cluster.store.get(*owner)
    if found is None or "selector" not in found["spec"]:
        return []
    selector = selectors.from_object(found["spec"]["selector"])
    return [
        pod
        for pod in cluster.store.list("pods", owner.namespace)
        if selector.matches(pod["metadata"].get("labels") or {})
    ]


def _try(cluster: Cluster, verb: str, resource: str, namespace: str, name: str, body: object = None) -> None:
    admin = cluster.client()
    try:
        if verb == "delete":
            admin.delete(resource, namespace, name, _SOON)
        else:
            admin.patch(resource, namespace, name, body)
    except StatusError:
        # What the cluster refuses (a webhook, a budget) stays; the checks will tell.
        return
