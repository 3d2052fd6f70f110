"""Applying a parsed JSONPath template to an object.

Source: k8s.io/client-go util/jsonpath (FindResults and its evaluators); tests/golden/l0/output_formats.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.objects._jsonpath_nodes import (
    Array,
    Field,
    Filter,
    Identifier,
    JSONPathError,
    Literal,
    Node,
    Recursive,
    Sequence,
    Text,
    Union,
    Wildcard,
)
from env_core.objects.goformat import type_name, value_text

_WORK_MAX: Final = 1_000_000
_INCOMPATIBLE: Final = "incompatible types for comparison"
_INCOMPARABLE: Final = "invalid type for comparison"


class Walk:
    """One evaluation; it carries the state of nested ranges and a budget of visited values."""

    __slots__ = (
        "_allow_missing",
        "_ended_at",
        "_nodes",
        "_pending_ends",
        "_pending_ranges",
        "_range_depth",
        "work",
    )

    def __init__(self, nodes: tuple[Node, ...], *, allow_missing: bool) -> None:
        self._nodes = nodes
        self._allow_missing = allow_missing
        self._pending_ranges = 0
        self._pending_ends = 0
        self._range_depth = 0
        self._ended_at = -1
        self.work = 0
        """How many values were visited."""

    def results(self, subject: Any, start: int = 0) -> list[list[Any]]:
        """Return what each action from `start` on finds in `subject`, up to the end of its range.

        Raises:
            JSONPathError: with client-go's text, or when the template asks for an absurd amount of work.
        """
        found: list[list[Any]] = []
        index = start
        while index < len(self._nodes):
            values = self._visit([subject], self._nodes[index])
            if 0 < self._pending_ends <= self._range_depth:
                self._pending_ends -= 1
                self._ended_at = index
                break
            if self._pending_ranges:
                self._pending_ranges -= 1
                self._range_depth += 1
                if self._range_depth > 50:
                    raise JSONPathError("template is too complex")
                for value in values:
                    found.extend(self.results(value, index + 1))
                if not values:
                    # Nothing to show, but the end must be found, and a strict run complains here.
                    self.results(None, index + 1)
                self._range_depth -= 1
                index = max(index, self._ended_at)
            else:
                found.append(values)
            index += 1
        return found

    def _spend(self, amount: int) -> None:
        self.work += amount + 1
        if self.work > _WORK_MAX:
            raise JSONPathError("template is too complex")

    def _visit(self, values: list[Any], node: Node) -> list[Any]:
        self._spend(len(values))
        if isinstance(node, Field):
            return self._field(values, node.name)
        if isinstance(node, Sequence):
            for child in node.nodes:
                values = self._visit(values, child)
            return values
        if isinstance(node, Array):
            return _elements(values, node)
        if isinstance(node, Text):
            return [node.text]
        if isinstance(node, Filter):
            return self._filter(values, node)
        if isinstance(node, Literal):
            return [node.value] * len(values)
        if isinstance(node, Wildcard):
            return self._all_children(values)
        if isinstance(node, Recursive):
            found: list[Any] = []
            self._descend(values, found, 0)
            return found
        if isinstance(node, Union):
            return self._union(values, node)
        return self._identifier(values, node)

    def _field(self, values: list[Any], name: str) -> list[Any]:
        if not values:
            return []
        found = [value[name] for value in values if isinstance(value, dict) and name in value]
        if not found and not self._allow_missing:
            raise JSONPathError(f"{name} is not found")
        return found

    def _all_children(self, values: list[Any]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            children = _children(value)
            self._spend(len(children))
            found.extend(children)
        return found

    def _union(self, values: list[Any], node: Union) -> list[Any]:
        found: list[Any] = []
        for member in node.members:
            try:
                found.extend(self._visit(values, member))
            except JSONPathError as error:
                raise JSONPathError(str(error), values) from error
        return found

    def _identifier(self, values: list[Any], node: Identifier) -> list[Any]:
        if node.name == "range":
            self._pending_ranges += 1
            return values
        if node.name == "end":
            if not self._range_depth:
                raise JSONPathError("not in range, nothing to end")
            self._pending_ends += 1
            return []
        raise JSONPathError(f"unrecognized identifier {node.name}", values)

    def _descend(self, values: list[Any], found: list[Any], depth: int) -> None:
        if depth > 200:
            raise JSONPathError("template is too complex")
        for value in values:
            children = _children(value)
            if children:
                self._spend(len(children))
                found.append(value)
                self._descend(children, found, depth + 1)

    def _filter(self, values: list[Any], node: Filter) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if not isinstance(value, list):
                text = f"{value_text(value)} is not array or slice and cannot be filtered"
                raise JSONPathError(text, values)
            for item in value:
                if self._passes(item, node, values, found):
                    found.append(item)
        return found

    def _passes(self, item: Any, node: Filter, values: list[Any], found: list[Any]) -> bool:
        try:
            lefts = self._visit([item], node.left)
        except JSONPathError as error:
            if node.operator == "exists":
                return bool(error.values)
            raise JSONPathError(str(error), values) from error
        if node.operator == "exists" or not lefts:
            return bool(lefts)
        if len(lefts) > 1:
            raise JSONPathError("can only compare one element at a time", values)
        try:
            rights = self._visit([item], node.right)
        except JSONPathError as error:
            raise JSONPathError(str(error), values) from error
        if not rights:
            return False
        if len(rights) > 1:
            raise JSONPathError("can only compare one element at a time", values)
        return _compared(lefts[0], node.operator, rights[0], found)


def _children(value: Any) -> list[Any]:
    """Return a value's parts; Go walks maps in random order, here it is that of the keys."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, list):
        return value
    return list(value.encode()) if isinstance(value, str) else []


def _elements(values: list[Any], node: Array) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise JSONPathError(f"{type_name(value)} is not array or slice", values)
        length = len(value)
        start = node.start.value if node.start.is_known else 0
        if start < 0:
            start += length
        end = node.end.value if node.end.is_known else length
        if end < 0 or (end == 0 and node.end.is_derived):
            end += length
        if start == end:
            # What the elements before gave is all there is.
            return found
        if not 0 <= start < length:
            raise JSONPathError(f"array index out of bounds: index {start}, length {length}", values)
        if not 0 <= end <= length:
            raise JSONPathError(f"array index out of bounds: index {end - 1}, length {length}", values)
        if start > end:
            raise JSONPathError(f"starting index {start} is greater than ending index {end}", values)
        if node.step.is_known and node.step.value <= 0:
            raise JSONPathError("step must be > 0", values)
        found.extend(value[start : end : node.step.value if node.step.is_known else 1])
    return found


def _basic_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float | str):
        return type_name(value)
    return ""


def _compared(left: Any, operator: str, right: Any, found: list[Any]) -> bool:
    if operator not in ("==", "!=", "<", "<=", ">", ">="):
        raise JSONPathError(f"unrecognized filter operator {operator}", found)
    kind, other = _basic_kind(left), _basic_kind(right)
    if not kind or not other:
        raise JSONPathError(_INCOMPARABLE, found)
    if kind != other:
        raise JSONPathError(_INCOMPATIBLE, found)
    if operator in ("==", "!="):
        return bool((left == right) is (operator == "=="))
    if kind == "bool":
        raise JSONPathError(_INCOMPARABLE, found)
    if operator in ("<", ">="):
        return bool((left < right) is (operator == "<"))
    return bool((left <= right) is (operator == "<="))
