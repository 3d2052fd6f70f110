"""Strategic merge patches: applied as the API server does, computed two-way and three-way as kubectl does.

Each list says in its Go type how it is merged: as a whole, as a set, or item by item under a merge key.
The caller passes that type (`PatchType`); nothing here knows any.

Source: apimachinery pkg/util/strategicpatch of Kubernetes 1.37.2; tests/golden/l0/patch_strategic,
patch_twoway, patch_threeway.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.objects._patch_problem import PatchError
from env_core.objects._strategic_diff import DiffOptions, diff_maps, have_conflicts
from env_core.objects._strategic_merge import merge_map
from env_core.objects._strategic_types import PatchField, PatchType
from env_core.objects.gojson import copied
from env_core.objects.patch_merge import conflict_text
from env_core.world import Object

__all__ = [
    "Merged",
    "PatchError",
    "PatchField",
    "PatchType",
    "StrategicPatchError",
    "apply_strategic_patch",
    "changes_identity",
    "create_three_way_patch",
    "create_two_way_patch",
    "merge_strategic_patch",
]

StrategicPatchError = PatchError


class Merged(NamedTuple):
    """An object with a patch merged in, and what is left of the patch.

    The server prints `patch_left` in the 422 of a result that does not fit the type: lists that came with a
    `$setElementOrder`, and `$retainKeys`, are gone from it by then.
    """

    object: Object
    patch_left: Object


def apply_strategic_patch(original: Object, patch: Object, schema: PatchType) -> Object:
    """Return `original` with a strategic merge patch merged in. Unchanged parts are shared with it.

    Raises:
        PatchError: code 400 or 422, or 500 where the server answers the bare text.
    """
    return merge_strategic_patch(original, patch, schema).object


def merge_strategic_patch(original: Object, patch: Object, schema: PatchType) -> Merged:
    """Do the same and return what is left of the patch too.

    Raises:
        PatchError: code 400 or 422, or 500 where the server answers the bare text.
    """
    used = copied(patch)
    merged = merge_map(original, used, schema, True)
    return Merged(merged, used)


def create_two_way_patch(original: Object, modified: Object, schema: PatchType) -> Object:
    """Return the strategic merge patch that turns `original` into `modified`.

    Raises:
        PatchError: a list lacks its merge key, or a differing field is unknown.
    """
    return diff_maps(copied(original), modified, schema, DiffOptions(sets_element_order=True))


def create_three_way_patch(
    original: Object | None, modified: Object, current: Object, schema: PatchType, *, overwrite: bool = True
) -> Object:
    """Return the patch that `kubectl apply` sends: what `modified` adds to `current` and removes from `original`.

    `original` is what was last applied, None when nothing says.

    Raises:
        PatchError: as for `create_two_way_patch`, and with `overwrite` False for fields that others changed.
    """
    before, live = copied(original or {}), copied(current)
    delta = diff_maps(live, modified, schema, DiffOptions(sets_element_order=True, ignores_deletions=True))
    deletions = diff_maps(
        before, modified, schema, DiffOptions(sets_element_order=True, ignores_changes=True)
    )
    patch = merge_map(copied(deletions), copied(delta), schema, False)
    if not overwrite:
        changed = diff_maps(before, live, schema, DiffOptions())
        if have_conflicts(patch, changed, schema):
            raise PatchError(conflict_text(patch, changed))
    return patch


def changes_identity(patch: Object) -> bool:
    """Return whether a patch sets apiVersion, kind or metadata.name: kubectl's preconditions fail then."""
    metadata = patch.get("metadata")
    return "apiVersion" in patch or "kind" in patch or (isinstance(metadata, dict) and "name" in metadata)
