"""Nodes have a taint that a workload does not tolerate: its new pods are pending."""

from __future__ import annotations

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._nodes import (
    NODES,
    allow_node,
    common_nodes,
    nodes_take_pods,
    patch_node,
    pod_patch,
    stays_dedicated,
    taint_arguments,
    unbound_deployments,
)
from env_core.faults._words import (
    pass_time,
    pods_pend,
    restart,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream

_STRAY = (
    ("maintenance-%d", "planned"),
    ("node.example.com/upgrade-%d", "in-progress"),
    ("patching-%d", "2026-01"),
    ("example.com/change-%d", "open"),
)
"""What an upgrade or a maintenance leaves behind when nobody takes it off again."""
_POOLS = ("interactive", "latency", "frontline", "reserved", "pinned")
_POOL = "node-pool"
"""The label by which pools are known."""
_SLIPS = ("missing", "value", "effect")
"""How a toleration goes wrong."""
_WAITS_S = (90, 240, 600)
_BETWEEN_S = (60, 180, 420)


# The stray taint


def _stray(stream: Stream, base: Base, _place: Workload) -> Params:
    key, value = stream.choice(_STRAY)
    return {
        "key": key % (1_000 + stream.below(9_000)),
        "value": value,
        "effect": "NoSchedule",
        "nodes": ",".join(common_nodes(base)),
        "between_s": str(stream.choice(_BETWEEN_S) + stream.below(30)),
        **waits(stream, _WAITS_S),
    }


def _nodes(case: Case) -> tuple[str, ...]:
    return tuple(case.params["nodes"].split(","))


def _taint(case: Case) -> dict[str, str]:
    return {field: case.params[field] for field in ("key", "value", "effect")}


def _inject_stray(case: Case, cluster: Cluster) -> None:
    for name in _nodes(case):
        patch_node(cluster, COLLEAGUE, name, {"taints": [_taint(case)]})
        cluster.advance(3_000)
    cluster.advance(int(case.params["between_s"]) * 1_000)
    restart(cluster, case.place)
    pass_time(cluster, case)


def _untaint(case: Case, *names: str) -> str:
    return f"kubectl taint nodes {' '.join(names)} {case.params['key']}:{case.params['effect']}-"


def _tolerate(case: Case, *entries: dict[str, str]) -> str:
    return pod_patch(case, {"tolerations": [*_tolerations(case), *entries]})


def _tolerations(case: Case) -> list[dict[str, str]]:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return list(owner["spec"]["template"]["spec"].get("tolerations") or ())


def _exact(case: Case) -> dict[str, str]:
    return {"operator": "Equal", **_taint(case)}


def _in_key(case: Case) -> dict[str, str]:
    return {"key": case.params["key"], "operator": "Exists"}


# The dedicated pool


def _dedicated(stream: Stream, base: Base, _place: Workload) -> Params:
    pool = stream.choice(_POOLS)
    return {
        "key": stream.choice(("dedicated", "example.com/pool", "pool")),
        "value": pool,
        "effect": "NoSchedule",
        "nodes": stream.choice(common_nodes(base)),
        "slip": stream.choice(_SLIPS),
        "between_s": str(stream.choice(_BETWEEN_S) + stream.below(30)),
        **waits(stream, _WAITS_S),
    }


def _inject_dedicated(case: Case, cluster: Cluster) -> None:
    params = case.params
    (name,) = _nodes(case)
    colleague = cluster.client(COLLEAGUE)
    colleague.patch(NODES, "", name, {"metadata": {"labels": {_POOL: params["value"]}}})
    cluster.advance(4_000)
    patch_node(cluster, COLLEAGUE, name, {"taints": [_taint(case)]})
    cluster.advance(int(params["between_s"]) * 1_000)
    wrong = {
        "missing": [],
        "value": [{**_exact(case), "value": f"{params['value']}-pool"}],
        "effect": [{**_exact(case), "effect": "NoExecute"}],
    }[params["slip"]]
    spec = {
        "nodeSelector": {_POOL: params["value"]},
        **({"tolerations": [*_tolerations(case), *wrong]} if wrong else {}),
    }
    cause = {"kubernetes.io/change-cause": f"run on the {params['value']} pool"}
    patch = {"metadata": {"annotations": cause}, "spec": {"template": {"spec": spec}}}
    cluster.client(DELIVERY).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)
    cluster.advance(int(params["wait_s"]) * 1_000)


_RESTART = Decoy(script=lambda case: (restarted(case),))
_EVERYTHING = Decoy(script=lambda case: (_tolerate(case, {"operator": "Exists"}),))

FAMILY = Family(
    id="SN-02",
    tier=1,
    summary="Nodes have a taint that a workload does not tolerate.",
    partners=("RS-05", "SN-05"),
    source="tests/golden/l0/scheduling; FAULTS SN-02",
    faults=(
        Fault(
            id="stray-taint",
            sign=Sign.RELEASE,
            level=2,
            places=unbound_deployments,
            params=_stray,
            inject=_inject_stray,
            symptoms=lambda case: (pods_pend(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="untolerated taint"),
                Evidence(
                    command="kubectl describe nodes | grep -i taints", shows=taint_arguments(_taint(case))
                ),
            ),
            repaired_when=lambda case: (nodes_take_pods(case, _nodes(case)), rolled_out(case)),
            allowed=lambda case: tuple(allow_node(name, "spec.taints") for name in _nodes(case)),
            repairs=(
                lambda case: (_untaint(case, *_nodes(case)),),
                lambda case: tuple(
                    f"""kubectl patch node {name} -p '{{"spec":{{"taints":null}}}}'"""
                    for name in _nodes(case)
                ),
            ),
            decoys=(
                Decoy(script=lambda case: (_tolerate(case, _exact(case)),)),
                _EVERYTHING,
                Decoy(script=lambda case: (_untaint(case, _nodes(case)[0]),)),
                Decoy(script=lambda case: (undone(case),)),
                _RESTART,
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Node",
                namespace="",
                name=_nodes(case)[0],
                mechanism=Mechanism.SCHEDULING,
                alike=_nodes(case)[1:],
            ),
        ),
        Fault(
            id="dedicated-pool",
            sign=Sign.RELEASE,
            level=3,
            places=unbound_deployments,
            params=_dedicated,
            inject=_inject_dedicated,
            symptoms=lambda case: (pods_pend(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="untolerated taint"),
                Evidence(
                    command="kubectl describe nodes | grep -i taints", shows=taint_arguments(_taint(case))
                ),
            ),
            repaired_when=lambda case: (
                stays_dedicated(case, _nodes(case)[0], f"{_POOL}={case.params['value']}", _taint(case)),
                rolled_out(case),
            ),
            allowed=lambda case: (
                allow_node(_nodes(case)[0], f"metadata.labels.{_POOL}"),
                allow_node(_nodes(case)[0], "spec.taints"),
                case.allow("spec.template.spec.nodeSelector"),
                case.allow("spec.template.spec.tolerations"),
            ),
            repairs=(
                lambda case: (_tolerate(case, _exact(case)),),
                lambda case: (_tolerate(case, _in_key(case)),),
                # Back to the common nodes until the move is prepared properly.
                lambda case: (undone(case),),
            ),
            decoys=(
                _EVERYTHING,
                Decoy(script=lambda case: (_untaint(case, *_nodes(case)),)),
                Decoy(
                    script=lambda case: (
                        _tolerate(case, _exact(case)),
                        stopped(case),
                    )
                ),
                _RESTART,
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.SCHEDULING
            ),
        ),
    ),
)
