"""DaemonSets: one pod on every node that fits, and the templates that they have had.

Source: k8s.io/kubernetes pkg/controller/daemon; tests/golden/l2/flows (ids ds-).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.schema import StructType, struct_named
from env_core.controllers import _history as history
from env_core.controllers._daemonset_sync import Sync
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import (
    PODS,
    claimed,
    is_kept,
    labels_selected,
    owner_mapper,
    until_available,
)
from env_core.controllers._retry import TryAgain, retrying
from env_core.objects import meta
from env_core.objects.template_hash import compute_hash
from env_core.world import Object

RESOURCE = "daemonsets.apps"
SELECTS_ALL = "This daemon set is selecting all pods. A non-empty selector is required."


def _of_node(node: Object, component: Component) -> Iterable[Key]:
    """Return every set's key; when a node goes no set is looked at, until the node's pods go too."""
    if component.cache.get("nodes", "", meta.name(node)) is None:
        return ()
    return [Key(meta.namespace(each), meta.name(each)) for each in component.cache.list(RESOURCE)]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    daemon_set = component.cache.get(RESOURCE, *key)
    if daemon_set is None:
        return None
    if not daemon_set["spec"].get("selector"):
        component.recorder.event(daemon_set, "Warning", "SelectingAll", SELECTS_ALL)
        return None
    if meta.is_terminating(daemon_set):
        return None
    current, old = _revisions(component, daemon_set)
    pods = _pods(component, daemon_set)
    sync = Sync(component, daemon_set, meta.label(current, history.REVISION_LABEL), pods)
    failure = None
    try:
        sync.act()
        _clean_up(component, daemon_set, old, pods)
    except StatusError as error:
        failure = error
    pods = _pods(component, daemon_set)
    status = sync.status(pods)
    if status != daemon_set.get("status"):
        component.api.update_status(RESOURCE, key.namespace, {**daemon_set, "status": status})
    if failure is not None:
        raise failure
    later = until_available(pods, daemon_set["spec"].get("minReadySeconds", 0), component.now_ms)
    waits = [each for each in (sync.wait_ms, later.after_ms if later else None) if each is not None]
    return Requeue(min(waits)) if waits else None


def _pods(component: Component, daemon_set: Object) -> list[Object]:
    return claimed(component, daemon_set, labels_selected(daemon_set), may_claim=is_kept)


@lru_cache(maxsize=1)
def _template_type() -> StructType:
    return struct_named("api/core/v1.PodTemplateSpec")


def _revisions(component: Component, daemon_set: Object) -> tuple[Object, list[Object]]:
    """Return the revision of the set's template, made or brought to the front if need be, and the others."""
    known = history.revisions_of(component, daemon_set)
    data = history.data_of(daemon_set)
    equal = [revision for revision in known if revision["data"] == data]
    old = [revision for revision in known if revision not in equal]
    number = max(map(history.number_of, old), default=0) + 1
    if not equal:
        return _snapshot(component, daemon_set, data, number), old
    current = _without_doubles(component, daemon_set, equal)
    if history.number_of(current) < number:
        current = history.renumbered(component, current, number)
    return current, old


def _snapshot(component: Component, daemon_set: Object, data: Object, number: int) -> Object:
    status = daemon_set.get("status") or {}
    hashed = compute_hash(daemon_set["spec"]["template"], status.get("collisionCount"), _template_type())
    name = f"{meta.name(daemon_set)}-{hashed}"
    wished = history.new_revision(daemon_set, data, number, name, {history.REVISION_LABEL: hashed})
    created = history.created(component, wished)
    if created is None:
        collided = {**status, "collisionCount": (status.get("collisionCount") or 0) + 1}
        component.api.update_status(RESOURCE, meta.namespace(daemon_set), {**daemon_set, "status": collided})
        raise TryAgain(f"another revision is called {name}")
    return created


def _without_doubles(component: Component, daemon_set: Object, equal: Sequence[Object]) -> Object:
    """Return the newest of equal revisions; pods are labelled with it and the others deleted."""
    kept = equal[-1]
    if len(equal) == 1:
        return kept
    label = meta.label(kept, history.REVISION_LABEL)
    for pod in _pods(component, daemon_set):
        if meta.label(pod, history.REVISION_LABEL) != label:
            patch = {"metadata": {"labels": {history.REVISION_LABEL: label}}}
            component.api.patch(PODS, meta.namespace(pod), meta.name(pod), patch)
    for revision in equal[:-1]:
        component.api.delete(history.REVISIONS, meta.namespace(revision), meta.name(revision))
    return kept


def _clean_up(
    component: Component, daemon_set: Object, old: Sequence[Object], pods: Sequence[Object]
) -> None:
    hashes = {meta.label(pod, history.REVISION_LABEL) for pod in pods}
    kept = {meta.name(each) for each in old if meta.label(each, history.REVISION_LABEL) in hashes}
    limit = daemon_set["spec"].get("revisionHistoryLimit")
    history.clean_up(component, old, kept, limit, len(old) - (limit or 0))


CONTROLLER = Controller(
    name="daemon-set",
    component="daemonset-controller",
    watches=(
        (RESOURCE, own_key),
        (PODS, owner_mapper(RESOURCE, "DaemonSet", labels_selected)),
        (history.REVISIONS, owner_mapper(RESOURCE, "DaemonSet", labels_selected, history.REVISIONS)),
        ("nodes", _of_node),
    ),
    reconcile=retrying(_reconcile),
    delay_ms=37,
    source="k8s.io/kubernetes pkg/controller/daemon; tests/golden/l2/flows (ids ds-)",
)
