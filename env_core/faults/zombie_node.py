"""A node is ready and loses the packets of its pods: requests fail that its pods should answer, or send."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._nodes import NODES, allow_node, nodes_in_service, reached_nodes
from env_core.faults._words import behind_services, pass_time, rolled_out, stopped, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED, GONE
from env_core.verify.checks.entries import some_fail
from env_core.verify.scope import Allowed

_WAITS_S = (90, 240, 600)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if reached_nodes(base, base.workloads[role]))


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "node": stream.choice(reached_nodes(base, place)),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    cluster.machines.lose_packets(case.params["node"])
    pass_time(cluster, case)


def _drain(case: Case) -> str:
    return f"kubectl drain {case.params['node']} --ignore-daemonsets --delete-emptydir-data --force --timeout=300s"


def _repaired(case: Case) -> Script:
    node = case.params["node"]
    return (
        _drain(case),
        f"nodectl repair {node}",
        "sleep 150",
        f"kubectl wait --for=condition=Ready node/{node} --timeout=120s",
        f"kubectl uncordon {node}",
    )


def _replaced(case: Case) -> Script:
    return (
        f"kubectl cordon {case.params['node']}",
        _drain(case),
        f"nodectl replace {case.params['node']}",
        "sleep 240",
    )


def _allowed(case: Case) -> tuple[Allowed, ...]:
    node = case.params["node"]
    return (allow_node("*", ADDED), allow_node(node, GONE), allow_node(node, "spec.unschedulable"))


FAMILY = Family(
    id="SN-07",
    tier=1,
    summary="A node is ready and drops the traffic of its pods.",
    partners=("NW-15", "NW-18", "NW-06"),
    source="FAULTS SN-07; texts of our own node tool",
    faults=(
        Fault(
            id="drops-traffic",
            sign=Sign.ERRORS,
            level=4,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.base.entries),),
            evidence=lambda case: (
                Evidence(command=f"kubectl get {NODES} {case.params['node']}", shows=" Ready "),
                Evidence(command=f"nodectl check {case.params['node']}", shows="FAILED: 0 of"),
            ),
            repaired_when=lambda case: (nodes_in_service(case, case.params["node"]), rolled_out(case)),
            allowed=_allowed,
            repairs=(_repaired, _replaced),
            decoys=(
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete pods --field-selector spec.nodeName={case.params['node']} --wait=false",
                    )
                ),
                Decoy(script=lambda case: (f"kubectl cordon {case.params['node']}",)),
                Decoy(script=lambda case: (_drain(case),)),
                Decoy(script=lambda case: (_drain(case), f"kubectl uncordon {case.params['node']}")),
                Decoy(
                    script=lambda case: (
                        stopped(case),
                        *_repaired(case),
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Node", namespace="", name=case.params["node"], mechanism=Mechanism.NODE
            ),
        ),
    ),
)
