"""Lists as sets.

Source: github.com/google/cel-go v0.29 ext/sets.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Cost, Function, Library, overload
from env_core.cel._types import BOOL
from env_core.cel._values import size
from env_core.cel.libraries.standard import contains

_LIST: Final = _types.list_of(_types.param("T"))


def _contains(values: list[Any], part: list[Any]) -> bool:
    return all(contains(each, values) is True for each in part)


def _intersects(one: list[Any], two: list[Any]) -> bool:
    return any(contains(each, two) is True for each in one)


def _equivalent(one: list[Any], two: list[Any]) -> bool:
    return _contains(one, two) and _contains(two, one)


def _cost(factor: int) -> Cost:
    def cost(args: Sequence[Any], _result: Any) -> int:
        return 1 + size(args[0]) * size(args[1]) * factor

    return cost


def _function(name: str, run: Callable[..., bool], factor: int = 1) -> Function:
    made = overload(f"list_sets_{name}_list", (_LIST, _LIST), BOOL, run, cost=_cost(factor))
    return Function((made,))


LIBRARY = Library(
    order=16,
    functions={
        "sets.contains": _function("contains", _contains),
        "sets.intersects": _function("intersects", _intersects),
        "sets.equivalent": _function("equivalent", _equivalent, 2),
    },
    source="github.com/google/cel-go v0.29 ext/sets.go",
)
