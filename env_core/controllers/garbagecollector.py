"""The garbage collector: dependents go when their owners have gone; foreground and orphaning deletes.

Source: k8s.io/kubernetes pkg/controller/garbagecollector; tests/golden/l2/flows (gc-owner, deploy-delete-cascade,
rs-adopt).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from env_core import kinds as kinds_package
from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import Options
from env_core.apiserver.store import OWNER, ObjectRef
from env_core.controllers._model import CUSTOM_RESOURCES, Controller, Key, Mapper, Requeue
from env_core.controllers._retry import retrying
from env_core.discovery import discover
from env_core.world import Object

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class _Place(NamedTuple):
    """Where objects of one kind lie."""

    resource: str
    is_namespaced: bool


@lru_cache(maxsize=1)
def _places() -> dict[tuple[str, str], _Place]:
    return {
        (kind.api_version, kind.kind): _Place(kind.resource, kind.is_namespaced)
        for kind in discover(kinds_package, "KIND", Kind).values()
    }


def _place(component: Component, reference: Object) -> _Place | None:
    """Return where objects of a reference's kind lie, None when the API serves no such kind."""
    api_version, kind = reference["apiVersion"], reference["kind"]
    builtin = _places().get((api_version, kind))
    if builtin is not None:
        return builtin
    found = component.kinds.by_gvk(api_version, kind)
    if found is None or found.coerce is None:
        return None
    return _Place(f"{found.plural}.{found.group}", found.is_namespaced)


def _key(resource: str, metadata: Object) -> Key:
    # A deleted owner can no longer be looked up, and its name may be taken again: the key says which one is meant.
    return Key(metadata.get("namespace", ""), f"{resource}/{metadata['name']}/{metadata['uid']}")


def _owner_of(component: Component, namespace: str, reference: Object) -> tuple[str, Object] | None:
    """Return an owner and its resource; None when it is gone."""
    place = _place(component, reference)
    if place is None:
        return None
    owner = component.cache.get(place.resource, namespace if place.is_namespaced else "", reference["name"])
    if owner is None or owner["metadata"]["uid"] != reference["uid"]:
        return None
    return place.resource, owner


def _is_known(component: Component, reference: Object) -> bool:
    return _place(component, reference) is not None


def _mapper(resource: str) -> Mapper:
    """Return a mapper that wakes for what has gone, what is held by our finalizers, and what lacks an owner."""
    return lambda obj, component: _woken(resource, obj, component)


def _custom_mapper(obj: Object, component: Component) -> Iterable[Key]:
    place = _place(component, obj)
    return () if place is None else _woken(place.resource, obj, component)


def _woken(resource: str, obj: Object, component: Component) -> Iterable[Key]:
    metadata = obj["metadata"]
    references = metadata.get("ownerReferences") or ()
    namespace = metadata.get("namespace", "")
    current = component.cache.get(resource, namespace, metadata["name"])
    if current is None or current["metadata"]["uid"] != metadata["uid"]:
        keys = [_key(resource, metadata)] if component.cache.refs(OWNER, metadata["uid"]) else []
        return [*keys, *_waiting_owners(component, namespace, references)]
    if "deletionTimestamp" in metadata:
        finalizers = metadata.get("finalizers")
        if finalizers and (FOREGROUND in finalizers or ORPHAN in finalizers):
            return (_key(resource, metadata),)
        return ()
    for reference in references:
        if _owner_of(component, namespace, reference) is None and _is_known(component, reference):
            return (_key(resource, metadata),)
    return ()


def _waiting_owners(component: Component, namespace: str, references: Sequence[Object]) -> list[Key]:
    keys = []
    for reference in references:
        found = _owner_of(component, namespace, reference)
        if found is not None and _is_waiting(found[1]):
            keys.append(_key(found[0], found[1]["metadata"]))
    return keys


def _is_waiting(obj: Object) -> bool:
    """Say whether the object is to go after its dependents."""
    metadata = obj["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def _reconcile(component: Component, key: Key) -> Requeue | None:
    resource, name, uid = key.name.split("/")
    obj = component.cache.get(resource, key.namespace, name)
    if obj is None or obj["metadata"]["uid"] != uid:
        for ref in component.cache.refs(OWNER, uid):
            _collect(component, ref)
        return None
    finalizers = obj["metadata"].get("finalizers") or ()
    if "deletionTimestamp" not in obj["metadata"]:
        _collect(component, ObjectRef(resource, key.namespace, name))
    elif ORPHAN in finalizers:
        _orphan(component, ObjectRef(resource, key.namespace, name), obj)
    elif FOREGROUND in finalizers:
        _delete_dependents(component, ObjectRef(resource, key.namespace, name), obj)
    return None


def _delete_dependents(component: Component, ref: ObjectRef, obj: Object) -> None:
    """Delete what blocks a foreground deletion; once nothing does, let the object go."""
    uid = obj["metadata"]["uid"]
    cache = component.cache
    for dependent in cache.refs(OWNER, uid):
        _collect(component, dependent)
    blocking = [
        reference
        for dependent in cache.owned(uid)
        for reference in dependent["metadata"]["ownerReferences"]
        if reference["uid"] == uid and reference.get("blockOwnerDeletion")
    ]
    if not blocking:
        _remove_finalizer(component, ref, FOREGROUND)


def _orphan(component: Component, ref: ObjectRef, obj: Object) -> None:
    uid = obj["metadata"]["uid"]
    for dependent in component.cache.refs(OWNER, uid):
        _drop_references(component, dependent, {uid})
    _remove_finalizer(component, ref, ORPHAN)


def _remove_finalizer(component: Component, ref: ObjectRef, finalizer: str) -> None:
    obj = component.cache.get(ref.resource, ref.namespace, ref.name)
    if obj is None:
        return
    metadata = obj["metadata"]
    rest = [entry for entry in metadata.get("finalizers") or () if entry != finalizer]
    _patch(component, ref, {"resourceVersion": metadata["resourceVersion"], "finalizers": rest or None})


def _drop_references(component: Component, ref: ObjectRef, uids: set[str]) -> None:
    obj = component.cache.get(ref.resource, ref.namespace, ref.name)
    if obj is None:
        return
    metadata = obj["metadata"]
    rest = [entry for entry in metadata.get("ownerReferences") or () if entry["uid"] not in uids]
    _patch(component, ref, {"uid": metadata["uid"], "ownerReferences": rest or None})


def _patch(component: Component, ref: ObjectRef, metadata: Object) -> None:
    try:
        component.api.patch(ref.resource, ref.namespace, ref.name, {"metadata": metadata})
    except StatusError as error:
        if error.code != 404:
            raise


def _collect(component: Component, ref: ObjectRef) -> None:
    """Delete an object whose owners have gone, or go in the foreground; take dead owners off one that stays."""
    item = component.cache.get(ref.resource, ref.namespace, ref.name)
    if item is None or "deletionTimestamp" in item["metadata"]:
        return
    metadata = item["metadata"]
    solid, dangling, waiting = 0, [], []
    for reference in metadata.get("ownerReferences") or ():
        found = _owner_of(component, ref.namespace, reference)
        if found is None and _is_known(component, reference):
            dangling.append(reference["uid"])
        elif found is not None and _is_waiting(found[1]):
            waiting.append(reference["uid"])
        else:
            solid += 1
    if not dangling and not waiting:
        return
    if solid:
        _drop_references(component, ref, {*dangling, *waiting})
        return
    policy = "Background"
    finalizers = metadata.get("finalizers") or ()
    if waiting and component.cache.refs(OWNER, metadata["uid"]):
        policy = "Foreground"
    elif ORPHAN in finalizers:
        policy = "Orphan"
    elif FOREGROUND in finalizers:
        policy = "Foreground"
    options = Options(propagation_policy=policy, precondition_uid=metadata["uid"])
    try:
        component.api.delete(ref.resource, ref.namespace, ref.name, options)
    except StatusError as error:
        if error.code not in (404, 409):
            raise


def _watches() -> tuple[tuple[str, Mapper], ...]:
    places = sorted(place.resource for place in _places().values() if not place.resource.startswith("events"))
    builtin = tuple((resource, _mapper(resource)) for resource in dict.fromkeys(places))
    return (*builtin, (CUSTOM_RESOURCES, _custom_mapper))


CONTROLLER = Controller(
    name="garbage-collector",
    identity="generic-garbage-collector",
    component="garbage-collector-controller",
    watches=_watches(),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/garbagecollector; tests/golden/l2/flows (gc-owner)",
)
