"""StatefulSets: pods with names, storage and an order, and the templates that they have had.

Source: k8s.io/kubernetes pkg/controller/statefulset; tests/golden/l2/flows (ids sts-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.controllers import _history as history
from env_core.controllers import _ordinals as ordinals
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS, claimed, is_kept, labels_selected, owner_mapper, until_available
from env_core.controllers._retry import retrying
from env_core.controllers._statefulset_sync import Revisions, Sync
from env_core.objects import meta
from env_core.objects.template_hash import revision_hash
from env_core.world import Object

RESOURCE = "statefulsets.apps"
HASH_LABEL = "controller.kubernetes.io/hash"


def _reconcile(component: Component, key: Key) -> Requeue | None:
    stateful_set = component.cache.get(RESOURCE, *key)
    if stateful_set is None:
        return None
    owner: Object = stateful_set
    known = history.revisions_of(component, owner)
    pods = claimed(
        component,
        owner,
        labels_selected(owner),
        may_claim=is_kept,
        is_member=lambda pod: ordinals.is_member(owner, pod),
    )
    collisions = (owner.get("status") or {}).get("collisionCount") or 0
    update, collisions = _update_revision(component, owner, known, collisions)
    revisions = Revisions(_current_revision(owner, known, update), update)
    sync = Sync(component, owner, revisions, pods)
    try:
        sync.act()
    finally:
        _write_status(component, owner, sync.status(collisions))
        _clean_up(component, owner, known, revisions, pods)
    return until_available(pods, owner["spec"].get("minReadySeconds", 0), component.now_ms)


def _update_revision(
    component: Component, owner: Object, known: Sequence[Object], collisions: int
) -> tuple[Object, int]:
    """Return the revision of the set's template, made or brought to the front if need be, and the collisions met."""
    data = history.data_of(owner)
    equal = [revision for revision in known if revision["data"] == data]
    if equal and equal[-1] is known[-1]:
        return equal[-1], collisions
    number = history.number_of(known[-1]) + 1 if known else 1
    if equal:
        return history.renumbered(component, equal[-1], number), collisions
    label = revision_hash(data, collisions)
    while True:
        hashed = revision_hash(data, collisions)
        name = f"{meta.name(owner)[: history.PREFIX_LENGTH_MAX]}-{hashed}"
        wished = history.new_revision(owner, data, number, name, {HASH_LABEL: label})
        created = history.created(component, wished)
        if created is not None:
            return created, collisions
        collisions += 1


def _current_revision(owner: Object, known: Sequence[Object], update: Object) -> Object:
    name = (owner.get("status") or {}).get("currentRevision")
    return next((revision for revision in known if meta.name(revision) == name), update)


def _write_status(component: Component, owner: Object, status: Object) -> None:
    if status != owner.get("status"):
        component.api.update_status(RESOURCE, meta.namespace(owner), {**owner, "status": status})


def _clean_up(
    component: Component, owner: Object, known: Sequence[Object], revisions: Revisions, pods: Sequence[Object]
) -> None:
    kept = {meta.name(each) for each in revisions} | {ordinals.revision_of(pod) for pod in pods}
    limit = owner["spec"].get("revisionHistoryLimit")
    surplus = sum(meta.name(revision) not in kept for revision in known) - (limit or 0)
    history.clean_up(component, known, kept, limit, surplus)


CONTROLLER = Controller(
    name="statefulset",
    watches=(
        (RESOURCE, own_key),
        (PODS, owner_mapper(RESOURCE, "StatefulSet", labels_selected)),
        (history.REVISIONS, owner_mapper(RESOURCE, "StatefulSet", labels_selected, history.REVISIONS)),
    ),
    reconcile=retrying(_reconcile),
    delay_ms=30,
    source="k8s.io/kubernetes pkg/controller/statefulset; tests/golden/l2/flows (ids sts-)",
)
