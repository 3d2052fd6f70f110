"""From evidence to repairs: what contradicts what, and the smallest command that settles it where it is declared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from kubedrill.policies._evidence import Evidence, Reference, matches
from kubedrill.policies._ingress import rule_repairs
from kubedrill.policies._network import policy_repairs
from kubedrill.policies._repair import Repair
from kubedrill.policies._wiring import (
    is_external,
    is_mixed,
    leads_to,
    port_meant,
    service_meant,
    workload_for,
)


def repairs(evidence: Evidence, text: str, counts: Mapping[str, int] | None = None) -> list[Repair]:
    """Return the repairs that the evidence calls for, in the order to make them.

    `text` holds addresses that users ask for; `counts` are the replicas that workloads are known to have had.
    """
    found = [*_selectors(evidence), *_ports(evidence), *_hosts(evidence)]
    found += policy_repairs(evidence)
    found += [*_replicas(evidence, counts or {}), *rule_repairs(evidence, text)]
    return found


def restart(evidence: Evidence, workload: str) -> str:
    """Return the command that replaces the workload's pods."""
    return f"kubectl -n {evidence.namespace} rollout restart {evidence.kinds[workload]} {workload}"


def undo(evidence: Evidence, workload: str) -> str:
    """Return the command that goes back to the revision before."""
    return f"kubectl -n {evidence.namespace} rollout undo {evidence.kinds[workload]} {workload}"


# Services that select nothing, or too much, or send to where nobody listens


def _selectors(evidence: Evidence) -> Iterator[Repair]:
    for name, spec in sorted(evidence.services.items()):
        selector = spec.get("selector") or {}
        is_broad = is_mixed(evidence, name)
        if not selector or (evidence.behind(name) and not is_broad):
            continue
        target = workload_for(evidence, name, spec)
        if not target or (is_broad and matches(evidence.selects(target), selector)):
            continue
        wanted = _selector_of(evidence, target, {} if is_broad else selector)
        change = {**dict.fromkeys(selector), **wanted}
        patch = json.dumps({"spec": {"selector": change}}, separators=(",", ":"))
        command = f"kubectl -n {evidence.namespace} patch service {name} --type=merge -p '{patch}'"
        what = "pods of others" if is_broad else "no pods"
        yield Repair(command, f"service {name} selects {what}; {target} is what it is for")


def _ports(evidence: Evidence) -> Iterator[Repair]:
    for name, spec in sorted(evidence.services.items()):
        behind = leads_to(evidence, name)
        for index, port in enumerate(spec.get("ports") or () if behind else ()):
            number = port_meant(evidence, behind[0], port)
            if number is None or str(port.get("targetPort", port["port"])) in evidence.ports(behind[0]):
                continue
            change = [{"op": "replace", "path": f"/spec/ports/{index}/targetPort", "value": number}]
            patch = json.dumps(change, separators=(",", ":"))
            command = f"kubectl -n {evidence.namespace} patch service {name} --type=json -p '{patch}'"
            yield Repair(command, f"service {name} sends to a port that {behind[0]} does not have")


def _selector_of(evidence: Evidence, workload: str, old: dict[str, str]) -> dict[str, str]:
    labels = evidence.labels(workload)
    stable: dict[str, str] = evidence.workloads[workload].get("selector", {}).get("matchLabels") or labels
    same_keys = {key: labels[key] for key in old if key in stable}
    return same_keys or dict(stable)


# Settings that name a host which does not exist


def _hosts(evidence: Evidence) -> Iterator[Repair]:
    for reference in evidence.references():
        if is_external(evidence, reference.host) or evidence.service_named(reference.host):
            continue
        service = service_meant(evidence, reference)
        if not service:
            continue
        value = reference.value.replace(reference.host, service, 1)
        if not reference.owner and _is_declared_elsewhere(evidence, reference):
            value = ""
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
            change = f"{reference.key}={value}" if value else f"{reference.key}-"
            command = f"kubectl -n {evidence.namespace} set env {target} {change}"
            yield Repair(command, f"{reference.key} names {reference.host}, which does not exist")


def _is_declared_elsewhere(evidence: Evidence, reference: Reference) -> bool:
    """Whether an entry of a template only hides what the workload's ConfigMap says, and that is right."""
    return any(
        other.owner
        and other.key == reference.key
        and reference.workloads[0] in other.workloads
        and evidence.service_named(other.host)
        for other in evidence.references()
    )


# Workloads that nobody runs


def _replicas(evidence: Evidence, counts: Mapping[str, int]) -> Iterator[Repair]:
    for service in sorted(evidence.services):
        behind = evidence.behind(service)
        if any(evidence.workloads[workload].get("replicas", 1) for workload in behind):
            # Others serve: what has no pods beside them may be meant to have none.
            continue
        for workload in behind:
            if evidence.workloads[workload].get("replicas", 1) == 0:
                kind = evidence.kinds[workload]
                patch = json.dumps({"spec": {"replicas": counts.get(workload, 1)}}, separators=(",", ":"))
                command = f"kubectl -n {evidence.namespace} patch {kind} {workload} --type=merge -p '{patch}'"
                yield Repair(command, f"{workload} is scaled to zero while {service} is meant to serve")
