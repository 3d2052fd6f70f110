"""From evidence to repairs: what contradicts what, and the smallest command that settles it where it is declared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import urlsplit

from kubedrill.policies._evidence import Evidence, Json, Reference, host_and_port, matches

_URL = re.compile(r"https?://[^\s,;)\"']+")
_DNS_RULE: Json = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
_SIMILAR_MIN = 0.4


@dataclass(frozen=True, slots=True)
class Repair:
    """One changing command, why, and which workloads must be restarted to notice."""

    command: str
    reason: str
    stale: tuple[str, ...] = ()


def repairs(evidence: Evidence, brief: str) -> list[Repair]:
    """Return the repairs that the evidence calls for, in the order to make them."""
    found = [*_selectors(evidence), *_hosts(evidence)]
    found += _policies(evidence)
    found += [*_replicas(evidence), *_paths(evidence, brief)]
    return found


def restart(evidence: Evidence, workload: str) -> str:
    """Return the command that replaces the workload's pods."""
    return f"kubectl -n {evidence.namespace} rollout restart {evidence.kinds[workload]} {workload}"


def undo(evidence: Evidence, workload: str) -> str:
    """Return the command that goes back to the revision before."""
    return f"kubectl -n {evidence.namespace} rollout undo {evidence.kinds[workload]} {workload}"


# Services that select nothing


def _selectors(evidence: Evidence) -> Iterator[Repair]:
    for name, spec in sorted(evidence.services.items()):
        selector = spec.get("selector") or {}
        if not selector or evidence.behind(name):
            continue
        target = _workload_for(evidence, name, spec)
        if not target:
            continue
        wanted = _selector_of(evidence, target, selector)
        change = {**dict.fromkeys(selector), **wanted}
        patch = json.dumps({"spec": {"selector": change}}, separators=(",", ":"))
        command = f"kubectl -n {evidence.namespace} patch service {name} --type=merge -p '{patch}'"
        yield Repair(command, f"service {name} selects no pods; {target} is what it is for")


def _workload_for(evidence: Evidence, service: str, spec: Json) -> str:
    """Return the workload that the service is meant for, by name, by port, and by what its selector almost says."""
    best, best_score = "", 0.0
    for workload in sorted(evidence.workloads):
        labels, ports = evidence.labels(workload), evidence.ports(workload)
        score = 3.0 * (workload == service) + _similarity(workload, service)
        wanted = {str(port.get("targetPort", port.get("port"))) for port in spec.get("ports") or ()}
        score += 2.0 * bool(wanted & set(ports))
        for key, value in (spec.get("selector") or {}).items():
            score += _similarity(labels.get(key, ""), value)
        if score > best_score:
            best, best_score = workload, score
    return best if best_score >= 1.0 else ""


def _selector_of(evidence: Evidence, workload: str, old: dict[str, str]) -> dict[str, str]:
    labels = evidence.labels(workload)
    stable: dict[str, str] = evidence.workloads[workload].get("selector", {}).get("matchLabels") or labels
    same_keys = {key: labels[key] for key in old if key in stable}
    return same_keys or dict(stable)


# Settings that name a host which does not exist


def _hosts(evidence: Evidence) -> Iterator[Repair]:
    for reference in evidence.references():
        if _is_external(evidence, reference.host) or evidence.service_named(reference.host):
            continue
        service = service_meant(evidence, reference)
        if not service:
            continue
        value = reference.value.replace(reference.host, service, 1)
        if reference.owner:
            patch = json.dumps({"data": {reference.key: value}}, separators=(",", ":"))
            command = (
                f"kubectl -n {evidence.namespace} patch configmap {reference.owner} --type=merge -p '{patch}'"
            )
            yield Repair(
                command, f"{reference.key} names {reference.host}, which does not exist", reference.workloads
            )
        else:
            workload = reference.workloads[0]
            target = f"{evidence.kinds[workload]}/{workload} -c {reference.container}"
            command = f"kubectl -n {evidence.namespace} set env {target} {reference.key}={value}"
            yield Repair(command, f"{reference.key} names {reference.host}, which does not exist")


def _is_external(evidence: Evidence, host: str) -> bool:
    # A name with dots is of this namespace only if it says so; anything else may well exist outside.
    parts = host.rstrip(".").split(".")
    return len(parts) > 1 and parts[1] != evidence.namespace


def service_meant(evidence: Evidence, reference: Reference) -> str:
    """Return the service that a setting means, by its port, its key and its wrong value; empty if nothing fits."""
    exact = evidence.service_named(reference.host)
    if exact:
        return exact
    best, best_score = "", 0.0
    for service, spec in sorted(evidence.services.items()):
        if set(evidence.behind(service)) & set(reference.workloads):
            continue
        ports = {port.get("port") for port in spec.get("ports") or ()}
        if reference.port is not None and reference.port not in ports:
            continue
        words = re.split(r"[^a-z0-9]+", reference.key.lower())
        score = 1.0 * (service.lower() in words) + _similarity(service, reference.host)
        score += 1.0 * (reference.port is not None)
        if score > best_score:
            best, best_score = service, score
    return best if best_score >= _SIMILAR_MIN else ""


# Policies that cut a workload off from what it needs


def _policies(evidence: Evidence) -> Iterator[Repair]:
    for policy, missing in sorted(_missing_egress(evidence).items()):
        yield _opened(evidence, policy, "egress", missing, "lets through nothing that its pods need")
    for policy, missing in sorted(_missing_ingress(evidence).items()):
        yield _opened(evidence, policy, "ingress", missing, "shuts out a workload that needs its pods")


def _opened(evidence: Evidence, policy: str, direction: str, missing: list[Json], why: str) -> Repair:
    rules = [*(evidence.policies[policy].get(direction) or ()), *missing]
    patch = json.dumps({"spec": {direction: rules}}, separators=(",", ":"))
    command = f"kubectl -n {evidence.namespace} patch networkpolicy {policy} --type=merge -p '{patch}'"
    return Repair(command, f"policy {policy} {why}")


def needs(evidence: Evidence) -> Iterator[tuple[str, str, int]]:
    """Yield (workload, workload that it must reach, port there), following settings to services to pods."""
    seen: set[tuple[str, str, int]] = set()
    for reference in evidence.references():
        service = service_meant(evidence, reference)
        if not service:
            continue
        spec = evidence.services[service]
        targets = evidence.behind(service) or [_workload_for(evidence, service, spec)]
        for target in filter(None, targets):
            for port in spec.get("ports") or ():
                if reference.port is not None and port.get("port") != reference.port:
                    continue
                number = evidence.ports(target).get(
                    str(port.get("targetPort", port["port"])), int(port["port"])
                )
                for workload in reference.workloads:
                    if (workload, target, number) not in seen and workload != target:
                        seen.add((workload, target, number))
                        yield workload, target, number


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
            missing.setdefault(holding[0], []).append(_rule(evidence, "from", workload, port))
    return missing


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
    evidence: Evidence, rules: Iterable[Json], side: str, labels: dict[str, str], port: int
) -> bool:
    return any(_covers_port(rule, port) and _covers_peer(evidence, rule.get(side), labels) for rule in rules)


def _covers_port(rule: Json, port: int) -> bool:
    ports = rule.get("ports")
    if not ports:
        return True
    return any(
        entry.get("port") in (None, port)
        or (isinstance(entry.get("port"), int) and entry["port"] <= port <= entry.get("endPort", -1))
        for entry in ports
    )


def _covers_peer(evidence: Evidence, peers: Any, labels: dict[str, str]) -> bool:
    if not peers:
        return True
    own = {"kubernetes.io/metadata.name": evidence.namespace}
    for peer in peers:
        if "ipBlock" in peer:
            continue
        space = peer.get("namespaceSelector")
        if (space is None or _selects(space, own)) and _selects(peer.get("podSelector") or {}, labels):
            return True
    return False


# Workloads that nobody runs, and paths that lead nowhere


def _replicas(evidence: Evidence) -> Iterator[Repair]:
    for service in sorted(evidence.services):
        for workload in evidence.behind(service):
            if evidence.workloads[workload].get("replicas", 1) == 0:
                kind = evidence.kinds[workload]
                patch = '{"spec":{"replicas":1}}'
                command = f"kubectl -n {evidence.namespace} patch {kind} {workload} --type=merge -p '{patch}'"
                yield Repair(command, f"{workload} is scaled to zero while {service} is meant to serve")


def _paths(evidence: Evidence, brief: str) -> Iterator[Repair]:
    wanted: dict[str, set[str]] = {}
    for url in _URL.findall(brief):
        parts = urlsplit(url.rstrip("."))
        wanted.setdefault(host_and_port(url)[0], set()).add(parts.path or "/")
    for name, spec in sorted(evidence.ingresses.items()):
        for index, rule in enumerate(spec.get("rules") or ()):
            paths = (rule.get("http") or {}).get("paths") or []
            asked = wanted.get(rule.get("host", ""), set()) or _probed(evidence, paths)
            if (
                not asked
                or len(paths) != 1
                or any(_prefixes(paths[0].get("path", "/"), path) for path in asked)
            ):
                continue
            change = [{"op": "replace", "path": f"/spec/rules/{index}/http/paths/0/path", "value": "/"}]
            patch = json.dumps(change, separators=(",", ":"))
            command = f"kubectl -n {evidence.namespace} patch ingress {name} --type=json -p '{patch}'"
            yield Repair(command, f"ingress {name} leads none of the paths that users ask for")


def _probed(evidence: Evidence, paths: list[Json]) -> set[str]:
    """Return the paths at which the workloads behind an ingress say that they answer: those of their probes."""
    found: set[str] = set()
    for path in paths:
        service = ((path.get("backend") or {}).get("service") or {}).get("name", "")
        for workload in evidence.behind(service) if service in evidence.services else ():
            for container in evidence.containers(workload):
                for name in ("readinessProbe", "livenessProbe", "startupProbe"):
                    asked = ((container.get(name) or {}).get("httpGet") or {}).get("path")
                    if asked:
                        found.add(asked)
    return found


def _prefixes(prefix: str, path: str) -> bool:
    stem = prefix.rstrip("/")
    return path == stem or path.startswith(f"{stem}/")


def _similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio() if one and other else 0.0
