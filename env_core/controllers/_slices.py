"""Dealing endpoints to EndpointSlices: as few writes as possible, at most 100 endpoints each.

Source: k8s.io/endpointslice reconciler.go (reconcileByPortMapping, the placeholder, finalize).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from env_core.world import Object

ENDPOINTS_MAX = 100

Group = tuple[list[Object], list[Object]]
"""Ports and the endpoints that serve them."""


class Plan(NamedTuple):
    """What to write: new slices (ports, endpoints), changed ones (slice, ports, endpoints), superfluous ones."""

    create: list[Group]
    update: list[tuple[Object, list[Object], list[Object]]]
    delete: list[Object]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.create or self.update or self.delete)


def planned(groups: Sequence[Group], known: Sequence[Object], labels: Mapping[str, str]) -> Plan:
    """Return what turns the known slices into ones that hold `groups`, with these labels."""
    plan = Plan([], [], [])
    rest = list(known)
    kept = 0
    for ports, endpoints in groups:
        own = [endpointslice for endpointslice in rest if (endpointslice.get("ports") or []) == ports]
        rest = [endpointslice for endpointslice in rest if endpointslice not in own]
        kept += _deal(ports, endpoints, own, labels, plan)
    plan.delete.extend(rest)
    if not kept and not plan.create and not plan.update:
        _keep_placeholder(plan, labels)
    _reuse(plan)
    return plan


def _deal(
    ports: list[Object],
    endpoints: Sequence[Object],
    own: Sequence[Object],
    labels: Mapping[str, str],
    plan: Plan,
) -> int:
    """Plan for the slices of one set of ports; return how many stay as they are."""
    wanted = {_identity(endpoint): endpoint for endpoint in endpoints}
    remaining: list[tuple[Object, list[Object], bool]] = []
    for endpointslice in own:
        before = endpointslice.get("endpoints") or []
        now = []
        for endpoint in before:
            replacement = wanted.pop(_identity(endpoint), None)
            if replacement is not None:
                now.append(replacement)
        is_changed = now != before or endpointslice["metadata"].get("labels") != labels
        if before and not now:
            plan.delete.append(endpointslice)
        else:
            remaining.append((endpointslice, now, is_changed))
    new = list(wanted.values())
    new = _fill(remaining, new)
    while new:
        plan.create.append((ports, new[:ENDPOINTS_MAX]))
        new = new[ENDPOINTS_MAX:]
    kept = 0
    for endpointslice, now, is_changed in remaining:
        if is_changed:
            plan.update.append((endpointslice, ports, now))
        else:
            kept += 1
    return kept


def _fill(slices: list[tuple[Object, list[Object], bool]], new: list[Object]) -> list[Object]:
    """Put new endpoints into slices with room: those that change anyway first, the fullest first."""
    if not new:
        return new
    order = sorted(
        range(len(slices)), key=lambda index: (not slices[index][2], -len(slices[index][1]), index)
    )
    for index in order:
        endpointslice, now, is_changed = slices[index]
        room = ENDPOINTS_MAX - len(now)
        # A slice that would otherwise stay is touched only if everything that is left fits into it.
        if room <= 0 or (not is_changed and len(new) > room):
            continue
        slices[index] = (endpointslice, [*now, *new[:room]], True)
        new = new[room:]
        if not new:
            break
    return new


def _identity(endpoint: Object) -> tuple[object, ...]:
    target = endpoint.get("targetRef") or {}
    return (tuple(endpoint["addresses"]), target.get("uid"))


def _keep_placeholder(plan: Plan, labels: Mapping[str, str]) -> None:
    """A service without endpoints has one slice without ports, which says that somebody looks after it."""
    if len(plan.delete) == 1 and _is_placeholder(plan.delete[0], labels):
        plan.delete.clear()
    else:
        plan.create.append(([], []))


def _is_placeholder(endpointslice: Object, labels: Mapping[str, str]) -> bool:
    return (
        not endpointslice.get("endpoints")
        and not endpointslice.get("ports")
        and endpointslice["metadata"].get("labels") == labels
    )


def _reuse(plan: Plan) -> None:
    """Turn pairs of a superfluous slice and a new one into updates."""
    while plan.create and plan.delete:
        ports, endpoints = plan.create.pop(0)
        plan.update.append((plan.delete.pop(0), ports, endpoints))
