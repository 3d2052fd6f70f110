"""Strategic merge, the applying half: a patch with its directives is merged into an object or another patch."""

from __future__ import annotations

from typing import Any

from env_core.objects._patch_problem import PatchError
from env_core.objects._strategic_order import (
    Places,
    interleaved,
    map_places,
    partition,
    same_item,
    split_deletions,
    without_duplicates,
)
from env_core.objects._strategic_types import (
    DELETE_FROM,
    DIRECTIVE,
    ELEMENT_ORDER,
    RETAIN_KEYS,
    PatchType,
    bad_directive,
    bad_format,
    deep_equal,
    element_kind,
    go_kind,
    look_up,
    look_up_list,
    no_merge_key,
    same,
    wrong_type,
)
from env_core.objects.goformat import value_text
from env_core.world import Object


def merge_map(original: Object, patch: Object, type_: PatchType, applies: bool) -> Object:
    """Return `original` with `patch` merged in. `patch` is used up: what was handled is removed from it.

    `applies` is True when `original` is an object (the server), False when it is itself a patch
    (three-way diff): then directives are kept and nulls carried on.
    """
    if DIRECTIVE in patch:
        return _by_directive(patch)
    built = dict(original)
    _retain_keys(built, patch, applies)
    _merge_ordered_lists(built, patch, type_, applies)
    for key, value in list(patch.items()):
        is_deletion = key.startswith(DELETE_FROM)
        if is_deletion:
            if not applies:
                built[key] = value
                continue
            key = _directive_key(key, DELETE_FROM, "primitive list")
        if value is None:
            built.pop(key, None)
            if applies:
                continue
        if key not in built or go_kind(built[key]) != go_kind(value):
            if not is_deletion:
                _take(built, key, value, applies)
            continue
        if isinstance(value, dict):
            found = look_up(type_, key)
            if found.strategy == "replace":
                built[key] = value
            else:
                built[key] = merge_map(built[key], value, found.type, applies)
        elif isinstance(value, list):
            found = look_up_list(type_, key)
            built[key] = _merge_list(
                built[key], value, found.type, found.strategy, found.merge_key, applies, is_deletion
            )
        else:
            built[key] = value
    return built


def _by_directive(patch: Object) -> Object:
    directive = patch[DIRECTIVE]
    if directive == "replace":
        del patch[DIRECTIVE]
        return patch
    if directive == "delete":
        return {}
    raise bad_directive(directive, patch)


def _take(built: Object, key: str, value: Any, applies: bool) -> None:
    """Put a patch value where nothing comparable was, without its nulls and directives."""
    if applies:
        _discard_nulls(value)
    keeps, clean = _without_directives(value)
    if keeps:
        built[key] = clean
    else:
        built.pop(key, None)


def _discard_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for key, item in list(value.items()):
            if item is None:
                del value[key]
            else:
                _discard_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)


def _without_directives(value: Any) -> tuple[bool, Any]:
    """Return (whether to keep the value, the value); objects are cleaned in place."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return False, None
        for key, item in list(value.items()):
            keeps, clean = _without_directives(item)
            if keeps:
                value[key] = clean
            else:
                del value[key]
        return True, value
    if isinstance(value, list):
        cleaned = [_without_directives(item) for item in value]
        return True, [item for keeps, item in cleaned if keeps]
    return True, value


def _retain_keys(built: Object, patch: Object, applies: bool) -> None:
    if RETAIN_KEYS not in patch:
        return
    names = patch.pop(RETAIN_KEYS)
    if not applies:
        present = built.setdefault(RETAIN_KEYS, names)
        if not deep_equal(present, names):
            shown = f"{value_text(present)} and {value_text(names)}"
            raise PatchError(
                f"{shown} are not deep equal: this may happen when calculating the 3-way diff patch"
            )
        return
    if not isinstance(names, list):
        raise bad_format("retainKeys")
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE_FROM, ELEMENT_ORDER)) and key not in names:
            raise bad_format("retainKeys")
    for key in [key for key in built if key not in names]:
        del built[key]


def _directive_key(key: str, prefix: str, what: str) -> str:
    head, slash, name = key.partition("/")
    if not slash or head != prefix:
        raise bad_format(what)
    return name


def _merge_ordered_lists(built: Object, patch: Object, type_: PatchType, applies: bool) -> None:
    """Merge the lists that come with a `$setElementOrder` list, and remove both from the patch."""
    for key in [key for key in patch if key.startswith(ELEMENT_ORDER)]:
        order = patch[key]
        if not applies:
            if key in built:
                if not deep_equal(built[key], order):
                    raise bad_format("setElementOrder list")
            else:
                built[key] = order
        del patch[key]
        if not isinstance(order, list):
            raise wrong_type("slice", order)
        name = _directive_key(key, ELEMENT_ORDER, "setElementOrder list")
        for holder in (built, patch):
            if name in holder and not isinstance(holder[name], list):
                raise wrong_type("slice", holder[name])
        live: list[Any] = built.get(name, [])
        wanted: list[Any] = patch.get(name, [])
        found = look_up_list(type_, name)
        _check_order(wanted, order, found.merge_key)
        if name in built and name in patch:
            merged = _merge_list(live, wanted, found.type, found.strategy, found.merge_key, applies, False)
        elif name in built or name in patch:
            merged = live if name in built else wanted
        else:
            return
        named, others = partition(merged, order, found.merge_key)
        kind = element_kind(live, wanted)
        built[name] = interleaved(named, others, order, live, found.merge_key, kind)
        patch.pop(name, None)


def _check_order(wanted: list[Any], order: list[Any], merge_key: str) -> None:
    """Check that the patch's items come in the order that its own `$setElementOrder` list says."""
    if not wanted or not order:
        return
    kept = split_deletions(wanted)[0] if merge_key else wanted
    at_kept = at_order = 0
    while at_kept < len(kept) and at_order < len(order):
        item = kept[at_kept]
        if isinstance(item, dict) and DIRECTIVE in item:
            at_kept += 1
            continue
        if same_item(item, order[at_order], merge_key):
            at_kept += 1
        at_order += 1
    if at_kept < len(kept) and at_order >= len(order):
        lists = f"The order in patch list:\n{value_text(wanted)}\n doesn't match {ELEMENT_ORDER} list:\n{value_text(order)}\n"
        raise PatchError(lists)


def _merge_list(
    original: list[Any],
    patch: list[Any],
    type_: PatchType,
    strategy: str,
    merge_key: str,
    applies: bool,
    is_deletion: bool,
) -> list[Any]:
    if strategy != "merge" and not is_deletion:
        return patch
    if not original and not patch:
        return original
    kind = element_kind(original, patch)
    if kind != "map":
        if applies and is_deletion:
            return [item for item in original if not any(same(item, gone) for gone in patch)]
        merged = without_duplicates(original + patch)
    else:
        if not merge_key:
            raise PatchError(f"cannot merge lists without merge key for {type_.kind}")
        original, patch = _apply_list_directives(original, patch, merge_key)
        merged = _merge_items(original, patch, merge_key, type_, applies)
    named, others = partition(merged, patch, merge_key)
    return interleaved(named, others, patch, original, merge_key, kind)


def _apply_list_directives(
    original: list[Any], patch: list[Any], merge_key: str
) -> tuple[list[Any], list[Any]]:
    """Obey delete and replace items; return the remaining live list and the ordinary patch items."""
    ordinary: list[Any] = []
    gone: list[Any] = []
    replaces = False
    for item in patch:
        if DIRECTIVE not in item:
            ordinary.append(item)
            continue
        directive = item[DIRECTIVE]
        if directive == "delete":
            if merge_key not in item:
                raise no_merge_key(item, merge_key)
            gone.append(item[merge_key])
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise PatchError("merging lists cannot yet be specified in the patch")
        else:
            raise bad_directive(directive, item)
    if gone:
        map_places(original, merge_key)  # refuses what is no map
        deleted = Places(gone)
        original = [item for item in original if merge_key not in item or deleted.of(item[merge_key]) < 0]
    return (ordinary, []) if replaces else (original, ordinary)


def _merge_items(
    original: list[Any], patch: list[Any], merge_key: str, type_: PatchType, applies: bool
) -> list[Any]:
    built = list(original)
    places = map_places(built, merge_key) if patch else Places(())
    for item in patch:
        if merge_key not in item:
            raise no_merge_key(item, merge_key)
        index = places.of(item[merge_key])
        if index < 0:
            places.add(len(built), item[merge_key])
            built.append(item)
        else:
            built[index] = merge_map(built[index], item, type_, applies)
    return built
