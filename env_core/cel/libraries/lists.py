"""Kubernetes' functions of lists: `sum`, `min`, `max`, `isSorted`, `indexOf`, `includes`.

Source: k8s.io/apiserver v0.37 pkg/cel/library/lists.go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, Overload, member
from env_core.cel._types import BOOL, BYTES, DOUBLE, DURATION, DYN_TYPE, INT, STRING, TIMESTAMP, UINT, Type
from env_core.cel._values import CelError, Duration, UInt, compare, equal, no_overload
from env_core.cel.libraries.standard import add

_A: Final = _types.param("A")
_ZEROS: Final[dict[str, tuple[Type, Any]]] = {
    "int": (INT, 0),
    "uint": (UINT, UInt(0)),
    "double": (DOUBLE, 0.0),
    "duration": (DURATION, Duration(0)),
}
COMPARABLE: Final = (
    ("int", INT), ("uint", UINT), ("double", DOUBLE), ("bool", BOOL), ("duration", DURATION),
    ("timestamp", TIMESTAMP), ("string", STRING), ("bytes", BYTES),
)  # fmt: skip


def _is_sorted(values: list[Any]) -> Any:
    return all(compare(one, two) != 1 for one, two in itertools.pairwise(values))


def _sum_from(zero: Any) -> Callable[[list[Any]], Any]:
    def run(values: list[Any]) -> Any:
        total = zero
        for value in values:
            total = add(total, value)
            if isinstance(total, CelError):
                return no_overload()
        return total

    return run


def _extreme(name: str, worse: int) -> Callable[[list[Any]], Any]:
    def run(values: list[Any]) -> Any:
        if not values:
            return CelError(f"{name} called on empty list")
        best = values[0]
        for value in values[1:]:
            if compare(best, value) == worse:
                best = value
        return best

    return run


def _index_of(values: list[Any], wanted: Any) -> int:
    return next((index for index, value in enumerate(values) if equal(value, wanted) is True), -1)


def _last_index_of(values: list[Any], wanted: Any) -> int:
    found = [index for index, value in enumerate(values) if equal(value, wanted) is True]
    return found[-1] if found else -1


def _includes(target: Any, wanted: Any) -> bool:
    values = target if isinstance(target, list) else [target]
    return any(equal(value, wanted) is True for value in values)


def _of_comparable(id_: str, run: Callable[..., Any], result: Type | None = None) -> tuple[Overload, ...]:
    return tuple(
        member(id_.format(name), (_types.list_of(type_),), type_ if result is None else result, run)
        for name, type_ in COMPARABLE
    )


LIBRARY = Library(
    order=30,
    functions={
        "isSorted": Function(_of_comparable("list_{0}_is_sorted_bool", _is_sorted, BOOL)),
        "sum": Function(
            tuple(
                member(f"list_{name}_sum_{name}", (_types.list_of(type_),), type_, _sum_from(zero))
                for name, (type_, zero) in _ZEROS.items()
            )
        ),
        "max": Function(_of_comparable("list_{0}_max_{0}", _extreme("max", -1))),
        "min": Function(_of_comparable("list_{0}_min_{0}", _extreme("min", 1))),
        "indexOf": Function((member("list_a_index_of_int", (_types.list_of(_A), _A), INT, _index_of),)),
        "lastIndexOf": Function(
            (member("list_a_last_index_of_int", (_types.list_of(_A), _A), INT, _last_index_of),)
        ),
        "includes": Function((member("list_includes_dyn_dyn", (DYN_TYPE, DYN_TYPE), BOOL, _includes),)),
    },
    stored_only=frozenset({"includes"}),
    source="k8s.io/apiserver v0.37 pkg/cel/library/lists.go",
)
