"""Type-checks the expressions of admission policies and tells in their status what it found.

Source: k8s.io/kubernetes pkg/controller/validatingadmissionpolicystatus/controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.policies.type_checking import type_warnings
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import retrying
from env_core.world import Object

RESOURCE = "validatingadmissionpolicies.admissionregistration.k8s.io"


def _of_policy(policy: Object, _component: Component) -> Iterable[Key]:
    return () if _is_checked(policy) else (Key("", policy["metadata"]["name"]),)


def _is_checked(policy: Object) -> bool:
    observed: int = (policy.get("status") or {}).get("observedGeneration", 0)
    return bool(policy["metadata"].get("generation", 0) <= observed)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    policy = component.cache.get(RESOURCE, "", key.name)
    if policy is None or _is_checked(policy):
        return None
    warnings = type_warnings(policy, component.now_ms % 1000 * 1_000_000)
    status = {
        **(policy.get("status") or {}),
        "observedGeneration": policy["metadata"]["generation"],
        "typeChecking": {"expressionWarnings": warnings} if warnings else {},
    }
    component.api.update_status(RESOURCE, "", {**policy, "status": status})
    return None


CONTROLLER = Controller(
    name="validatingadmissionpolicy-status",
    watches=((RESOURCE, _of_policy),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/validatingadmissionpolicystatus, 1.37",
)
