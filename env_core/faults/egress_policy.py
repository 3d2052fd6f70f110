"""A network policy lets a workload reach what it needs, but not the name server: lookups fail, addresses would work."""

from __future__ import annotations

import json
from typing import Any, Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._network import (
    ISOLATED,
    NAME_SERVERS,
    POLICIES,
    applied,
    closed_as_before,
    is_closed,
    kept_inside_where_declared,
    owner_ref,
    patched,
    policy_of,
    port_of,
    upstreams,
)
from env_core.faults._words import deployments, pass_time, restarted, waits
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.checks.reaching import looks_up
from env_core.verify.scope import Allowed
from env_core.world import Object

_DNS: Final = "allow-dns"
_WAITS_S: Final = (60, 240, 700)
_MISTAKES: Final = ("port", "protocol", "pods", "space")
_NAMES: Final = ("{}-egress", "restrict-{}", "{}-outbound")
_REASONS: Final = (
    "It calls what it needs and nothing else (data protection review).",
    "No connections to the internet or to other teams from here.",
)
_SERVERS: Final[Object] = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
    "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
}
_LOOKUPS: Final[Object] = {
    "to": [_SERVERS],
    "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
}


def _callers(base: Base, *, is_in_closed: bool) -> tuple[str, ...]:
    """Return the roles of Deployments that call others and are needed by users."""
    return tuple(
        role
        for role in deployments(base)
        if upstreams(base, base.workloads[role])
        and base.entries_through(role)
        and is_closed(base, base.workloads[role].namespace) == is_in_closed
    )


# The policy for lookups, with a mistake


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"what": stream.choice(_MISTAKES), **waits(stream, _WAITS_S)}


def _policy(case: Case) -> Object:
    found = case.base.cluster.store.get(POLICIES, case.namespace, _DNS)
    assert found is not None
    return found


def _mistaken(case: Case) -> list[Object]:
    what = case.params["what"]
    ports = _LOOKUPS["ports"]
    if what == "port":
        ports = [{**port, "port": 5353} for port in ports]
    if what == "protocol":
        ports = [port for port in ports if port["protocol"] == "TCP"]
    servers = dict(_SERVERS)
    if what == "pods":
        servers["podSelector"] = {"matchLabels": {"k8s-app": "coredns"}}
    if what == "space":
        servers["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": "dns-system"}}
    return [{"to": [servers], "ports": ports}]


def _mistake(case: Case, cluster: Cluster) -> None:
    cluster.client(COLLEAGUE).patch(POLICIES, case.namespace, _DNS, {"spec": {"egress": _mistaken(case)}})
    pass_time(cluster, case)


def _rules(case: Case, name: str) -> str:
    return f"kubectl -n {case.namespace} get networkpolicy {name} -o jsonpath='{{.spec.egress}}'"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _everybody(case: Case, name: str, rules: list[Object]) -> Object:
    policy = policy_of(case.place, name, {"policyTypes": ["Egress"], "egress": rules})
    return {**policy, "spec": {**policy["spec"], "podSelector": {}}}


def _all_look_up(case: Case) -> Check:
    places = (place for place in case.base.workloads.values() if place.namespace == case.namespace)
    return looks_up(tuple(map(owner_ref, places)), NAME_SERVERS, "lookups reach the name servers")


# A new policy without lookups


def _closed_params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "policy": stream.choice(_NAMES).format(place.name),
        "reason": stream.choice(_REASONS),
        **waits(stream, _WAITS_S),
    }


def _needed(case: Case) -> list[Object]:
    targets = {target.role: target for _, target in upstreams(case.base, case.place)}
    return [
        {
            "to": [
                {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": target.namespace}},
                    "podSelector": {"matchLabels": dict(target.labels)},
                }
            ],
            "ports": [port_of(target)],
        }
        for target in targets.values()
    ]


def _close(case: Case, cluster: Cluster) -> None:
    owners_of_platform = cluster.client()
    owners_of_platform.patch("namespaces", "", case.namespace, {"metadata": {"labels": ISOLATED}})
    policy = policy_of(
        case.place, case.params["policy"], {"policyTypes": ["Egress"], "egress": _needed(case)}
    )
    policy["metadata"]["annotations"] = {"description": case.params["reason"]}
    owners_of_platform.create(POLICIES, case.namespace, policy)
    pass_time(cluster, case)


def _own_look_up(case: Case) -> Check:
    return looks_up((owner_ref(case.place),), NAME_SERVERS, f"lookups of {case.name} reach the name servers")


def _any_policy(case: Case) -> Allowed:
    return case.allow(ADDED, resource=POLICIES, name="*")


def _restart(case: Case) -> tuple[str, ...]:
    return (restarted(case),)


def _restart_name_servers(_case: Case) -> tuple[str, ...]:
    return ("kubectl -n kube-system rollout restart deployment/coredns",)


def _diagnosis(case: Case, policy: str) -> Diagnosis:
    return Diagnosis(
        kind="NetworkPolicy", namespace=case.namespace, name=policy, mechanism=Mechanism.NETWORK_POLICY
    )


FAMILY = Family(
    id="NW-07",
    tier=1,
    summary="An egress policy forgets the name servers.",
    partners=("NW-06", "NW-05", "CF-02"),
    source="kubernetes.io/docs/concepts/services-networking/network-policies; FAULTS NW-07",
    faults=(
        Fault(
            id="lookups-mistaken",
            sign=Sign.ERRORS,
            level=3,
            places=lambda base: _callers(base, is_in_closed=True),
            params=_params,
            inject=_mistake,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(command=_rules(case, _DNS), shows=_compact(_mistaken(case)[0]["ports"])),
                Evidence(command=_rules(case, _DNS), shows=_compact(_mistaken(case)[0]["to"])),
            ),
            repaired_when=lambda case: (_all_look_up(case), closed_as_before(case)),
            allowed=lambda case: (
                case.allow("spec.egress", resource=POLICIES, name=_DNS),
                _any_policy(case),
            ),
            repairs=(
                lambda case: (
                    patched(
                        case, f"networkpolicy/{_DNS}", {"spec": {"egress": _policy(case)["spec"]["egress"]}}
                    ),
                ),
                lambda case: (applied(_everybody(case, "allow-lookups", [{"ports": _LOOKUPS["ports"]}])),),
            ),
            decoys=(
                Decoy(script=lambda case: (applied(_everybody(case, "allow-egress", [{}])),)),
                Decoy(
                    script=lambda case: (f"kubectl -n {case.namespace} delete networkpolicy default-deny",),
                    is_harmful=True,
                ),
                Decoy(script=_restart_name_servers),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: _diagnosis(case, _DNS),
        ),
        Fault(
            id="lookups-forgotten",
            sign=Sign.ERRORS,
            level=2,
            places=lambda base: _callers(base, is_in_closed=False),
            params=_closed_params,
            inject=_close,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(command=_rules(case, case.params["policy"]), shows=_compact(_needed(case)[0])),
            ),
            repaired_when=lambda case: (_own_look_up(case), kept_inside_where_declared(case)),
            allowed=lambda case: (
                _any_policy(case),
                case.allow("metadata.labels", resource="namespaces", name=case.namespace, namespace="*"),
            ),
            repairs=(
                lambda case: (
                    patched(
                        case,
                        f"networkpolicy/{case.params['policy']}",
                        [{"op": "add", "path": "/spec/egress/-", "value": _LOOKUPS}],
                        "json",
                    ),
                ),
                lambda case: (
                    applied(
                        policy_of(case.place, "allow-dns", {"policyTypes": ["Egress"], "egress": [_LOOKUPS]})
                    ),
                ),
            ),
            decoys=(
                Decoy(
                    script=lambda case: (
                        patched(case, f"networkpolicy/{case.params['policy']}", {"spec": {"egress": [{}]}}),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete networkpolicy {case.params['policy']}",
                    )
                ),
                Decoy(script=_restart_name_servers),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: _diagnosis(case, case.params["policy"]),
        ),
    ),
)
