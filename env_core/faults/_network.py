"""The words of families about policies and Services: who calls whom, and who must be let through or kept out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from env_core.faults._model import Case
from env_core.scenarios._app import UPSTREAM, Base, Need, Workload
from env_core.verify.checks import Check
from env_core.verify.checks.reaching import Call, Door, is_kept_inside, is_refused, kept_apart, reaches
from env_core.verify.trials import Owner
from env_core.verify.view import View
from env_core.world import Object

POLICIES: Final = "networkpolicies.networking.k8s.io"
INGRESSES: Final = "ingresses.networking.k8s.io"
NAME_SERVERS: Final = Owner("deployments.apps", "kube-system", "coredns")
ISOLATED: Final = {"network.example.com/isolation": "required"}
"""The label by which the platform's owners say that a namespace is to be closed to others; on-call cannot take it off."""
_CONTROLLER: Final = Owner("deployments.apps", "kube-system", "traefik")
_SPACE_LABEL: Final = "kubernetes.io/metadata.name"
_EDGE: Final[Object] = {
    "namespaceSelector": {"matchLabels": {_SPACE_LABEL: "kube-system"}},
    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "traefik"}},
}
"""The ingress controller, as policies name it."""


def owner_ref(place: Workload) -> Owner:
    """Return a workload as checks and trials name it."""
    return Owner(place.resource, place.namespace, place.name)


# Who calls whom


def host_and_port(need: Need, target: Workload) -> tuple[str, int]:
    """Return where an UPSTREAM leads: its value is a host, host:port or a URL."""
    if "//" in need.value:
        found = urlsplit(need.value)
        return found.hostname or "", found.port or 80
    host, _, port = need.value.partition(":")
    return host, int(port) if port else target.service_port


def upstreams(base: Base, place: Workload) -> tuple[tuple[Need, Workload], ...]:
    """Return what a workload calls, each with the workload behind it."""
    return tuple(
        (need, base.workloads[need.target]) for need in place.needs if need.kind == UPSTREAM and need.target
    )


def calls_of(base: Base, place: Workload) -> tuple[Call, ...]:
    """Return the calls that a workload makes."""
    return tuple(
        Call(owner_ref(place), *host_and_port(need, target)) for need, target in upstreams(base, place)
    )


def calls_to(base: Base, place: Workload) -> tuple[Call, ...]:
    """Return the calls that others make to a workload."""
    return tuple(
        Call(owner_ref(caller), *host_and_port(need, target))
        for caller in base.workloads.values()
        for need, target in upstreams(base, caller)
        if target.role == place.role
    )


def callers_of(base: Base, place: Workload) -> tuple[Workload, ...]:
    """Return the workloads that call a workload."""
    return tuple(
        caller
        for caller in base.workloads.values()
        if any(target.role == place.role for _, target in upstreams(base, caller))
    )


def is_behind_ingress(base: Base, place: Workload) -> bool:
    """Whether the ingress controller sends requests to a workload's Service."""
    return place.service in _backends(base, place.namespace)


def _backends(base: Base, namespace: str) -> Iterator[str]:
    for ingress in base.cluster.store.list(INGRESSES, namespace):
        for rule in ingress["spec"].get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                yield (path["backend"].get("service") or {}).get("name", "")


# Policies


def is_closed(base: Base, namespace: str) -> bool:
    """Whether a namespace lets nothing in but what policies allow."""
    return base.cluster.store.get(POLICIES, namespace, "default-deny") is not None


def letting_in(base: Base, place: Workload) -> Object | None:
    """Return the policy that lets callers in to a workload, None where there is none."""
    for policy in base.cluster.store.list(POLICIES, place.namespace):
        spec = policy["spec"]
        wanted = spec["podSelector"].get("matchLabels") or {}
        if spec.get("ingress") and wanted and wanted.items() <= place.labels.items():
            return policy
    return None


def peers_of(base: Base, place: Workload) -> list[Object]:
    """Return all who call a workload from its own namespace or through the ingress controller, as a policy names them."""
    edge = [_EDGE] if is_behind_ingress(base, place) else []
    return [
        *({"podSelector": {"matchLabels": dict(caller.labels)}} for caller in callers_of(base, place)),
        *edge,
    ]


def edge_of(case: Case) -> list[Workload]:
    """Return the workloads of the case's namespace to which the ingress controller sends requests."""
    return [
        place
        for place in case.base.workloads.values()
        if place.namespace == case.namespace and place.service and is_behind_ingress(case.base, place)
    ]


def port_of(place: Workload) -> Object:
    """Return a workload's port as a policy names it."""
    return {"protocol": "TCP", "port": place.container_port}


def policy_of(place: Workload, name: str, spec: Object) -> Object:
    """Return a NetworkPolicy for a workload's pods."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": place.namespace},
        "spec": {"podSelector": {"matchLabels": dict(place.labels)}, **spec},
    }


def applied(*manifests: Object) -> str:
    """Return the command line that applies manifests."""
    whole = manifests[0] if len(manifests) == 1 else {"apiVersion": "v1", "kind": "List", "items": manifests}
    return f"kubectl apply -f - <<'EOF'\n{json.dumps(whole)}\nEOF"


def patched(case: Case, what: str, patch: Any, kind: str = "") -> str:
    """Return the command line that patches an object of the case's namespace, `what` as "service/cart"."""
    flag = f" --type={kind}" if kind else ""
    return f"kubectl -n {case.namespace} patch {what}{flag} -p '{json.dumps(patch)}'"


# Goals


def callers_reach(case: Case) -> Check:
    """Whoever needs the broken workload gets a connection through its Service, the ingress controller among them."""
    edge = [_from_edge(place) for place in edge_of(case) if place == case.place]
    return reaches((*edge, *calls_to(case.base, case.place)), f"callers reach {case.name}")


def _from_edge(place: Workload) -> Call:
    return Call(_CONTROLLER, f"{place.service}.{place.namespace}.svc.cluster.local", place.service_port)


def everybody_reaches(case: Case) -> Check:
    """The workloads of the case's namespace get connections to what they need, and the ingress controller to those behind it."""
    inside = [place for place in case.base.workloads.values() if place.namespace == case.namespace]
    calls = [call for place in inside for call in calls_of(case.base, place)]
    edge = [_from_edge(place) for place in edge_of(case)]
    return reaches((*edge, *calls), "all who need each other reach each other")


def closed_where_declared(case: Case) -> Check:
    """While its namespace says that it is isolated, none of its workloads is open to those who have no business there."""
    return _while_declared(case, is_refused(doors_of(case), "strangers are kept out"))


def kept_inside_where_declared(case: Case) -> Check:
    """While its namespace says that it is isolated, the broken workload reaches neither foreign pods nor hosts outside."""
    return _while_declared(case, is_kept_inside((owner_ref(case.place),), f"{case.name} is kept inside"))


def _while_declared(case: Case, check: Check) -> Check:
    def fails(view: View) -> str:
        space = view.get("namespaces", "", case.namespace)
        is_declared = (
            space is not None and ISOLATED.items() <= (space["metadata"].get("labels") or {}).items()
        )
        return check.fails(view) if is_declared else ""

    return Check(check.name, fails)


def doors_of(case: Case) -> tuple[Door, ...]:
    """Return the ports of the workloads in the case's namespace."""
    return tuple(
        Door(owner_ref(place), place.container_port)
        for place in case.base.workloads.values()
        if place.namespace == case.namespace and place.container_port
    )


def closed_as_before(case: Case) -> Check:
    """Policies keep apart whom they kept apart, as far as pods of the case's namespace take part."""
    owners = tuple(owner_ref(place) for place in case.base.workloads.values())
    return kept_apart(View(case.base.cluster), owners, doors_of(case), "policies keep out whom they kept out")
