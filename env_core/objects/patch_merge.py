"""JSON Merge Patch (RFC 7386): applied as the API server does, computed two-way and three-way as kubectl does."""

from __future__ import annotations

from typing import Any

from env_core.objects._patch_problem import PatchError, bad_request
from env_core.objects.gojson import JsonSyntaxError, kind_word, plain, read, repeated_fields
from env_core.objects.yamlout import to_yaml
from env_core.world import Object

__all__ = [
    "PatchError",
    "apply_merge_patch",
    "conflict_text",
    "create_merge_patch",
    "create_three_way_json_merge_patch",
    "read_merge_patch",
]


def read_merge_patch(
    patch: str | bytes, prefix: str = "error decoding patch: "
) -> tuple[Object, tuple[str, ...]]:
    """Parse the text of a merge patch; return it with the strict warnings about repeated fields.

    Raises:
        PatchError: 400, in the server's words. For strategic patches `prefix` is "".
    """
    try:
        parsed = read(patch)
    except JsonSyntaxError as why:
        raise bad_request(f"{prefix}{why}") from None
    if parsed is None:
        return {}, ()
    if not isinstance(parsed, dict):
        what = f"json: cannot unmarshal {kind_word(parsed)} into Go value of type map[string]interface {{}}"
        raise bad_request(prefix + what)
    return plain(parsed), tuple(repeated_fields(parsed))


def apply_merge_patch(document: Object, patch: Object) -> Object:
    """Return `document` with `patch` merged in. Merged objects get sorted keys, as Go prints them.

    Source: gopkg.in/evanphx/json-patch.v4 MergePatch; tests/golden/l0/patch_json.
    """
    built = {**document}
    for key, value in patch.items():
        if value is None:
            built.pop(key, None)
        elif isinstance(value, dict) and isinstance(built.get(key), dict):
            built[key] = apply_merge_patch(built[key], value)
        else:
            built[key] = _pruned(value)
    return {key: built[key] for key in sorted(built)}


def _pruned(value: Any) -> Any:
    """Return a value without the null members of its objects; nulls in arrays stay."""
    if isinstance(value, dict):
        return {key: _pruned(value[key]) for key in sorted(value) if value[key] is not None}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return value


def _same(left: Any, right: Any) -> bool:
    """Compare as json-patch does: types must agree, and null equals an absent member."""
    if isinstance(left, dict) and isinstance(right, dict):
        return all(_same(left.get(key), right.get(key)) for key in {**left, **right})
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return _word(left) == _word(right) and bool(left == right)


def _word(value: Any) -> str:
    return kind_word(value)


def create_merge_patch(original: Object, modified: Object) -> Object:
    """Return the merge patch that turns `original` into `modified`.

    Source: json-patch.v4 CreateMergePatch; the `jsonMergePatch` field of tests/golden/l0/patch_twoway.
    """
    patch: Object = {}
    for key, new in modified.items():
        if key not in original:
            patch[key] = new
            continue
        old = original[key]
        if isinstance(old, dict) and isinstance(new, dict):
            inner = create_merge_patch(old, new)
            if inner:
                patch[key] = inner
        elif not _same(old, new):
            patch[key] = new
    for key in original:
        if key not in modified:
            patch[key] = None
    return patch


def create_three_way_json_merge_patch(original: Object | None, modified: Object, current: Object) -> Object:
    """Return the patch that `kubectl apply` sends for kinds without a Go type (custom resources).

    `original` is what was last applied, None when nothing says.

    Raises:
        PatchError: the two halves contradict each other.

    Source: apimachinery jsonmergepatch; the `jsonMergePatch` field of tests/golden/l0/patch_threeway.
    """
    changes = _without_nulls(create_merge_patch(current, modified))
    deletions = _only_nulls(create_merge_patch(original or {}, modified))
    if has_conflicts(changes, deletions):
        raise PatchError(conflict_text(changes, deletions))
    return _merged(deletions, changes)


def _without_nulls(patch: Object) -> Object:
    kept: Object = {}
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            inner = _without_nulls(value)
            if inner:
                kept[key] = inner
        elif value is not None:
            kept[key] = value
    return kept


def _only_nulls(patch: Object) -> Object:
    kept: Object = {}
    for key, value in patch.items():
        if value is None:
            kept[key] = None
        elif isinstance(value, dict):
            inner = _only_nulls(value)
            if inner:
                kept[key] = inner
    return kept


def _merged(deletions: Object, changes: Object) -> Object:
    built = {**deletions}
    for key, value in changes.items():
        present = built.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            built[key] = _merged(present, value)
        else:
            built[key] = _pruned(value)
    return built


def has_conflicts(left: Any, right: Any) -> bool:
    """Return whether two patches set any key to different values.

    Source: apimachinery mergepatch.HasConflicts.
    """
    if isinstance(left, dict):
        if not isinstance(right, dict):
            return True
        return any(has_conflicts(value, right[key]) for key, value in left.items() if key in right)
    if isinstance(left, list):
        if not isinstance(right, list) or len(left) != len(right):
            return True
        return any(map(has_conflicts, left, right))
    return not _same(left, right)


def conflict_text(patch: Object, changed: Object) -> str:
    """Return the message of a patch that contradicts what others changed."""
    return f"patch:\n{to_yaml(patch)}\nconflicts with changes made from original to current:\n{to_yaml(changed)}\n"
