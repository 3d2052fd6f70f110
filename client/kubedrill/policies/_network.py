"""Network policies that cut workloads off from what they need, or from those who need them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubedrill.policies._evidence import Evidence, Json, matches
from kubedrill.policies._repair import Repair
from kubedrill.policies._wiring import leads_to, needs, port_meant

_DNS_RULE: Json = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
_NAME_LABEL = "kubernetes.io/metadata.name"


def policy_repairs(evidence: Evidence) -> Iterator[Repair]:
    """Yield the repairs of policies: each is opened to what is needed, and no further."""
    for policy, missing in sorted(_missing_egress(evidence).items()):
        yield _opened(evidence, policy, "egress", missing, "lets through nothing that its pods need")
    for policy, missing in sorted(_missing_ingress(evidence).items()):
        yield _opened(evidence, policy, "ingress", missing, "shuts out those who need its pods")


def _opened(evidence: Evidence, policy: str, direction: str, missing: list[Json], why: str) -> Repair:
    rules = [*(evidence.policies[policy].get(direction) or ()), *missing]
    patch = json.dumps({"spec": {direction: rules}}, separators=(",", ":"))
    command = f"kubectl -n {evidence.namespace} patch networkpolicy {policy} --type=merge -p '{patch}'"
    return Repair(command, f"policy {policy} {why}")


def _missing_egress(evidence: Evidence) -> dict[str, list[Json]]:
    missing: dict[str, list[Json]] = {}
    for workload, target, port in needs(evidence):
        holding = _selecting(evidence, evidence.labels(workload), "Egress")
        if not holding:
            continue
        policy = min(holding, key=lambda name: (len(evidence.policies[name].get("egress") or ()), name))
        rules = [rule for name in holding for rule in evidence.policies[name].get("egress") or ()]
        wanted = missing.setdefault(policy, [])
        if not _lets_through(evidence, rules, "to", evidence.labels(target), port):
            wanted.append(_rule(evidence, "to", target, port))
        if not any(_covers_port(rule, 53) for rule in rules) and _DNS_RULE not in wanted:
            wanted.append(_DNS_RULE)
    return {policy: wanted for policy, wanted in missing.items() if wanted}


def _missing_ingress(evidence: Evidence) -> dict[str, list[Json]]:
    missing: dict[str, list[Json]] = {}
    for workload, target, port in needs(evidence):
        holding = _selecting(evidence, evidence.labels(target), "Ingress")
        rules = [rule for name in holding for rule in evidence.policies[name].get("ingress") or ()]
        if holding and not _lets_through(evidence, rules, "from", evidence.labels(workload), port):
            missing.setdefault(_meant(evidence, holding), []).append(_rule(evidence, "from", workload, port))
    for target, port in sorted(set(_asked_from_outside(evidence))):
        holding = _selecting(evidence, evidence.labels(target), "Ingress")
        rules = [rule for name in holding for rule in evidence.policies[name].get("ingress") or ()]
        for edge in evidence.edges if holding else ():
            if not _lets_through(evidence, rules, "from", edge.labels, port, edge.space):
                peer = {
                    "namespaceSelector": {"matchLabels": {_NAME_LABEL: edge.namespace}},
                    "podSelector": {"matchLabels": edge.labels},
                }
                rule = {"from": [peer], "ports": [{"protocol": "TCP", "port": port}]}
                missing.setdefault(_meant(evidence, holding), []).append(rule)
    return missing


def _meant(evidence: Evidence, holding: list[str]) -> str:
    """Return the policy to open: the one that selects the fewest pods, so that nothing else is opened."""
    chosen = {
        name: sum(
            _selects(evidence.policies[name].get("podSelector") or {}, evidence.labels(workload))
            for workload in evidence.workloads
        )
        for name in holding
    }
    return min(holding, key=lambda name: (chosen[name], name))


def _asked_from_outside(evidence: Evidence) -> Iterator[tuple[str, int]]:
    """Yield (workload, its port) for whatever an ingress leads to."""
    for spec in evidence.ingresses.values():
        for rule in spec.get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                service = ((path.get("backend") or {}).get("service") or {}).get("name", "")
                for port in evidence.services.get(service, {}).get("ports") or ():
                    for workload in leads_to(evidence, service):
                        number = port_meant(evidence, workload, port)
                        if number is not None:
                            yield workload, number


def _rule(evidence: Evidence, side: str, workload: str, port: int) -> Json:
    stable = evidence.workloads[workload].get("selector", {}).get("matchLabels") or evidence.labels(workload)
    return {side: [{"podSelector": {"matchLabels": stable}}], "ports": [{"protocol": "TCP", "port": port}]}


def _selecting(evidence: Evidence, labels: dict[str, str], direction: str) -> list[str]:
    chosen: list[str] = []
    for name, spec in sorted(evidence.policies.items()):
        directions = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
        if direction in directions and _selects(spec.get("podSelector") or {}, labels):
            chosen.append(name)
    return chosen


def _selects(selector: Json, labels: dict[str, str]) -> bool:
    if not matches(selector.get("matchLabels") or {}, labels):
        return False
    for entry in selector.get("matchExpressions") or ():
        value, values = labels.get(entry["key"]), entry.get("values") or ()
        holds = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not holds.get(entry["operator"], False):
            return False
    return True


def _lets_through(
    evidence: Evidence,
    rules: Iterable[Json],
    side: str,
    labels: dict[str, str],
    port: int,
    space: dict[str, str] | None = None,
) -> bool:
    return any(
        _covers_port(rule, port)
        and _covers_peer(
            rule.get(side), labels, space or {_NAME_LABEL: evidence.namespace}, is_own=space is None
        )
        for rule in rules
    )


def _covers_port(rule: Json, port: int) -> bool:
    ports = rule.get("ports")
    if not ports:
        return True
    return any(
        entry.get("port") in (None, port)
        or (isinstance(entry.get("port"), int) and entry["port"] <= port <= entry.get("endPort", -1))
        for entry in ports
    )


def _covers_peer(peers: Any, labels: dict[str, str], home: dict[str, str], *, is_own: bool) -> bool:
    if not peers:
        return True
    for peer in peers:
        if "ipBlock" in peer:
            continue
        space = peer.get("namespaceSelector")
        is_here = is_own if space is None else _selects(space, home)
        if is_here and _selects(peer.get("podSelector") or {}, labels):
            return True
    return False
