"""Sets of field paths: immutable trees, their algebra, and FieldsV1, the JSON form of them.

Source: structured-merge-diff fieldpath/set.go, serialize.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from env_core.apiserver.managedfields.paths import Path, element_order, read_element
from env_core.objects.yamlin import DEPTH_MAX

Node = tuple[bool, "FieldSet"]
"""Whether the element itself is in the set, and what of below it is."""
FieldSet = dict[str, Node]
"""The subtrees of a set by path element. A tree is never changed once it is made; nodes that hold nothing do not occur."""

EMPTY: FieldSet = {}
LEAF: Node = (True, EMPTY)


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths that are in either set."""
    if not left or left is right:
        return right
    if not right:
        return left
    both = dict(left)
    for element, node in right.items():
        other = both.get(element)
        both[element] = node if other is None else (node[0] or other[0], union(other[1], node[1]))
    return both


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths of `left` that are not in `right`."""
    if not right or not left:
        return left
    kept: FieldSet = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None:
            kept[element] = node
            continue
        is_member, below = node[0] and not other[0], difference(node[1], other[1])
        if is_member or below:
            kept[element] = (is_member, below)
    return kept


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths that are in both sets."""
    kept: FieldSet = {}
    for element, node in left.items():
        other = right.get(element)
        if other is not None:
            is_member, below = node[0] and other[0], intersection(node[1], other[1])
            if is_member or below:
                kept[element] = (is_member, below)
    return kept


def without(fields: FieldSet, *elements: str) -> FieldSet:
    """Return the set without some top-level elements and everything below them."""
    if not any(element in fields for element in elements):
        return fields
    return {element: node for element, node in fields.items() if element not in elements}


def set_of(*paths: Path) -> FieldSet:
    """Return the set of some paths."""
    fields = EMPTY
    for path in paths:
        node = LEAF
        for element in reversed(path[1:]):
            node = (False, {element: node})
        fields = union(fields, {path[0]: node})
    return fields


def has_path(fields: FieldSet, path: Path) -> bool:
    """Whether a path is in the set."""
    node: Node = (False, fields)
    for element in path:
        found = node[1].get(element)
        if found is None:
            return False
        node = found
    return node[0]


def paths_of(fields: FieldSet, prefix: Path = ()) -> Iterator[Path]:
    """Yield every path in the order of conflicts: the members of a level, then what is below them."""
    ordered = sorted(fields, key=element_order)
    for element in ordered:
        if fields[element][0]:
            yield (*prefix, element)
    for element in ordered:
        if fields[element][1]:
            yield from paths_of(fields[element][1], (*prefix, element))


def to_fields_v1(fields: FieldSet) -> dict[str, Any]:
    """Return the set as FieldsV1; "." marks an element that is in the set besides what is below it."""
    encoded: dict[str, Any] = {}
    for element in sorted(fields, key=element_order) if len(fields) > 1 else fields:
        is_member, below = fields[element]
        inner = to_fields_v1(below)
        encoded[element] = {".": {}, **inner} if is_member and inner else inner
    return encoded


def from_fields_v1(encoded: Any, depth: int = 0) -> FieldSet:
    """Return the set that FieldsV1 spells.

    Raises:
        ValueError: for what is no FieldsV1, or deeper than any object.
    """
    if type(encoded) is not dict or depth > DEPTH_MAX:
        raise ValueError("FieldsV1 must be an object")
    fields: FieldSet = {}
    for text, inner in encoded.items():
        if text == ".":
            continue
        element = read_element(text)
        if element is not None:
            below = from_fields_v1(inner, depth + 1)
            fields[element] = (not below or "." in inner, below)
    return fields
