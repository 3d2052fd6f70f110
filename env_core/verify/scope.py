"""SCOPE and KEEP: the whole cluster against the healthy one, but for what honest repairs of this incident may change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from env_core.objects import selectors
from env_core.verify.changes import ADDED, GONE, IDENTITY, Change, Snapshot, changes
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

_PATH_PART = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A part of an object that honest repairs may change, and all below it. `*` stands for one name or one step of the path.

    `path` is as in `Change`: "spec.replicas", "spec.template.spec.containers[web].image", ADDED, GONE, IDENTITY.
    """

    resource: str
    namespace: str
    name: str
    path: str

    def permits(self, change: Change) -> bool:
        """Whether it covers a change."""
        if change.resource != self.resource or self.namespace not in ("*", change.namespace):
            return False
        if self.name not in ("*", change.name):
            return False
        if change.path in (ADDED, GONE, IDENTITY) or self.path in (ADDED, GONE, IDENTITY):
            return change.path == self.path
        wanted, found = _parts(self.path), _parts(change.path)
        return len(wanted) <= len(found) and all(
            one in ("*", "[*]", other) for one, other in zip(wanted, found)
        )


@lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(_PATH_PART.findall(path))


def refused(found: Iterable[Change], allowed: Sequence[Allowed]) -> list[Change]:
    """Return the changes that nothing allows."""
    return [change for change in found if not any(entry.permits(change) for entry in allowed)]


def scope(baseline: Snapshot, allowed: Sequence[Allowed]) -> Check:
    """Return the check that nothing differs from the baseline but what is allowed and what harms nobody."""

    def fails(view: View) -> str:
        found = [
            change
            for change in refused(changes(baseline, view.cluster), allowed)
            if not _is_nobodys_business(view, change)
        ]
        return "; ".join(str(change) for change in found[:5])

    return Check("scope", fails)


def _is_nobodys_business(view: View, change: Change) -> bool:
    """Whether a change is what scaling, looking around and care leave behind."""
    if change.path == "spec.replicas":
        return _is_autoscaled(view, change)
    if change.resource == "pods" and change.path == ADDED:
        pod = view.get("pods", change.namespace, change.name)
        return pod is not None and not _is_selected(view, pod)
    if change.resource == "persistentvolumes" and change.path == "spec.persistentVolumeReclaimPolicy":
        # Who is careful keeps volumes before he touches their claims.
        volume = view.get("persistentvolumes", "", change.name)
        return volume is not None and volume["spec"].get("persistentVolumeReclaimPolicy") == "Retain"
    return False


def _is_autoscaled(view: View, change: Change) -> bool:
    target = view.get(change.resource, change.namespace, change.name)
    if target is None:
        return False
    for scaler in view.list("horizontalpodautoscalers.autoscaling", change.namespace):
        spec = scaler["spec"]
        if (
            spec["scaleTargetRef"]["name"] == change.name
            and change.resource.startswith(spec["scaleTargetRef"]["kind"].lower())
            and spec.get("minReplicas", 1) <= target["spec"].get("replicas", 1) <= spec["maxReplicas"]
        ):
            return True
    return False


def _is_selected(view: View, pod: Object) -> bool:
    """Whether anything takes a pod for one of its own: then it answers in the place of another."""
    labels = pod["metadata"].get("labels") or {}
    namespace = pod["metadata"]["namespace"]
    for service in view.list("services", namespace):
        if view.selects(service["spec"].get("selector") or {}, labels):
            return True
    return any(
        selectors.from_object(owner["spec"]["selector"]).matches(labels)
        for resource in ("deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps")
        for owner in view.list(resource, namespace)
    )
