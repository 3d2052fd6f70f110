"""Walks over typed values: what differs between two, which fields a configuration sets, what is left without some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from env_core.apiserver.managedfields.fieldset import EMPTY, LEAF, FieldSet, Node
from env_core.apiserver.managedfields.mergetypes import MergeType, Shape
from env_core.apiserver.managedfields.paths import key_element, value_element

ABSENT: Final = object()
"""Stands for a value that is not there, which is not the same as null."""


class Comparison(NamedTuple):
    """The fields that a change added, changed and removed."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet


_Change = tuple[Node | None, Node | None, Node | None]
_SAME: _Change = (None, None, None)
_CHANGED: _Change = (None, LEAF, None)


def compare(kind: MergeType, old: Any, new: Any) -> Comparison:
    """Return what differs between two objects. Parts that both share cost nothing.

    Source: structured-merge-diff typed/compare.go.
    """
    added, modified, removed = _compare(kind, old, new)
    return Comparison(*(EMPTY if node is None else node[1] for node in (added, modified, removed)))


def is_map(kind: MergeType, value: Any) -> bool:
    """Whether a value merges field by field."""
    return (kind.shape is Shape.MAP and (value is None or isinstance(value, dict))) or (
        kind.shape is Shape.DEDUCED and isinstance(value, dict)
    )


def is_list(kind: MergeType, value: Any) -> bool:
    """Whether a value merges item by item."""
    return kind.shape in (Shape.KEYED, Shape.SET) and (value is None or isinstance(value, list))


def _compare(kind: MergeType, old: Any, new: Any) -> _Change:
    if old is new:
        return _SAME
    if old is ABSENT:
        return _whole(kind, new), None, None
    if new is ABSENT:
        return None, None, _whole(kind, old)
    if old or new:  # two empty values are compared as one value each
        if is_map(kind, old) and is_map(kind, new):
            return _joined(
                [
                    (
                        f"f:{name}",
                        _compare(
                            kind.below(name), (old or {}).get(name, ABSENT), (new or {}).get(name, ABSENT)
                        ),
                    )
                    for name in {**(old or {}), **(new or {})}
                ]
            )
        if is_list(kind, old) and is_list(kind, new):
            return _compare_lists(kind, old or (), new or ())
    return _SAME if old == new and isinstance(old, bool) is isinstance(new, bool) else _CHANGED


def _compare_lists(kind: MergeType, old: Sequence[Any], new: Sequence[Any]) -> _Change:
    assert kind.element is not None
    before, after = items_of(kind, old), items_of(kind, new)
    changes: list[tuple[str, _Change]] = []
    for element in {**before, **after}:
        one, other = before.get(element, []), after.get(element, [])
        if len(one) <= 1 and len(other) <= 1:
            change = _compare(kind.element, one[0] if one else ABSENT, other[0] if other else ABSENT)
        elif len(one) > 1 and len(other) > 1:
            change = _SAME if one == other else _CHANGED
        elif len(one) > 1:
            change = (_whole(kind.element, other[0]) if other else None, None, LEAF)
        else:
            change = (LEAF, None, _whole(kind.element, one[0]) if one else None)
        changes.append((element, change))
    return _joined(changes)


def _joined(changes: list[tuple[str, _Change]]) -> _Change:
    sets: tuple[FieldSet, FieldSet, FieldSet] = ({}, {}, {})
    for element, change in changes:
        if change is not _SAME:
            for fields, node in zip(sets, change, strict=True):
                if node is not None:
                    fields[element] = node
    added, modified, removed = sets
    return (
        (False, added) if added else None,
        (False, modified) if modified else None,
        (False, removed) if removed else None,
    )


def _whole(kind: MergeType, value: Any) -> Node:
    """Return every field of a value that comes or goes, itself included."""
    if value:
        if is_map(kind, value):
            return True, {f"f:{name}": _whole(kind.below(name), item) for name, item in value.items()}
        if is_list(kind, value):
            assert kind.element is not None
            return True, {
                element: _whole(kind.element, items[0]) if len(items) == 1 else LEAF
                for element, items in items_of(kind, value).items()
            }
    return LEAF


def items_of(kind: MergeType, items: Sequence[Any]) -> dict[str, list[Any]]:
    """Return a list's items by path element; more than one under an element are duplicates."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item_element(kind, item), []).append(item)
    return found


def item_element(kind: MergeType, item: Any) -> str:
    """Return the path element of a list's item: its keys with their defaults, or its value."""
    if kind.shape is Shape.SET or not isinstance(item, dict):
        return value_element(item)
    keys: dict[str, Any] = {}
    for name in kind.keys:
        if name in item:
            keys[name] = item[name]
        elif name in kind.key_defaults:
            keys[name] = kind.key_defaults[name]
    return key_element(keys)


def fields_of(kind: MergeType, value: Any) -> FieldSet:
    """Return the fields that a configuration sets: its leaves, list items, and the keys of its maps.

    Source: structured-merge-diff typed/tofieldset.go.
    """
    return _fields(kind, value)[1]


def _fields(kind: MergeType, value: Any) -> Node:
    if is_map(kind, value):
        below: FieldSet = {}
        for name, item in (value or {}).items():
            is_member, inner = _fields(kind.below(name), item)
            is_member = is_member or item is None or item == {} or kind.declared(name) is None
            if is_member or inner:
                below[f"f:{name}"] = (is_member, inner)
        return False, below
    if is_list(kind, value):
        assert kind.element is not None
        return False, {
            element: (True, _fields(kind.element, items[0])[1]) if len(items) == 1 else LEAF
            for element, items in items_of(kind, value or ()).items()
        }
    return LEAF


def without_fields(kind: MergeType, value: Any, fields: FieldSet) -> Any:
    """Return a value without the fields of a set; a map or list that loses everything becomes null.

    Source: structured-merge-diff typed/remove.go.
    """
    if is_map(kind, value):
        left: dict[str, Any] = {}
        for name, item in (value or {}).items():
            is_member, below = fields.get(f"f:{name}", (False, EMPTY))
            if not is_member:
                left[name] = without_fields(kind.below(name), item, below) if below else item
        return left or None
    if is_list(kind, value):
        assert kind.element is not None
        kept: list[Any] = []
        for item in value or ():
            is_member, below = fields.get(item_element(kind, item), (False, EMPTY))
            if not is_member:
                kept.append(without_fields(kind.element, item, below) if below else item)
        return kept or None
    return value if kind.scalar not in ("map", "list") else None


def with_named_fields(kind: MergeType, fields: FieldSet) -> FieldSet:
    """Return the set with every declared field that has something below it as a member.

    Source: structured-merge-diff fieldpath/set.go, EnsureNamedFieldsAreMembers.
    """
    ensured: FieldSet = {}
    for element, (is_member, below) in fields.items():
        if element.startswith("f:"):
            name = element[2:]
            is_declared = kind.shape is Shape.MAP and kind.declared(name) is not None
            ensured[element] = (
                is_member or (is_declared and bool(below)),
                with_named_fields(kind.below(name), below),
            )
        else:
            ensured[element] = (is_member, with_named_fields(kind.element or kind, below))
    return ensured
