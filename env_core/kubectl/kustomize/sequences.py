"""Items of lists found by their keys, replaced, removed and appended.

Source: sigs.k8s.io/kustomize/kyaml yaml (fns.go, ElementSetter), yaml/walk (associative_sequence.go, appendListNode).
"""

from __future__ import annotations

from typing import Any

from env_core.kubectl.kustomize.values import is_null, text_of


def set_item(items: list[Any], item: Any, keys: list[str], values: list[str]) -> None:
    """Put `item` in the place of those with these values, or at the end; without an item they are removed."""
    kept: list[Any] = []
    is_found = False
    is_map_wanted = bool(keys and keys[0] and values and values[0])
    for one in items:
        if is_null(one) or one == {}:
            continue
        if not isinstance(one, dict) and is_map_wanted:
            kept.append(one)
            continue
        if not _has(one, keys, values):
            if values:
                kept.append(one)
            continue
        is_found = True
        if item is not None:
            kept.append(item)
    if item is not None and not is_found:
        kept.append(item)
    items[:] = kept


def _has(one: Any, keys: list[str], values: list[str]) -> bool:
    is_last = False
    for index, key in enumerate(keys):
        if index < len(values):
            value = values[index]
            if key == "":
                is_last = not isinstance(one, (dict, list)) and text_of(one) == value
            elif not isinstance(one, dict) or key not in one:
                is_last = False
            else:
                is_last = not value or text_of(one[key]) == value
        if not is_last:
            return False
    return True


def append_items(items: list[Any], others: list[Any], keys: list[str]) -> list[Any]:
    """Set every item of `others` in `items`, and return these."""
    for item in others:
        if keys[0] == "":
            set_item(items, item, [""], [text_of(item)])
            continue
        values: list[str] = []
        for key in keys:
            value = item.get(key) if isinstance(item, dict) else None
            if value is None and not (isinstance(item, dict) and key in item):
                items.append(item)
                continue
            values.append(text_of(value))
        if len(keys) > 1:
            set_item(items, None, keys, values)
        set_item(items, item, keys, values)
    return items
