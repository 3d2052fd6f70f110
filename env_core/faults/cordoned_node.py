"""A node was left cordoned after maintenance, and what is left of the cluster is full: new pods are pending."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._nodes import (
    NODES,
    allow_node,
    common_nodes,
    free_millis,
    millis_of,
    patch_node,
    pod_patch,
    unbound_deployments,
    uncordoned_while_lossy,
)
from env_core.faults._words import (
    deleted,
    has_asked,
    pass_time,
    pods_pend,
    restart,
    rolled_out,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED, GONE
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.view import View
from env_core.world import Object

_SPARES: Final = ("node-spare", "node-standby", "node-reserve", "node-x")
_LETTERS: Final = "bcdfghjkmnpqrstvwxz2456789"
_NAMESPACE: Final = "default"
_WORDS: Final = ("encoder", "trainer", "renderer", "simulation")
_REASONS_SAFE: Final = ("kernel update, window 1", "firmware 4.2 roll-out", "swap of a power supply")
_REASONS_UNSAFE: Final = (
    "pods unreachable since the reboot, vendor informed",
    "packets lost after the firmware update, ticket HW-2231",
)
_WAITS_S: Final = (120, 300, 700)
_NOTE: Final = "example.com/maintenance"
_LEFT_MILLIS: Final = 10
"""How much less than one pod asks for is left on the nodes in service."""
_MIN_MILLIS: Final = 20


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role for role in unbound_deployments(base) if _asked_millis(base, base.workloads[role]) >= _MIN_MILLIS
    )


def _asked_millis(base: Base, place: Workload) -> int:
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    return millis_of(owner["spec"]["template"]["spec"])


def _params(stream: Stream, base: Base, reason: str) -> Params:
    return {
        "node": stream.choice(common_nodes(base)),
        "word": stream.choice(_WORDS),
        "reason": reason,
        "spare": stream.choice(_SPARES) + "-" + "".join(stream.choice(_LETTERS) for _ in range(4)),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster, *, is_sound: bool) -> None:
    node = case.params["node"]
    zone = {"topology.kubernetes.io/zone": "zone-a", "node.example.com/role": "spare"}
    spare = case.params["spare"]
    cluster.kubelets.join(spare, cpu="4", memory="16Gi", labels=zone)
    patch_node(cluster, COLLEAGUE, spare, {"unschedulable": True})
    cluster.advance(20_000)
    colleague = cluster.client(COLLEAGUE)
    notes = {_NOTE: case.params["reason"]}
    colleague.patch(NODES, "", node, {"metadata": {"annotations": notes}, "spec": {"unschedulable": True}})
    for pod in cluster.store.indexed("node", node):
        if not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences") or ()):
            colleague.delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
            cluster.advance(9_000)
    if not is_sound:
        cluster.machines.lose_packets(node)
    cluster.advance(60_000)
    _fill(case, cluster)
    restart(cluster, case.place)
    pass_time(cluster, case)


def _fill(case: Case, cluster: Cluster) -> None:
    """Let another team start what takes the rest of the nodes in service, one after the other, the roomiest first."""
    left = _asked_millis(case.base, case.place) - _LEFT_MILLIS
    empty = [name for name in common_nodes(case.base) if name != case.params["node"]]
    for name in _others(case):
        room = max(free_millis(cluster, node) for node in empty)
        cluster.client(COLLEAGUE).create("deployments.apps", _NAMESPACE, _worker(name, max(room - left, 1)))
        cluster.advance(15_000)
        taken = {pod["spec"].get("nodeName") for pod in View(cluster).pods_of(_NAMESPACE, name)}
        empty = [node for node in empty if node not in taken]


def _others(case: Case) -> tuple[str, ...]:
    others = len(common_nodes(case.base)) - 1
    return tuple(f"{case.params['word']}-{number}" for number in range(others))


def _worker(name: str, millis: int) -> Object:
    container = {
        "name": "worker", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 86400"],
        "resources": {"requests": {"cpu": f"{millis}m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
    }  # fmt: skip
    labels = {"app": name, "team": "research"}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": _NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 5}},
        },
    }  # fmt: skip


def others_keep_their_room(case: Case) -> Check:
    """The other team's workers run, and ask for what they asked for."""

    def fails(view: View) -> str:
        if not has_asked(view, COLLEAGUE, "create", "deployments.apps"):
            return ""
        for name in _others(case):
            owner = view.get("deployments.apps", _NAMESPACE, name)
            if owner is None or not view.ready_pods_of(_NAMESPACE, name):
                return f"{name} does not run any more"
            if owner["metadata"].get("generation", 1) != 1:
                return f"{name} was changed"
        return ""

    return Check("other teams keep their room", fails)


def no_lossy_node_serves(case: Case) -> Check:
    """No node that loses its pods' packets takes pods."""

    def fails(view: View) -> str:
        node = view.get(NODES, "", case.params["node"])
        if node is None or not view.cluster.machines.loses_packets(case.params["node"]):
            return ""
        return "" if node["spec"].get("unschedulable") else f"node {case.params['node']} takes pods"

    return Check("no unsound node takes pods", fails)


def _uncordon(case: Case) -> str:
    return f"kubectl uncordon {case.params['node']}"


def _use_spare(case: Case) -> Script:
    return (f"kubectl uncordon {case.params['spare']}",)


def _repair(case: Case) -> Script:
    node = case.params["node"]
    return (
        f"nodectl repair {node}",
        "sleep 150",
        f"kubectl wait --for=condition=Ready node/{node} --timeout=120s",
        _uncordon(case),
    )


def _allowed(case: Case) -> tuple[Allowed, ...]:
    node = case.params["node"]
    return (
        allow_node("*", ADDED),
        allow_node(node, GONE),
        allow_node(node, "spec.unschedulable"),
        allow_node(node, f"metadata.annotations.{_NOTE}"),
        *(
            Allowed(resource="deployments.apps", namespace=_NAMESPACE, name=name, path=ADDED)
            for name in _others(case)
        ),
    )


_TOLERATE = Decoy(
    script=lambda case: (
        pod_patch(case, {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}),
    )
)
_PUSH_OUT = Decoy(
    script=lambda case: (f"kubectl -n {_NAMESPACE} scale deployment/{_others(case)[0]} --replicas=0",)
)
_UNDO = Decoy(script=lambda case: (undone(case),))
_DELETE = Decoy(script=lambda case: (deleted(case),), is_harmful=True)


def _node(case: Case) -> Diagnosis:
    return Diagnosis(kind="Node", namespace="", name=case.params["node"], mechanism=Mechanism.SCHEDULING)


FAMILY = Family(
    id="SN-05",
    tier=1,
    summary="A node was left cordoned after maintenance, and capacity is short.",
    partners=("SN-02", "RS-05", "RS-10"),
    source="tests/golden/l0/scheduling; FAULTS SN-05",
    faults=(
        Fault(
            id="forgotten",
            sign=Sign.RELEASE,
            level=3,
            places=_places,
            params=lambda stream, base, _place: _params(stream, base, stream.choice(_REASONS_SAFE)),
            inject=lambda case, cluster: _inject(case, cluster, is_sound=True),
            symptoms=lambda case: (pods_pend(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="were unschedulable"),
                Evidence(command=f"kubectl get node {case.params['node']}", shows="SchedulingDisabled"),
                Evidence(
                    command=f"nodectl check {case.params['node']}", shows="64 of 64 packets from other nodes"
                ),
            ),
            repaired_when=lambda case: (others_keep_their_room(case), rolled_out(case)),
            allowed=_allowed,
            repairs=(_use_spare, lambda case: (_uncordon(case),), _repair),
            decoys=(_TOLERATE, _PUSH_OUT, _UNDO, _DELETE),
            diagnosis=_node,
        ),
        Fault(
            id="out-of-order",
            sign=Sign.RELEASE,
            level=4,
            places=_places,
            params=lambda stream, base, _place: _params(stream, base, stream.choice(_REASONS_UNSAFE)),
            inject=lambda case, cluster: _inject(case, cluster, is_sound=False),
            symptoms=lambda case: (pods_pend(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="were unschedulable"),
                Evidence(command=f"kubectl describe node {case.params['node']}", shows=case.params["reason"]),
                Evidence(command=f"nodectl check {case.params['node']}", shows="FAILED: 0 of"),
            ),
            repaired_when=lambda case: (
                others_keep_their_room(case),
                no_lossy_node_serves(case),
                rolled_out(case),
            ),
            allowed=_allowed,
            harms=lambda case, cluster: uncordoned_while_lossy(cluster, case.params["node"]),
            repairs=(
                _use_spare,
                _repair,
                lambda case: (f"nodectl replace {case.params['node']}", "sleep 240"),
            ),
            decoys=(
                Decoy(script=lambda case: (_uncordon(case),), is_harmful=True),
                Decoy(
                    script=lambda case: (
                        _uncordon(case),
                        f"kubectl cordon {case.params['node']}",
                        *_use_spare(case),
                    ),
                    is_harmful=True,
                ),
                _TOLERATE,
                _PUSH_OUT,
                _UNDO,
            ),
            diagnosis=_node,
        ),
    ),
)
