"""Owner references: who made an object, and who collects it."""

from __future__ import annotations

from env_core.objects import meta
from env_core.world import Object


def owner_reference(owner: Object, *, block_deletion: bool | None = None) -> Object:
    """Return a plain reference to `owner`, which needs apiVersion, kind, name and uid."""
    reference: Object = {
        "apiVersion": meta.api_version(owner),
        "kind": meta.kind(owner),
        "name": meta.name(owner),
        "uid": meta.uid(owner),
    }
    if block_deletion is not None:
        reference["blockOwnerDeletion"] = block_deletion
    return reference


def controller_reference(owner: Object) -> Object:
    """Return the reference that a controller gives to what it creates: managing, and blocking deletion."""
    return {**owner_reference(owner, block_deletion=True), "controller": True}


def owned_by(obj: Object, uid: str) -> bool:
    """Say whether one of the owner references is to `uid`."""
    return any(reference.get("uid") == uid for reference in meta.owner_references(obj))


def controlled_by(obj: Object, uid: str) -> bool:
    """Say whether `uid` manages the object."""
    return meta.controller_uid(obj) == uid


def with_owner(obj: Object, reference: Object) -> Object:
    """Return a copy with the reference added, in place of one to the same uid."""
    others = [item for item in meta.owner_references(obj) if item.get("uid") != reference["uid"]]
    return meta.with_metadata(obj, ownerReferences=[*others, reference])


def without_owner(obj: Object, uid: str) -> Object:
    """Return a copy without references to `uid`; the object itself if it has none."""
    references = meta.owner_references(obj)
    others = [item for item in references if item.get("uid") != uid]
    if len(others) == len(references):
        return obj
    return meta.with_metadata(obj, ownerReferences=others or None)
