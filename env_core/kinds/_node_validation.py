"""Validation of nodes.

Source: k8s.io/kubernetes pkg/apis/core/validation ValidateNode and ValidateNodeUpdate.
"""

from __future__ import annotations

import orjson

from env_core.kinds._policy_rules import immutable_null, label_key_problems, quantity_problems, unsupported
from env_core.objects import names
from env_core.objects.problems import DUPLICATE, Problem, forbidden, invalid, required
from env_core.world import Object

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_CIDR_CHANGED = 'node updates may not change podCIDR except from "" to valid'


def node_problems(node: Object) -> list[Problem]:
    """Check a new node."""
    spec = node.get("spec") or {}
    return [*taints_problems(spec.get("taints") or []), *amounts_problems(node), *_networks_problems(spec)]


def node_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check a changed node; addresses and amounts are checked because status writes come here too."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    found = amounts_problems(new)
    found += _addresses_problems((new.get("status") or {}).get("addresses") or [])
    networks, networks_before = spec.get("podCIDRs") or [], before.get("podCIDRs") or []
    if networks_before and networks != networks_before:
        found.append(forbidden("spec.podCIDRs", _CIDR_CHANGED))
    found += taints_problems(spec.get("taints") or [])
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        found.append(immutable_null("spec.providerID", "field cannot be modified once set"))
    return found


def taints_problems(taints: list[Object]) -> list[Problem]:
    """Check a node's taints."""
    found: list[Problem] = []
    seen: list[tuple[str, str]] = []
    for index, taint in enumerate(taints):
        field = f"metadata.taints[{index}]"
        key, value, effect = taint.get("key", ""), taint.get("value") or "", taint.get("effect") or ""
        found += label_key_problems(f"{field}.key", key)
        complaints = names.is_valid_label_value(value)
        if complaints:
            found.append(invalid(f"{field}.value", value, ";".join(complaints)))
        if not effect:
            found.append(required(f"{field}.effect"))
        elif effect not in _EFFECTS:
            found.append(unsupported(f"{field}.effect", effect, _EFFECTS))
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            text = "taints must be unique by key and effect pair"
            found.append(Problem(DUPLICATE, field, orjson.dumps(shown).decode(), text))
        seen.append((key, effect))
    return found


def amounts_problems(node: Object) -> list[Problem]:
    """Check capacity and allocatable."""
    status = node.get("status") or {}
    found: list[Problem] = []
    for field in ("capacity", "allocatable"):
        amounts = status.get(field) or {}
        for name in sorted(amounts):
            found += quantity_problems(name, amounts[name], f"status.{field}.{name}")
    return found


def _networks_problems(spec: Object) -> list[Problem]:
    networks, field = spec.get("podCIDRs") or [], "spec.podCIDRs"
    found: list[Problem] = []
    for index, network in enumerate(networks):
        found += [invalid(f"{field}[{index}]", network, text) for text in names.is_cidr(network)]
    families = [names.cidr_family(network) for network in networks]
    if len(networks) > 2 or (len(networks) == 2 and families[0] == families[1]):
        found.append(invalid(field, networks, "may specify no more than one CIDR for each IP family"))
    return found


def _addresses_problems(addresses: list[Object]) -> list[Problem]:
    found: list[Problem] = []
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            shown = {"Type": address.get("type", ""), "Address": address.get("address", "")}
            found.append(Problem(DUPLICATE, f"status.addresses[{index}]", orjson.dumps(shown).decode(), ""))
    return found
