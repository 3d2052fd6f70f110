"""The words of families in which the API refuses what controllers ask for: pods that are not even made."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.faults._words import owner_of, patch_container, rolled_out
from env_core.scenarios._app import Base, Workload
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

QUOTAS: Final = "resourcequotas"
_PATIENCE_MS: Final = 1_000_000
"""The longest that a controller waits between two tries (client-go's rate limiter)."""
_LOOK_MS: Final = 20_000


def rolls_by_surge(base: Base, place: Workload) -> bool:
    """Whether a Deployment makes new pods before it takes old ones away."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    return owner is not None and owner["spec"].get("strategy", {}).get("type") == "RollingUpdate"


def release(case: Case, cluster: Cluster, tag: str, **fields: Object) -> None:
    """Let the pipeline roll the workload to another of its releases, with other changes to its container."""
    image = f"{case.place.image.rpartition(':')[0]}:{tag}"
    patch_container(cluster, case.place, {"image": image, **fields})


def pods_not_made(case: Case, why: str) -> Check:
    """The API refuses the workload's newest pods for a reason, and its controllers say so."""

    def fails(view: View) -> str:
        for condition in owner_of(view, case).get("status", {}).get("conditions") or ():
            if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
                return "" if why in condition["message"] else f"the API refuses pods: {condition['message']}"
        return f"all pods of {case.name} are made"

    return Check("pods are not made", fails)


def in_the_end(check: Check) -> Check:
    """A check that holds, at the latest when controllers have tried again and what terminates is gone."""

    def fails(view: View) -> str:
        why = check.fails(view)
        if not why:
            return ""
        trial = view.fork()
        later = View(trial)
        for _ in range(_PATIENCE_MS // _LOOK_MS):
            trial.advance(_LOOK_MS)
            if not check.fails(later):
                return ""
        return why

    return Check(check.name, fails)


def comes_to_roll_out(case: Case) -> Check:
    """The workload is rolled out in the end."""
    return in_the_end(rolled_out(case))
