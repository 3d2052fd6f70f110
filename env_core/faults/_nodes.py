"""What families about nodes share: which nodes there are, what is done to them, and what must hold of them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from env_core.apiserver.request import Identity
from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.faults._words import owner_of
from env_core.objects.conditions import is_pod_ready, status_of
from env_core.objects.quantity import to_milli
from env_core.scenarios._app import Base, Workload
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.view import View
from env_core.world import Object

NODES = "nodes"
_OF_CONDITIONS = "node.kubernetes.io/"
"""The prefix of taints that come and go with a node's health."""


# Reading


def taints_of(node: Object) -> list[Object]:
    """Return the taints that somebody put on a node."""
    return [
        taint for taint in node["spec"].get("taints") or () if not taint["key"].startswith(_OF_CONDITIONS)
    ]


def common_nodes(base: Base) -> tuple[str, ...]:
    """Return the names of the nodes that take any pod, sorted."""
    return tuple(node["metadata"]["name"] for node in base.cluster.store.list(NODES) if not taints_of(node))


def unbound_deployments(base: Base) -> tuple[str, ...]:
    """Return the roles of Deployments that may run on any node: without volumes of their own or a choice of nodes."""
    return tuple(
        role
        for role, workload in base.workloads.items()
        if workload.resource == "deployments.apps" and not workload.claims and not _chooses(base, workload)
    )


def _chooses(base: Base, place: Workload) -> bool:
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    spec = owner["spec"]["template"]["spec"]
    return bool(spec.get("nodeSelector") or spec.get("affinity"))


def reached_nodes(base: Base, place: Workload) -> tuple[str, ...]:
    """Return the common nodes with ready pods of a workload and none of the ingress controller, sorted."""
    view = View(base.cluster)
    gates = {
        pod["spec"].get("nodeName")
        for pod in view.list("pods", "kube-system")
        if (pod["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == "traefik"
    }
    mine = {
        pod["spec"].get("nodeName")
        for pod in view.list("pods", place.namespace)
        if is_pod_ready(pod) and place.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    }
    return tuple(name for name in common_nodes(base) if name in mine - gates)


def free_millis(cluster: Cluster, node: str) -> int:
    """Return how much CPU of a node no pod has asked for, in thousandths of a core."""
    found = cluster.store.get(NODES, "", node)
    assert found is not None
    used = sum(
        millis_of(pod["spec"])
        for pod in cluster.store.indexed("node", node)
        if (pod.get("status") or {}).get("phase") not in ("Failed", "Succeeded")
    )
    return to_milli(found["status"]["allocatable"]["cpu"]) - used


def millis_of(spec: Object) -> int:
    """Return the CPU that a pod with a spec asks for, in thousandths of a core."""
    return sum(
        to_milli(str(((each.get("resources") or {}).get("requests") or {}).get("cpu", "0")))
        for each in spec["containers"]
    )


# Edits


def patch_node(cluster: Cluster, who: Identity, name: str, spec: Mapping[str, object]) -> None:
    """Change fields of a node's spec, as kubectl does."""
    cluster.client(who).patch(NODES, "", name, {"spec": dict(spec)})


def allow_node(name: str, path: str) -> Allowed:
    """Return a part of a node that may change."""
    return Allowed(resource=NODES, namespace="", name=name, path=path)


def taint_arguments(taint: Mapping[str, str]) -> str:
    """Return a taint as `kubectl taint` takes it."""
    return f"{taint['key']}={taint['value']}:{taint['effect']}"


def pod_patch(case: Case, fields: Mapping[str, object]) -> str:
    """Return the command that changes fields of the pods that the broken workload makes."""
    body = json.dumps({"spec": {"template": {"spec": dict(fields)}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} --type=merge -p '{body}'"


# Goals


def nodes_in_service(case: Case, node: str) -> Check:
    """As many sound nodes as before take any pod, and on none that is unsound does a pod of the application serve."""
    wanted = len(common_nodes(case.base))

    def fails(view: View) -> str:
        machines = view.cluster.machines
        sound = 0
        for each in view.list(NODES, ""):
            name = each["metadata"]["name"]
            if machines.loses_packets(name):
                if any(is_pod_ready(pod) for pod in _pods_on(view, case, name)):
                    return f"pods on node {name} count as ready, and nobody reaches them"
            elif (
                not taints_of(each)
                and not each["spec"].get("unschedulable")
                and status_of(each, "Ready") == "True"
            ):
                sound += 1
        if sound < wanted:
            return f"{sound} of {wanted} nodes take pods and are sound; {node} is not among them"
        return ""

    return Check("nodes in service are sound", fails)


def _pods_on(view: View, case: Case, node: str) -> list[Object]:
    return [
        pod
        for namespace in case.base.namespaces
        for pod in view.list("pods", namespace)
        if pod["spec"].get("nodeName") == node
    ]


def uncordoned_while_lossy(cluster: Cluster, node: str) -> list[str]:
    """Return that a node was put into service while it lost its pods' packets, also when that was undone."""
    mended_ms = cluster.machines.mended_ms(node)
    if mended_ms is None and not cluster.machines.loses_packets(node):
        return []
    stamps = cluster.store.stamps()
    for event in cluster.store.kept():
        if event.ref.resource != NODES or event.ref.name != node or event.type != "MODIFIED":
            continue
        if (
            event.old is None
            or not event.old["spec"].get("unschedulable")
            or event.object["spec"].get("unschedulable")
        ):
            continue
        index = bisect_right(stamps, event.revision, key=lambda stamp: stamp[0]) - 1
        at_ms = stamps[index][1] if index >= 0 else 0
        if mended_ms is None or at_ms < mended_ms:
            return [f"put node {node} into service while nobody reached its pods"]
    return []


def nodes_take_pods(case: Case, names: Sequence[str]) -> Check:
    """The nodes are there, ready, not cordoned, and have no taints but those that they had."""

    def fails(view: View) -> str:
        for name in names:
            node = view.get(NODES, "", name)
            before = case.base.cluster.store.get(NODES, "", name)
            if node is None or before is None:
                return f"node {name} is gone"
            if status_of(node, "Ready") != "True":
                return f"node {name} is not ready"
            if node["spec"].get("unschedulable"):
                return f"node {name} is cordoned"
            if _set(taints_of(node)) != _set(taints_of(before)):
                return f"node {name} has other taints"
        return ""

    return Check("nodes take pods", fails)


def stays_dedicated(case: Case, name: str, pool: str, taint: Mapping[str, str]) -> Check:
    """A pool's node keeps out all pods but those of the broken workload, which tolerates no more than it needs.

    The pool is known by its label: with `pool`, label=value, the node has its taint, too.
    """
    key, _, value = pool.partition("=")

    def fails(view: View) -> str:
        node = view.get(NODES, "", name)
        if node is None:
            return f"node {name} is gone"
        is_member = (node["metadata"].get("labels") or {}).get(key) == value
        if is_member and not _set((taint,)) <= _set(taints_of(node)):
            return f"node {name} has lost {taint_arguments(taint)}"
        before = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
        assert before is not None
        known = before["spec"]["template"]["spec"].get("tolerations") or ()
        for entry in owner_of(view, case)["spec"]["template"]["spec"].get("tolerations") or ():
            if entry not in known and entry.get("key") != taint["key"]:
                return f"{case.name} tolerates {entry.get('key') or 'everything'}"
        return ""

    return Check(f"node {name} stays dedicated", fails)


def _set(taints: Iterable[Mapping[str, str]]) -> set[tuple[str, str, str]]:
    return {(taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints}
