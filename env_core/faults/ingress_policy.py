"""A network policy does not let in those who call a workload: their connections time out, while its pods are well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._network import (
    ISOLATED,
    POLICIES,
    applied,
    callers_reach,
    closed_as_before,
    closed_where_declared,
    edge_of,
    everybody_reaches,
    is_behind_ingress,
    is_closed,
    letting_in,
    patched,
    peers_of,
    policy_of,
    port_of,
)
from env_core.faults._words import pass_time, restarted, waits
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks.entries import some_fail
from env_core.verify.scope import Allowed
from env_core.world import Object

_WAITS_S: Final = (60, 240, 700)
_PORTS: Final = (80, 443, 8000, 8081, 9000)
_VALUES: Final = ("{}-v2", "{}-green", "new-{}")
_NAMES: Final = ("default-deny-ingress", "baseline", "ingress-baseline", "isolation")
_REASONS: Final = (
    "Nobody from outside this namespace connects to its pods, the ingress controller excepted (access review, item 14).",
    "Closed to other teams; what the application needs is its owners' to allow.",
    "Foreign namespaces have no business here; see the access review.",
)


# A rule that names the wrong callers, or the wrong port


def _selected(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role, place in base.workloads.items()
        if place.service and base.entries_through(role) and letting_in(base, place) is not None
    )


def _drift_params(stream: Stream, _base: Base, place: Workload) -> Params:
    ports = [port for port in (*_PORTS, place.service_port) if port != place.container_port]
    return {
        "what": stream.choice(("key", "value", "port")),
        "port": str(stream.choice(ports)),
        "value": stream.choice(_VALUES),
        **waits(stream, _WAITS_S),
    }


def _policy(case: Case) -> Object:
    found = letting_in(case.base, case.place)
    assert found is not None
    return found


def _other_labels(case: Case, labels: Mapping[str, str]) -> dict[str, str]:
    if case.params["what"] == "value":
        return {key: case.params["value"].format(value) for key, value in labels.items()}
    return {"app" if key != "app" else "app.kubernetes.io/name": value for key, value in labels.items()}


def _drifted(case: Case) -> list[Object]:
    """Return the policy's rules with the drawn mistake."""
    rules = _policy(case)["spec"]["ingress"]
    if case.params["what"] == "port":
        return [{**rule, "ports": [{"protocol": "TCP", "port": int(case.params["port"])}]} for rule in rules]
    return [
        {
            **rule,
            "from": [
                {
                    **peer,
                    "podSelector": {"matchLabels": _other_labels(case, peer["podSelector"]["matchLabels"])},
                }
                for peer in rule["from"]
            ],
        }
        for rule in rules
    ]


def _drift(case: Case, cluster: Cluster) -> None:
    name = _policy(case)["metadata"]["name"]
    cluster.client(COLLEAGUE).patch(POLICIES, case.namespace, name, {"spec": {"ingress": _drifted(case)}})
    pass_time(cluster, case)


def _drift_shown(case: Case) -> str:
    if case.params["what"] == "port":
        return f"To Port: {case.params['port']}/TCP"
    peer = _drifted(case)[0]["from"][0]
    key, value = sorted(peer["podSelector"]["matchLabels"].items())[0]
    return f"PodSelector: {key}={value}"


def _rules_back(case: Case) -> str:
    policy = _policy(case)
    return patched(
        case, f"networkpolicy/{policy['metadata']['name']}", {"spec": {"ingress": policy["spec"]["ingress"]}}
    )


def _second_policy(case: Case, rule: Object) -> str:
    name = f"allow-callers-of-{case.name}"
    return applied(policy_of(case.place, name, {"policyTypes": ["Ingress"], "ingress": [rule]}))


def _open_wide(case: Case, name: str) -> str:
    return patched(case, f"networkpolicy/{name}", {"spec": {"ingress": [{}]}})


def _restart(case: Case) -> tuple[str, ...]:
    return (restarted(case),)


# A policy that closes a namespace, and none that opens it


def _unselected(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role, place in base.workloads.items()
        if base.entries_through(role)
        and any(is_behind_ingress(base, other) for other in _neighbours(base, place))
        and not is_closed(base, place.namespace)
    )


def _neighbours(base: Base, place: Workload) -> list[Workload]:
    return [
        other
        for other in base.workloads.values()
        if other.namespace == place.namespace and other.service and other.container_port
    ]


def _closed_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "policy": stream.choice(_NAMES),
        "reason": stream.choice(_REASONS),
        "is_scraped": str(stream.choice((0, 1))),
        **waits(stream, _WAITS_S),
    }


def _close(case: Case, cluster: Cluster) -> None:
    owners_of_platform = cluster.client()
    owners_of_platform.patch("namespaces", "", case.namespace, {"metadata": {"labels": ISOLATED}})
    spaces = {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}
    rules = [{"from": [{"namespaceSelector": spaces}]}] if case.params["is_scraped"] == "1" else []
    policy = _whole_namespace(case, case.params["policy"], rules)
    policy["metadata"]["annotations"] = {"description": case.params["reason"]}
    owners_of_platform.create(POLICIES, case.namespace, policy)
    pass_time(cluster, case)


def _whole_namespace(case: Case, name: str, rules: list[Object]) -> Object:
    policy = policy_of(case.place, name, {"policyTypes": ["Ingress"], "ingress": rules})
    return {**policy, "spec": {**policy["spec"], "podSelector": {}}}


def _inside_and_edge(case: Case) -> str:
    inside = _whole_namespace(case, "allow-inside", [{"from": [{"podSelector": {}}]}])
    return applied(inside, *(_allow(case, place) for place in edge_of(case)))


def _one_by_one(case: Case) -> str:
    places = {place.name: place for place in _neighbours(case.base, case.place)}
    return applied(*(_allow(case, place) for place in places.values() if peers_of(case.base, place)))


def _allow(case: Case, place: Workload) -> Object:
    rule = {"from": peers_of(case.base, place), "ports": [port_of(place)]}
    return policy_of(place, f"allow-to-{place.name}", {"policyTypes": ["Ingress"], "ingress": [rule]})


def _any_policy(case: Case) -> Allowed:
    return case.allow(ADDED, resource=POLICIES, name="*")


def _diagnosis(case: Case, policy: str) -> Diagnosis:
    return Diagnosis(
        kind="NetworkPolicy", namespace=case.namespace, name=policy, mechanism=Mechanism.NETWORK_POLICY
    )


FAMILY = Family(
    id="NW-06",
    tier=1,
    summary="A network policy closes a workload to those who need it.",
    partners=("NW-01", "NW-03", "NW-07"),
    source="kubernetes.io/docs/concepts/services-networking/network-policies; FAULTS NW-06",
    faults=(
        Fault(
            id="wrong-peers",
            sign=Sign.ERRORS,
            level=3,
            places=_selected,
            params=_drift_params,
            inject=_drift,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe networkpolicy {_policy(case)['metadata']['name']}",
                    shows=_drift_shown(case),
                ),
            ),
            repaired_when=lambda case: (callers_reach(case), closed_as_before(case)),
            allowed=lambda case: (
                case.allow("spec.ingress", resource=POLICIES, name=_policy(case)["metadata"]["name"]),
                _any_policy(case),
            ),
            repairs=(
                lambda case: (_rules_back(case),),
                lambda case: (_second_policy(case, _policy(case)["spec"]["ingress"][0]),),
            ),
            decoys=(
                Decoy(
                    script=lambda case: (f"kubectl -n {case.namespace} delete networkpolicy --all",),
                    is_harmful=True,
                ),
                Decoy(script=lambda case: (_open_wide(case, _policy(case)["metadata"]["name"]),)),
                Decoy(script=lambda case: (_second_policy(case, {"from": [{"namespaceSelector": {}}]}),)),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: _diagnosis(case, _policy(case)["metadata"]["name"]),
        ),
        Fault(
            id="closed-namespace",
            sign=Sign.ERRORS,
            level=2,
            places=_unselected,
            params=_closed_params,
            inject=_close,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe networkpolicies",
                    shows=f"Name:         {case.params['policy']}",
                ),
            ),
            repaired_when=lambda case: (everybody_reaches(case), closed_where_declared(case)),
            allowed=lambda case: (
                _any_policy(case),
                case.allow("metadata.labels", resource="namespaces", name=case.namespace, namespace="*"),
            ),
            repairs=(
                lambda case: (_inside_and_edge(case),),
                lambda case: (_one_by_one(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_open_wide(case, case.params["policy"]),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete networkpolicy {case.params['policy']}",
                    )
                ),
                Decoy(
                    script=lambda case: (
                        applied(_whole_namespace(case, "allow-inside", [{"from": [{"podSelector": {}}]}])),
                    )
                ),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: _diagnosis(case, case.params["policy"]),
        ),
    ),
)
