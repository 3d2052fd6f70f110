"""The operators, `size`, `type`, `dyn` and the tests of strings.

Source: github.com/google/cel-go v0.29 common/stdlib/standard.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._conversions import identity, moment, to_type
from env_core.cel._declarations import Function, Library, Overload, member, overload
from env_core.cel._frame import LIMIT_TEXT, CostExceeded, Growing
from env_core.cel._types import BOOL, BYTES, DOUBLE, DURATION, DYN_TYPE, INT, STRING, TIMESTAMP, UINT, Type
from env_core.cel._values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    CelError,
    Duration,
    LazyMap,
    Timestamp,
    UInt,
    compare,
    equal,
    find,
    no_overload,
)
from env_core.objects.re2 import Re2Error, compiled

_A: Final = _types.param("A")
_B: Final = _types.param("B")
_LIST: Final = _types.list_of(_A)
_MAP: Final = _types.map_of(_A, _B)
_LENGTH_MAX: Final = 1_000_000
_TEXT_MAX: Final = 10_000_000


def _checked(value: int, kind: type) -> Any:
    if kind is UInt:
        return UInt(value) if 0 <= value <= UINT_MAX else CelError("unsigned integer overflow")
    return value if INT_MIN <= value <= INT_MAX else CelError("integer overflow")


def _span(nanoseconds: int) -> Any:
    return Duration(nanoseconds) if INT_MIN <= nanoseconds <= INT_MAX else CelError("integer overflow")


def add(one: Any, two: Any) -> Any:
    """Return `one + two`."""
    kind = type(one)
    if kind is Growing:
        return _grown(one, two)
    if kind is Duration and type(two) is Timestamp:
        return moment(two.nanoseconds + one.nanoseconds, two.offset_s)
    if kind is Timestamp and type(two) is Duration:
        return moment(one.nanoseconds + two.nanoseconds, one.offset_s)
    if kind is not type(two):
        return no_overload(two)
    if kind is Duration:
        return _span(one.nanoseconds + two.nanoseconds)
    if kind is int or kind is UInt:
        return _checked(int(one) + int(two), kind)
    if kind in (str, bytes, list):
        if len(one) + len(two) > (_LENGTH_MAX if kind is list else _TEXT_MAX):
            raise CostExceeded(LIMIT_TEXT)
        return one + two
    return one + two if kind is float else no_overload(two)


def _grown(one: Growing, two: Any) -> Any:
    if not isinstance(two, list):
        return no_overload(two)
    if len(one) + len(two) > _LENGTH_MAX:
        raise CostExceeded(LIMIT_TEXT)
    one.extend(two)
    return one


def _subtract(one: Any, two: Any) -> Any:
    kind = type(one)
    if kind is Timestamp and type(two) is Duration:
        return moment(one.nanoseconds - two.nanoseconds, one.offset_s)
    if kind is not type(two):
        return no_overload(two)
    if kind in (Timestamp, Duration):
        return _span(one.nanoseconds - two.nanoseconds)
    if kind is int or kind is UInt:
        return _checked(int(one) - int(two), kind)
    return one - two


def _multiply(one: Any, two: Any) -> Any:
    kind = type(one)
    if kind is not type(two):
        return no_overload(two)
    return one * two if kind is float else _checked(int(one) * int(two), kind)


def _divide(one: Any, two: Any) -> Any:
    kind = type(one)
    if kind is not type(two):
        return no_overload(two)
    if kind is float:
        return _float_quotient(one, two)
    if two == 0:
        return CelError("division by zero")
    quotient = abs(int(one)) // abs(int(two))
    return _checked(quotient if (one < 0) == (two < 0) else -quotient, kind)


def _float_quotient(one: float, two: float) -> float:
    if two != 0:
        return one / two
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, two)


def _modulo(one: Any, two: Any) -> Any:
    kind = type(one)
    if kind is not type(two):
        return no_overload(two)
    if two == 0:
        return CelError("modulus by zero")
    rest = abs(int(one)) % abs(int(two))
    return _checked(-rest if one < 0 else rest, kind)


def _negate(value: Any) -> Any:
    if type(value) is bool:
        return no_overload(value)
    if type(value) is Duration:
        return _span(-value.nanoseconds)
    return -value if type(value) is float else _checked(-value, int)


def _not(value: Any) -> Any:
    return not value if type(value) is bool else no_overload(value)


def _ordered(accepted: frozenset[int]) -> Callable[[Any, Any], Any]:
    def run(one: Any, two: Any) -> Any:
        order = compare(one, two)
        return order if isinstance(order, CelError) else order in accepted

    return run


def contains(value: Any, container: Any) -> Any:
    """Return `value in container`."""
    if isinstance(container, list):
        return any(equal(value, each) is True for each in container)
    if isinstance(container, (dict, LazyMap)):
        return find(container, value)[1]
    return no_overload(container)


def _matches(text: Any, pattern: Any) -> Any:
    if not isinstance(pattern, str):
        return no_overload(pattern)
    try:
        return compiled(pattern).search(text)
    except Re2Error as problem:
        return CelError(str(problem))


def _on_strings(test: Callable[[str, str], bool]) -> Callable[[Any, Any], Any]:
    def run(one: Any, two: Any) -> Any:
        if not isinstance(one, str):
            return no_overload(one)
        return test(one, two) if isinstance(two, str) else no_overload(two)

    return run


def _unreachable(*_values: Any) -> Any:
    raise AssertionError("planned without a call")


def _operator(overloads: tuple[Overload, ...], run: Callable[..., Any], trait: str = "") -> Function:
    return Function(overloads, run, trait)


def _pairs(
    prefix: str, types: tuple[tuple[str, Type, Type], ...], result: Type | None = None
) -> tuple[Overload, ...]:
    return tuple(
        overload(f"{prefix}_{name}", (type_, type_), result if result is not None else own)
        for name, type_, own in types
    )


_INT: Final = ("int64", INT, INT)
_UINT: Final = ("uint64", UINT, UINT)
_DOUBLE: Final = ("double", DOUBLE, DOUBLE)


def _comparison(prefix: str, accepted: frozenset[int]) -> Function:
    same = (("bool", BOOL), ("int64", INT))
    mixed = (
        ("int64_double", INT, DOUBLE), ("int64_uint64", INT, UINT), ("uint64", UINT, UINT),
        ("uint64_double", UINT, DOUBLE), ("uint64_int64", UINT, INT), ("double", DOUBLE, DOUBLE),
        ("double_int64", DOUBLE, INT), ("double_uint64", DOUBLE, UINT),
    )  # fmt: skip
    rest = (("string", STRING), ("bytes", BYTES), ("timestamp", TIMESTAMP), ("duration", DURATION))
    overloads = (
        *(overload(f"{prefix}_{name}", (type_, type_), BOOL) for name, type_ in same),
        *(overload(f"{prefix}_{name}", (one, two), BOOL) for name, one, two in mixed),
        *(overload(f"{prefix}_{name}", (type_, type_), BOOL) for name, type_ in rest),
    )
    return Function(overloads, _ordered(accepted), "comparer")


_SIZES: Final = (("bytes", BYTES), ("list", _LIST), ("map", _MAP), ("string", STRING))

LIBRARY = Library(
    order=0,
    functions={
        "_?_:_": _operator((overload("conditional", (BOOL, _A, _A), _A),), _unreachable),
        "_&&_": _operator((overload("logical_and", (BOOL, BOOL), BOOL),), _unreachable),
        "_||_": _operator((overload("logical_or", (BOOL, BOOL), BOOL),), _unreachable),
        "!_": _operator((overload("logical_not", (BOOL,), BOOL),), _not),
        "@not_strictly_false": _operator((overload("not_strictly_false", (BOOL,), BOOL),), _unreachable),
        "_==_": _operator((overload("equals", (_A, _A), BOOL),), _unreachable),
        "_!=_": _operator((overload("not_equals", (_A, _A), BOOL),), _unreachable),
        "_+_": _operator(
            (
                *_pairs("add", (("bytes", BYTES, BYTES), _DOUBLE)),
                overload("add_duration_duration", (DURATION, DURATION), DURATION),
                overload("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP),
                overload("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
                *_pairs("add", (_INT, ("list", _LIST, _LIST), ("string", STRING, STRING), _UINT)),
            ),
            add,
            "adder",
        ),
        "_-_": _operator(
            (
                *_pairs("subtract", (_DOUBLE,)),
                overload("subtract_duration_duration", (DURATION, DURATION), DURATION),
                *_pairs("subtract", (_INT,)),
                overload("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
                overload("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION),
                *_pairs("subtract", (_UINT,)),
            ),
            _subtract,
            "subtractor",
        ),
        "_*_": _operator(_pairs("multiply", (_DOUBLE, _INT, _UINT)), _multiply, "multiplier"),
        "_/_": _operator(_pairs("divide", (_DOUBLE, _INT, _UINT)), _divide, "divider"),
        "_%_": _operator(_pairs("modulo", (_INT, _UINT)), _modulo, "modder"),
        "-_": _operator(
            (overload("negate_double", (DOUBLE,), DOUBLE), overload("negate_int64", (INT,), INT)),
            _negate,
            "negator",
        ),
        "_<_": _comparison("less", frozenset({-1})),
        "_<=_": _comparison("less_equals", frozenset({-1, 0})),
        "_>_": _comparison("greater", frozenset({1})),
        "_>=_": _comparison("greater_equals", frozenset({0, 1})),
        "_[_]": _operator(
            (overload("index_list", (_LIST, INT), _A), overload("index_map", (_MAP, _A), _B)), _unreachable
        ),
        "@in": _operator(
            (overload("in_list", (_A, _LIST), BOOL), overload("in_map", (_A, _MAP), BOOL)), contains
        ),
        "size": _operator(
            tuple(
                make(f"size_{name}", (type_,), INT) for name, type_ in _SIZES for make in (overload, member)
            ),
            len,
            "sizer",
        ),
        "type": _operator((overload("type", (_A,), _types.type_of_type(_A)),), to_type),
        "dyn": _operator((overload("to_dyn", (_A,), DYN_TYPE),), identity),
        "contains": Function(
            (
                member(
                    "contains_string", (STRING, STRING), BOOL,
                    _on_strings(lambda one, two: two in one), is_guarded=False,
                ),
            )
        ),
        "startsWith": Function(
            (
                member(
                    "starts_with_string", (STRING, STRING), BOOL, _on_strings(str.startswith), is_guarded=False
                ),
            )
        ),
        "endsWith": Function(
            (
                member(
                    "ends_with_string", (STRING, STRING), BOOL, _on_strings(str.endswith), is_guarded=False
                ),
            )
        ),
        "matches": _operator(
            (overload("matches", (STRING, STRING), BOOL), member("matches_string", (STRING, STRING), BOOL)),
            _matches,
            "matcher",
        ),
    },
    types=(
        BOOL, BYTES, DOUBLE, DURATION, INT, _types.LIST_DYN, _types.MAP_DYN, _types.NULL_TYPE, STRING, TIMESTAMP,
        _types.TYPE_TYPE, UINT,
    ),
    source="github.com/google/cel-go v0.29 common/stdlib/standard.go",
)  # fmt: skip
