"""A pod template names its node, and there is no such node: its pods wait for a kubelet that nobody runs, and are collected."""

from __future__ import annotations

import json
from typing import Final

from env_core.apiserver.request import STRATEGIC_PATCH, Identity
from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._nodes import NODES, allow_node, common_nodes, pod_patch, unbound_deployments
from env_core.faults._words import (
    behind_services,
    deleted,
    has_asked,
    no_endpoints,
    pass_time,
    restarted,
    rolled_out,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.scope import Allowed
from env_core.verify.trials import Trial, drain
from env_core.verify.view import View

_LABELS: Final = ("node-pool", "example.com/pool", "node.example.com/class")
"""By which of their labels pools are known."""
_POOLS: Final = ("interactive", "latency", "frontline", "steady", "fastlane")
_NUMBERS: Final = ("1", "01", "2", "02", "a", "0")
"""How people number the machines of a pool."""
_HOSTNAME: Final = "kubernetes.io/hostname"
_WAITS_S: Final = (120, 300, 700)
_BETWEEN_S: Final = (60, 180, 420)


def _places_reached(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if role in unbound_deployments(base))


def _params(stream: Stream, base: Base, _place: Workload) -> Params:
    pool = stream.choice(_POOLS)
    other = stream.choice(common_nodes(base))
    return {
        "label": stream.choice(_LABELS),
        "pool": pool,
        # All but one: several, so that one of them can be drained.
        "nodes": ",".join(name for name in common_nodes(base) if name != other),
        "absent": f"node-{pool}-{stream.choice(_NUMBERS)}",
        "between_s": str(stream.choice(_BETWEEN_S) + stream.below(30)),
        **waits(stream, _WAITS_S),
    }


def _members(case: Case) -> tuple[str, ...]:
    return tuple(case.params["nodes"].split(","))


# Edits


def _make_pool(case: Case, cluster: Cluster) -> None:
    for name in _members(case):
        labels = {case.params["label"]: case.params["pool"]}
        cluster.client(COLLEAGUE).patch(NODES, "", name, {"metadata": {"labels": labels}})
        cluster.advance(4_000)


def _pin(case: Case, cluster: Cluster, who: Identity) -> None:
    cause = {"kubernetes.io/change-cause": f"run on the {case.params['pool']} pool"}
    spec = {"nodeName": case.params["absent"]}
    patch = {"metadata": {"annotations": cause}, "spec": {"template": {"spec": spec}}}
    cluster.client(who).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)


def _between(case: Case, cluster: Cluster) -> None:
    cluster.advance(int(case.params["between_s"]) * 1_000)


def _inject_guessed(case: Case, cluster: Cluster) -> None:
    _make_pool(case, cluster)
    _between(case, cluster)
    _pin(case, cluster, DELIVERY)
    pass_time(cluster, case)


def _inject_retired(case: Case, cluster: Cluster) -> None:
    """Let the workload live on a machine of the pool until the platform's owners take that out of the cluster."""
    machine = case.params["absent"]
    labels = {"topology.kubernetes.io/zone": "zone-a", case.params["label"]: case.params["pool"]}
    cluster.kubelets.join(machine, cpu="8", memory="32Gi", labels=labels)
    _make_pool(case, cluster)
    _between(case, cluster)
    _pin(case, cluster, COLLEAGUE)
    _between(case, cluster)
    cluster.kubelets.stop_node(machine)
    cluster.client().delete(NODES, "", machine)
    pass_time(cluster, case)


# Symptoms, goals, trials


def pods_on_no_node(case: Case) -> Check:
    """Some pod of the workload is bound to a node that the cluster does not have."""

    def fails(view: View) -> str:
        for pod in view.pods_of(case.namespace, case.name):
            name = pod["spec"].get("nodeName")
            if name and view.get(NODES, "", name) is None:
                return ""
        return f"every pod of {case.name} has a node that exists, or none"

    return Check("pods are bound to an absent node", fails)


def pool_keeps_its_nodes(case: Case) -> Check:
    """The pool's label is on the nodes that its owners gave it, and on no other."""
    label, pool = case.params["label"], case.params["pool"]

    def fails(view: View) -> str:
        found = {
            node["metadata"]["name"]
            for node in view.list(NODES, "")
            if (node["metadata"].get("labels") or {}).get(label) == pool
        }
        wanted = set(_members(case)) if has_asked(view, COLLEAGUE, "patch", NODES) else set()
        if found != wanted:
            return f"the {pool} pool has {', '.join(sorted(found)) or 'no node'}"
        return ""

    return Check(f"the {pool} pool keeps its nodes", fails)


def _goals(case: Case) -> tuple[Check, ...]:
    return (pool_keeps_its_nodes(case), rolled_out(case))


def _drained(case: Case) -> Trial:
    """Return the trial that a node on which the workload runs by then is drained: its pods must find another one."""

    def act(cluster: Cluster) -> None:
        pods = View(cluster).ready_pods_of(case.namespace, case.name)
        for name in sorted({pod["spec"]["nodeName"] for pod in pods})[:1]:
            drain(name).act(cluster)

    return Trial("drain", act)


# Command lines


def _selecting(case: Case, label: str, value: str) -> str:
    return pod_patch(case, {"nodeName": None, "nodeSelector": {label: value}})


def _unpinned(case: Case) -> Script:
    return (pod_patch(case, {"nodeName": None}),)


def _in_pool(case: Case) -> Script:
    return (_selecting(case, case.params["label"], case.params["pool"]),)


def _with_affinity(case: Case) -> Script:
    of_pool = {"key": case.params["label"], "operator": "In", "values": [case.params["pool"]]}
    terms = [{"matchExpressions": [of_pool]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return (pod_patch(case, {"nodeName": None, "affinity": {"nodeAffinity": required}}),)


def _fake_node(case: Case) -> Script:
    labels = {_HOSTNAME: case.params["absent"], case.params["label"]: case.params["pool"]}
    manifest = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": case.params["absent"], "labels": labels},
    }
    return (f"kubectl apply -f - <<'EOF'\n{json.dumps(manifest)}\nEOF", "sleep 60")


def _renamed_label(case: Case) -> Script:
    return (f"kubectl label node {_members(case)[0]} {_HOSTNAME}={case.params['absent']} --overwrite",)


def _wider_pool(case: Case) -> Script:
    label = f"{case.params['label']}={case.params['pool']}"
    return (f"kubectl label nodes --all {label} --overwrite", *_in_pool(case))


def _scaled(case: Case, replicas: int) -> str:
    return f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={replicas}"


_DECOYS: Final = (
    Decoy(script=_fake_node),
    Decoy(script=_renamed_label),
    Decoy(script=_wider_pool),
    # One node for another: it serves until that one has to go, too.
    Decoy(script=lambda case: (pod_patch(case, {"nodeName": _members(case)[0]}),)),
    Decoy(script=lambda case: (_selecting(case, _HOSTNAME, _members(case)[0]),)),
    Decoy(script=lambda case: (_scaled(case, case.place.replicas + 2),)),
    Decoy(script=lambda case: (*_unpinned(case), _scaled(case, 0))),
    Decoy(script=lambda case: (restarted(case),)),
    Decoy(script=lambda case: (deleted(case),), is_harmful=True),
)
_REPAIRS: Final = (_unpinned, _in_pool, _with_affinity, lambda case: (undone(case),))


def _evidence(case: Case) -> tuple[Evidence, ...]:
    return (
        Evidence(command=f"kubectl -n {case.namespace} get pods -o wide", shows=case.params["absent"]),
        Evidence(
            command=f"kubectl get node {case.params['absent']}",
            shows=f'nodes "{case.params["absent"]}" not found',
        ),
        Evidence(
            command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
            shows=f"nodeName: {case.params['absent']}",
        ),
    )


def _allowed(case: Case) -> tuple[Allowed, ...]:
    return (
        *(allow_node(name, f"metadata.labels.{case.params['label']}") for name in _members(case)),
        case.allow("spec.template.spec.nodeSelector"),
        case.allow("spec.template.spec.affinity.nodeAffinity"),
    )


def _diagnosis(case: Case) -> Diagnosis:
    return Diagnosis(
        kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.SCHEDULING
    )


FAMILY = Family(
    id="SN-12",
    tier=2,
    summary="A pod template is pinned to the name of a node that does not exist.",
    partners=("SN-02", "SN-05", "RS-05"),
    source="k8s.io/kubernetes pkg/controller/podgc; tests/golden/l2/flows (node-delete); FAULTS SN-12",
    faults=(
        Fault(
            id="guessed-name",
            sign=Sign.RELEASE,
            level=2,
            places=unbound_deployments,
            params=_params,
            inject=_inject_guessed,
            symptoms=lambda case: (pods_on_no_node(case),),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=_allowed,
            repairs=_REPAIRS,
            decoys=_DECOYS,
            trials=lambda case: (_drained(case),),
            diagnosis=_diagnosis,
        ),
        Fault(
            id="retired-machine",
            sign=Sign.ERRORS,
            level=3,
            places=_places_reached,
            params=_params,
            inject=_inject_retired,
            symptoms=lambda case: (pods_on_no_node(case), no_endpoints(case), some_fail(case.entries)),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=_allowed,
            repairs=_REPAIRS,
            decoys=_DECOYS,
            trials=lambda case: (_drained(case),),
            diagnosis=_diagnosis,
        ),
    ),
)
