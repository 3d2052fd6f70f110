"""Plans calls of functions: which implementation, on which arguments, at what cost.

Source: github.com/google/cel-go v0.29 interpreter/planner.go, decorators.go and common/decls/decls.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from env_core.cel._costs import call_cost
from env_core.cel._declarations import Function, Implementation, Overload
from env_core.cel._environment import functions
from env_core.cel._frame import Frame, Growing, GrowingMap, Run
from env_core.cel._values import (
    NO_OVERLOAD,
    CelError,
    Duration,
    LazyMap,
    Timestamp,
    UInt,
    fits,
    type_name,
)
from env_core.objects.re2 import Re2Error, compiled

_CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"}
)
_PATTERNED: Final = frozenset({"matches", "find", "findAll"})

_NUMERIC: Final = frozenset({"adder", "comparer", "divider", "multiplier", "negator", "subtractor"})
_TRAITS: Final[dict[type, frozenset[str]]] = {
    bool: frozenset({"comparer", "negator"}),
    int: _NUMERIC | {"modder"},
    UInt: (_NUMERIC | {"modder"}) - {"negator"},
    float: _NUMERIC,
    str: frozenset({"adder", "comparer", "matcher", "receiver", "sizer"}),
    bytes: frozenset({"adder", "comparer", "sizer"}),
    list: frozenset({"adder", "container", "indexer", "iterable", "sizer"}),
    Growing: frozenset({"adder", "container", "indexer", "iterable", "sizer"}),
    dict: frozenset({"container", "indexer", "iterable", "sizer"}),
    GrowingMap: frozenset({"container", "indexer", "iterable", "sizer"}),
    LazyMap: frozenset({"container", "indexer", "iterable", "sizer"}),
    Duration: frozenset({"adder", "comparer", "negator", "receiver", "subtractor"}),
    Timestamp: frozenset({"adder", "comparer", "receiver", "subtractor"}),
}
"""What values of a type can do, as far as functions ask."""


class PlanProblem(Exception):
    """A constant part of the expression has no value, which shows before it is ever evaluated."""


def caller(name: str, overloads: Sequence[Overload], args: Sequence[Run], pattern: Any) -> Run:
    """Return the function that evaluates the arguments and calls.

    `pattern` is the second argument if it is constant: a regular expression is compiled once.

    Raises:
        PlanProblem: the pattern is malformed.
    """
    name = name.removeprefix(".")
    function = functions()[name]
    overload = overloads[0] if len(overloads) == 1 else None
    implementation = _implementation(name, function, overload)
    # With two arguments, one implementation for both evaluates both, even if the first has failed.
    is_eager = len(args) == 2 and (function.singleton is not None or overload is not None)
    if name in _PATTERNED and isinstance(pattern, str):
        _compile(pattern)
        is_eager = False
    cost = call_cost(name, overload)
    id_ = overload.id if overload is not None else ""

    def run(frame: Frame) -> Any:
        values = []
        problem: CelError | None = None
        for arg in args:
            value = arg(frame)
            values.append(value)
            if type(value) is CelError and problem is None:
                problem = value
                if not is_eager:
                    break
        result = implementation(*values) if problem is None else problem
        if len(values) == len(args):
            frame.spend(cost(values, result, id_))
        return result

    return run


def _compile(pattern: str) -> None:
    try:
        compiled(pattern)
    except Re2Error as problem:
        raise PlanProblem(str(problem)) from None


def _implementation(name: str, function: Function, overload: Overload | None) -> Implementation:
    if overload is not None and overload.implementation is not None:
        return _guarded(name, overload, overload.implementation)
    if function.singleton is not None:
        return _singleton(name, function.trait, function.singleton)
    return _dispatcher(name, function)


def _guarded(name: str, overload: Overload, implementation: Implementation) -> Implementation:
    if not overload.is_guarded:
        return implementation
    declared = overload.arguments

    def run(*values: Any) -> Any:
        if all(map(fits, declared, values)):
            return implementation(*values)
        return _unmatched(name, values)

    return run


def _singleton(name: str, trait: str, implementation: Implementation) -> Implementation:
    if not trait:
        return implementation

    def run(*values: Any) -> Any:
        traits = _TRAITS.get(type(values[0]), frozenset())
        if trait in traits:
            return implementation(*values)
        return CelError(NO_OVERLOAD if "receiver" in traits else f"{NO_OVERLOAD}: {name}")

    return run


def _dispatcher(name: str, function: Function) -> Implementation:
    """Return what looks for the overload that fits the values."""

    def run(*values: Any) -> Any:
        for overload in function.overloads:
            implementation = overload.implementation
            if implementation is None or len(overload.arguments) != len(values):
                continue
            if not overload.is_guarded or all(map(fits, overload.arguments, values)):
                return implementation(*values)
        return _unmatched(name, values)

    return run


def _unmatched(name: str, values: Sequence[Any]) -> CelError:
    return CelError(f"{NO_OVERLOAD}: {name}({', '.join(map(type_name, values))})")


def folded_conversion(name: str, overloads: Sequence[Overload], value: Any) -> Any:
    """Return the value of a conversion of a constant, None if the call is none.

    Raises:
        PlanProblem: the constant cannot be converted.
    """
    if name not in _CONVERSIONS:
        return None
    overload = overloads[0] if len(overloads) == 1 else None
    result = _implementation(name, functions()[name], overload)(value)
    if isinstance(result, CelError):
        raise PlanProblem(result.message)
    return result
