"""Checks about what network policies let through."""

from __future__ import annotations

from env_core.verify.checks._model import Check
from env_core.verify.view import View
from env_core.world import Object


def _stranger(namespace: str, labels: dict[str, str]) -> Object:
    return {
        "metadata": {"namespace": namespace, "name": "stranger", "uid": "", "labels": labels},
        "spec": {},
        "status": {},
    }


def reachable(namespace: str, source: str, target: str, port: int) -> Check:
    """Every ready pod of one Deployment may connect to every ready pod of another."""

    def fails(view: View) -> str:
        sources = view.ready_pods_of(namespace, source)
        targets = view.ready_pods_of(namespace, target)
        if not sources or not targets:
            return f"{source} or {target} has no ready pod"
        if all(view.can_connect(one, other, port) for one in sources for other in targets):
            return ""
        return f"{source} may not connect to {target}:{port}"

    return Check(f"{source} may reach {target}:{port}", fails)


def closed_to_strangers(namespace: str, target: str, port: int) -> Check:
    """A pod that no policy names may not connect to the Deployment's pods."""

    def fails(view: View) -> str:
        targets = view.pods_of(namespace, target)
        if not targets:
            return f"{target} has no pod"
        for where in (namespace, "default"):
            if any(view.can_connect(_stranger(where, {"app": "stranger"}), pod, port) for pod in targets):
                return f"{target}:{port} is open to strangers in {where}"
        return ""

    return Check(f"{target}:{port} is closed to strangers", fails)
