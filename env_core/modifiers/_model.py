"""The declaration of a modifier: what can be laid over any fault to make it harder to see, and must be left alone.

Source: FAULTS §21 ("Modifiers"), §19.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.cluster import Cluster
from env_core.faults._model import Case, Decoy, Params
from env_core.scenarios._app import Workload
from env_core.sim.rng import Stream


def _nothing(_case: Case, _params: Params, _cluster: Cluster) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Modifier:
    """Something beside the fault. Every callable is pure, and changes no part of the workloads that the fault breaks."""

    id: str
    """The row of the catalogue that it is taken from, such as "OE-07"; nothing that an agent sees contains it."""
    summary: str
    source: str
    params: Callable[[Stream, Case], Params | None]
    """What it has drawn; None where it does not fit."""
    before: Callable[[Case, Params, Cluster], None] = _nothing
    """What the world was like before anything broke: part of the baseline that must be kept."""
    after: Callable[[Case, Params, Cluster], None] = _nothing
    """What happens between the fault and the page."""
    page: Callable[[Case, Params], str] = lambda _case, _params: ""
    """A sentence more on the page; "" for none."""
    hint: Callable[[Case, Params], str] = lambda _case, _params: ""
    """What is told of recent changes in the place of the usual remark; "" for that."""
    decoys: Callable[[Case, Params], tuple[Decoy, ...]] = lambda _case, _params: ()
    """What who falls for it does beside an honest repair: must not pass."""


def bystanders(case: Case) -> list[Workload]:
    """Return the Deployments of the same application that the fault does not touch, in declared order."""
    broken = {case.place.name, *(value for name, value in case.params.items() if name.endswith("role"))}
    return [
        entry
        for role, entry in case.base.workloads.items()
        if entry.resource == "deployments.apps"
        and entry.namespace == case.namespace
        and entry.name not in broken
        and role not in broken
    ]
