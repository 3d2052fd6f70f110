"""Who needs whom: settings name hosts, hosts mean services, services lead to workloads, even where one of these is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from kubedrill.policies._evidence import Evidence, Json, Reference

_SIMILAR_MIN = 0.4


def needs(evidence: Evidence) -> Iterator[tuple[str, str, int]]:
    """Yield (workload, workload that it must reach, port there), following settings to services to pods."""
    seen: set[tuple[str, str, int]] = set()
    for reference in evidence.references():
        service = "" if is_external(evidence, reference.host) else service_meant(evidence, reference)
        if not service:
            continue
        spec = evidence.services[service]
        for target in leads_to(evidence, service):
            for port in spec.get("ports") or ():
                if reference.port is not None and port.get("port") != reference.port:
                    continue
                number = port_meant(evidence, target, port) or int(port["port"])
                for workload in reference.workloads:
                    if (workload, target, number) not in seen and workload != target:
                        seen.add((workload, target, number))
                        yield workload, target, number


def is_mixed(evidence: Evidence, service: str) -> bool:
    """Whether different programs stand behind a service; releases of one program well may."""
    return len({evidence.images(workload) for workload in evidence.behind(service)}) > 1


def leads_to(evidence: Evidence, service: str) -> list[str]:
    """Return the workloads that a service is for, whatever its selector says."""
    behind = evidence.behind(service)
    if behind and not is_mixed(evidence, service):
        return behind
    meant = workload_for(evidence, service, evidence.services[service])
    return [meant] if meant else []


def port_meant(evidence: Evidence, workload: str, port: Json) -> int | None:
    """Return the port of a workload that a port of its service means: the one it names, or one of its name, or the only one."""
    ports = evidence.ports(workload)
    numbers = sorted(set(ports.values()))
    exact = ports.get(str(port.get("targetPort", port["port"])))
    return exact or ports.get(port.get("name", ""), numbers[0] if len(numbers) == 1 else None)


def is_external(evidence: Evidence, host: str) -> bool:
    """Whether a host name may well mean something outside the namespace."""
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
        score = 1.0 * (service.lower() in words) + similarity(service, reference.host)
        score += 1.0 * (reference.port is not None)
        if score > best_score:
            best, best_score = service, score
    return best if best_score >= _SIMILAR_MIN else ""


def workload_for(evidence: Evidence, service: str, spec: Json) -> str:
    """Return the workload that the service is meant for, by name, by port, and by what its selector almost says."""
    best, best_score = "", 0.0
    for workload in sorted(evidence.workloads):
        labels, ports = evidence.labels(workload), evidence.ports(workload)
        score = 3.0 * (workload == service) + similarity(workload, service)
        wanted = {str(port.get("targetPort", port.get("port"))) for port in spec.get("ports") or ()}
        score += 2.0 * bool(wanted & set(ports))
        for key, value in (spec.get("selector") or {}).items():
            score += similarity(labels.get(key, ""), value)
        if score > best_score:
            best, best_score = workload, score
    return best if best_score >= 1.0 else ""


def similarity(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1."""
    return SequenceMatcher(None, one.lower(), other.lower()).ratio() if one and other else 0.0
