"""CEL's own functions of lists: `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.

Source: github.com/google/cel-go v0.29 ext/lists.go, version 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._costs import allocated, self_compared
from env_core.cel._declarations import Function, Library, Overload, member, overload
from env_core.cel._frame import LIMIT_TEXT, CostExceeded
from env_core.cel._types import INT
from env_core.cel._values import CelError, compare, equal, no_overload, size, type_of
from env_core.cel.libraries.lists import COMPARABLE

_LIST: Final = _types.list_of(_types.param("T"))
_LENGTH_MAX: Final = 1_000_000


def _slice(values: list[Any], start: int, end: int) -> Any:
    head = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        return CelError(f"{head}negative indexes not supported")
    if start > end:
        return CelError(f"{head}start index must be less than or equal to end index")
    if len(values) < end:
        return CelError(f"{head}list is length {len(values)}")
    return values[start:end]


def _flatten(values: Any, depth: Any = 1) -> Any:
    if not isinstance(values, list) or type(depth) is not int:
        return no_overload(values)
    if depth < 0:
        return CelError("level must be non-negative")
    return _flat(values, depth)


def _flat(values: list[Any], depth: int) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, list) and depth > 0:
            found += _flat(value, depth - 1)
        else:
            found.append(value)
        if len(found) > _LENGTH_MAX:
            raise CostExceeded(LIMIT_TEXT)
    return found


def _sort(values: Any) -> Any:
    return _sort_by(values, values)


def _sort_by(values: Any, keys: Any) -> Any:
    if not isinstance(values, list) or not isinstance(keys, list):
        return no_overload()
    if len(values) != len(keys):
        text = (
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(values)} and {len(keys)} elements respectively"
        )
        return CelError(text)
    if not keys:
        return values
    first = type_of(keys[0])
    if isinstance(compare(keys[0], keys[0]), CelError):
        return CelError("list elements must be comparable")
    if any(type_of(key) != first for key in keys):
        return CelError("list elements must have the same type")
    pairs = sorted(zip(keys, values, strict=True), key=cmp_to_key(_by_key))
    return [value for _, value in pairs]


def _by_key(one: tuple[Any, Any], two: tuple[Any, Any]) -> int:
    order: int = compare(one[0], two[0])
    return order


def _range(count: int) -> Any:
    if count > _LENGTH_MAX:
        raise CostExceeded(LIMIT_TEXT)
    return list(range(count))


def _distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(equal(value, each) is True for each in found):
            found.append(value)
    return found


def _output_cost(_args: Sequence[Any], result: Any) -> int:
    return allocated(size(result))


def _flatten_cost(args: Sequence[Any], _result: Any) -> int:
    depth = max(args[1], 0) if len(args) == 2 and type(args[1]) is int else 1
    return allocated(size(args[0]), float(depth))


def _sort_cost(args: Sequence[Any], _result: Any) -> int:
    return self_compared(args[-1]) if isinstance(args[-1], list) else allocated(2)


def _sorts(id_: str, *, has_keys: bool) -> tuple[Overload, ...]:
    return tuple(
        member(
            id_.format(type_.name),
            (_LIST, _types.list_of(type_)) if has_keys else (_types.list_of(type_),),
            _LIST if has_keys else _types.list_of(type_),
            cost=_sort_cost,
        )
        for _name, type_ in COMPARABLE
    )


_DYN: Final = _types.LIST_DYN

LIBRARY = Library(
    order=21,
    functions={
        "slice": Function((member("list_slice", (_LIST, INT, INT), _LIST, _slice, cost=_output_cost),)),
        "flatten": Function(
            (
                member(
                    "list_flatten", (_types.list_of(_LIST),), _LIST, _flatten,
                    is_guarded=False, cost=_flatten_cost,
                ),
                member(
                    "list_flatten_int", (_DYN, INT), _DYN, _flatten, is_guarded=False, cost=_flatten_cost
                ),
            )
        ),
        "sort": Function(_sorts("list_{0}_sort", has_keys=False), _sort, "iterable"),
        "@sortByAssociatedKeys": Function(
            _sorts("list_{0}_sortByAssociatedKeys", has_keys=True), _sort_by, "iterable"
        ),
        "lists.range": Function(
            (overload("lists_range", (INT,), _types.list_of(INT), _range, cost=_output_cost),)
        ),
        "reverse": Function(
            (member("list_reverse", (_LIST,), _LIST, lambda values: values[::-1], cost=_output_cost),)
        ),
        "distinct": Function((member("list_distinct", (_LIST,), _LIST, _distinct, cost=_sort_cost),)),
    },
    source="github.com/google/cel-go v0.29 ext/lists.go",
)  # fmt: skip
