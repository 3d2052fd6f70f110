"""Checks about the resources of a container: inside a budget, and not without a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.objects.quantity import to_bytes, to_milli
from env_core.verify.checks._model import Check
from env_core.verify.view import View
from env_core.world import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a container may ask for, as Kubernetes quantities; `limit_min` "" means that no limit is fine, too."""

    request_max: str
    limit_max: str
    request_min: str = "0"
    limit_min: str = ""


def resources_within(namespace: str, deployment: str, container: str, resource: str, budget: Budget) -> Check:
    """The template's request and limit of one resource lie within the budget, and a request remains.

    A limit without a request counts as a request of the same size, as the API server defaults pods.
    """
    amount = _amount_of(resource)

    def fails(view: View) -> str:
        owner = view.get("deployments.apps", namespace, deployment)
        found = None if owner is None else _resources(owner, container)
        if found is None:
            return f"deployment {deployment} or its container {container} is gone"
        limit = (found.get("limits") or {}).get(resource)
        request = (found.get("requests") or {}).get(resource, limit)
        where = f"the {resource} {{}} of {container}"
        if request is None:
            return f"{where.format('request')} is gone"
        if not max(amount(budget.request_min), 1) <= amount(request) <= amount(budget.request_max):
            return f"{where.format('request')} is {request}"
        if limit is None:
            return f"{where.format('limit')} is gone" if budget.limit_min else ""
        if not amount(budget.limit_min or "0") <= amount(limit) <= amount(budget.limit_max):
            return f"{where.format('limit')} is {limit}"
        return ""

    return Check(f"{resource} of {container} is within budget", fails)


def memory_leaves_room(namespace: str, deployment: str, container: str, needed: str) -> Check:
    """Every pod's container may use at least `needed` memory: its limit is that high, or it has none."""

    def fails(view: View) -> str:
        pods = view.ready_pods_of(namespace, deployment)
        if not pods:
            return f"deployment {deployment} has no ready pod"
        for pod in pods:
            for entry in pod["spec"]["containers"]:
                limit = ((entry.get("resources") or {}).get("limits") or {}).get("memory")
                if entry["name"] == container and limit is not None and to_bytes(limit) < to_bytes(needed):
                    return f"the memory limit of {container} is {limit}, which leaves no room"
        return ""

    return Check(f"memory of {container} leaves room", fails)


def _amount_of(resource: str) -> Callable[[str], int]:
    return to_milli if resource == "cpu" else to_bytes


def _resources(owner: Object, container: str) -> Object | None:
    for entry in owner["spec"]["template"]["spec"].get("containers") or ():
        if entry["name"] == container:
            found: Object = entry.get("resources") or {}
            return found
    return None
