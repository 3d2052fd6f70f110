"""Strategic merge, the computing half: what patch turns one object into another, and whether two patches clash."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from env_core.objects._patch_problem import PatchError
from env_core.objects._strategic_order import (
    same_order,
    sorted_by_order,
    sorted_maps,
    sorted_scalars,
    without_duplicates,
)
from env_core.objects._strategic_types import (
    DELETE_FROM,
    DIRECTIVE,
    ELEMENT_ORDER,
    RETAIN_KEYS,
    PatchType,
    deep_equal,
    element_kind,
    go_kind,
    look_up,
    look_up_list,
    no_merge_key,
    wrong_type,
)
from env_core.objects.goformat import value_text
from env_core.world import Object


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """Which halves of a difference to compute, and with which directives."""

    sets_element_order: bool = False
    ignores_changes: bool = False
    ignores_deletions: bool = False
    builds_retain_keys: bool = False

    def with_retain_keys(self, builds: bool) -> DiffOptions:
        """Return the options for a field that is, or is not, replaced key by key."""
        return self if self.builds_retain_keys is builds else replace(self, builds_retain_keys=builds)


def diff_maps(original: Object, modified: Object, type_: PatchType, options: DiffOptions) -> Object:
    """Return the patch from `original` to `modified`. Lists of scalars in `original` may get sorted in place."""
    patch: Object = {}
    retained = []
    for key, new in modified.items():
        if options.builds_retain_keys and new is not None:
            retained.append(key)
        if key not in original:
            if not options.ignores_changes:
                patch[key] = new
            continue
        old = original[key]
        if key == DIRECTIVE:
            _diff_directive(old, new, patch)
        elif go_kind(old) != go_kind(new):
            if not options.ignores_changes:
                patch[key] = new
        elif isinstance(new, dict):
            _diff_map(key, old, new, patch, type_, options)
        elif isinstance(new, list):
            _diff_list(key, old, new, patch, type_, options)
        else:
            _replace(key, old, new, patch, options)
    if not options.ignores_deletions:
        for key in original:
            if key not in modified:
                patch[key] = None
    if retained and (
        patch or any(value is not None and key not in modified for key, value in original.items())
    ):
        patch[RETAIN_KEYS] = sorted_scalars(retained)
    return patch


def _diff_directive(old: Any, new: Any, patch: Object) -> None:
    if not isinstance(old, str) or not isinstance(new, str):
        raise PatchError(f"invalid value for special key: {DIRECTIVE}")
    if old != new:
        patch[DIRECTIVE] = new


def _replace(key: str, old: Any, new: Any, patch: Object, options: DiffOptions) -> None:
    if not options.ignores_changes and not deep_equal(old, new):
        patch[key] = new


def _diff_map(
    key: str, old: Object, new: Object, patch: Object, type_: PatchType, options: DiffOptions
) -> None:
    try:
        found = look_up(type_, key)
    except PatchError:
        if deep_equal(old, new):
            return
        raise
    if found.strategy == "replace":
        if not options.ignores_changes:
            patch[key] = new
        return
    inner = diff_maps(old, new, found.type, options.with_retain_keys(found.retain_keys))
    if inner:
        patch[key] = inner


def _diff_list(
    key: str, old: list[Any], new: list[Any], patch: Object, type_: PatchType, options: DiffOptions
) -> None:
    try:
        found = look_up_list(type_, key)
    except PatchError:
        if deep_equal(old, new):
            return
        raise
    if found.strategy != "merge":
        _replace(key, old, new, patch, options)
        return
    options = options.with_retain_keys(found.retain_keys)
    added, deleted, order = _diff_merged_list(old, new, found.type, found.merge_key, options)
    if added:
        patch[key] = added
    if deleted:
        patch[f"{DELETE_FROM}/{key}"] = deleted
    if order:
        patch[f"{ELEMENT_ORDER}/{key}"] = order


def _diff_merged_list(
    old: list[Any], new: list[Any], type_: PatchType, merge_key: str, options: DiffOptions
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return (additions and changes, deleted scalars, element order)."""
    if not old:
        return ([] if options.ignores_changes else new), [], []
    kind = element_kind(old, new)
    order: list[Any] = []
    if kind == "map":
        changed, deleted = _diff_maps_by_key(old, new, type_, merge_key, options)
        changed = sorted_by_order(changed, new, merge_key, kind)
        is_same_order = same_order(old, new, merge_key)
        changed = changed + deleted
        changes_order = not options.ignores_changes and (changed or not is_same_order)
        if options.sets_element_order and (changes_order or (not options.ignores_deletions and changed)):
            order = [{merge_key: item[merge_key]} for item in new]
        return changed, [], order
    added, deleted = _diff_scalars(old, new, options)
    added = sorted_by_order(added, new, merge_key, kind)
    if options.sets_element_order and (
        (not options.ignores_deletions and deleted)
        or (not options.ignores_changes and not deep_equal(old, new))
    ):
        order = new
    return added, deleted, order


def _diff_scalars(old: list[Any], new: list[Any], options: DiffOptions) -> tuple[list[Any], list[Any]]:
    old[:] = sorted_scalars(old)
    wanted = sorted_scalars(new)
    added: list[Any] = []
    deleted: list[Any] = []
    at_old = at_new = 0
    while at_old < len(old) or at_new < len(wanted):
        left = value_text(old[at_old]) if at_old < len(old) else None
        right = value_text(wanted[at_new]) if at_new < len(wanted) else None
        if left is not None and left == right:
            at_old += 1
            at_new += 1
        elif right is not None and (left is None or left > right):
            if not options.ignores_changes:
                added.append(wanted[at_new])
            at_new += 1
        else:
            if not options.ignores_deletions:
                deleted.append(old[at_old])
            at_old += 1
    return added, without_duplicates(deleted)


def _diff_maps_by_key(
    old: list[Any], new: list[Any], type_: PatchType, merge_key: str, options: DiffOptions
) -> tuple[list[Any], list[Any]]:
    changed: list[Any] = []
    deleted: list[Any] = []
    had, wanted = sorted_maps(old, merge_key), sorted_maps(new, merge_key)
    at_old = at_new = 0
    while at_old < len(had) or at_new < len(wanted):
        left = _key_text(had[at_old], merge_key) if at_old < len(had) else None
        right = _key_text(wanted[at_new], merge_key) if at_new < len(wanted) else None
        if left is not None and left == right:
            inner = diff_maps(had[at_old], wanted[at_new], type_, options)
            if inner:
                inner[merge_key] = wanted[at_new][merge_key]
                changed.append(inner)
            at_old += 1
            at_new += 1
        elif right is not None and (left is None or left > right):
            if not options.ignores_changes:
                changed.append(wanted[at_new])
            at_new += 1
        else:
            if not options.ignores_deletions:
                deleted.append({merge_key: had[at_old][merge_key], DIRECTIVE: "delete"})
            at_old += 1
    return changed, deleted


def _key_text(item: Any, merge_key: str) -> str:
    if not isinstance(item, dict):
        raise wrong_type("map", item)
    if merge_key not in item:
        raise no_merge_key(item, merge_key)
    return value_text(item[merge_key])


def have_conflicts(left: Any, right: Any, type_: PatchType, strategy: str = "", merge_key: str = "") -> bool:
    """Return whether two strategic patches set any field to different values."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.get(DIRECTIVE) != right.get(DIRECTIVE):
            return True
        return strategy != "replace" and _maps_conflict(left, right, type_)
    if isinstance(left, list):
        return not isinstance(right, list) or _lists_conflict(left, right, type_, strategy, merge_key)
    return not deep_equal(left, right)


def _maps_conflict(left: Object, right: Object, type_: PatchType) -> bool:
    for key, value in left.items():
        if key in (DIRECTIVE, RETAIN_KEYS) or key not in right:
            continue
        other = right[key]
        if isinstance(value, dict):
            found = look_up(type_, key)
        elif isinstance(value, list):
            found = look_up_list(type_, key)
        elif have_conflicts(value, other, type_):
            return True
        else:
            continue
        if have_conflicts(value, other, found.type, found.strategy, found.merge_key):
            return True
    return False


def _lists_conflict(
    left: list[Any], right: list[Any], type_: PatchType, strategy: str, merge_key: str
) -> bool:
    kind = element_kind(left, right)
    if strategy == "merge":
        if kind != "map":
            return False
        ours, theirs = _by_key(left, merge_key), _by_key(right, merge_key)
        return any(have_conflicts(item, theirs[key], type_) for key, item in ours.items() if key in theirs)
    if len(left) != len(right):
        return True
    if kind != "map":
        left, right = sorted_scalars(without_duplicates(left)), sorted_scalars(without_duplicates(right))
    return any(have_conflicts(one, other, type_) for one, other in zip(left, right, strict=False))


def _by_key(items: list[Any], merge_key: str) -> dict[str, Any]:
    built = {}
    for item in items:
        if not isinstance(item, dict):
            raise PatchError(f"invalid element type in merging list:{value_text(items)}")
        if merge_key not in item:
            raise PatchError(
                f"cannot find merge key `{merge_key}` in merging list element:{value_text(item)}"
            )
        built[value_text(item[merge_key])] = item
    return built
