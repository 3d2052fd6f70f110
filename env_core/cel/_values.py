"""CEL's values. Strings, booleans, null, ints (64 bits), floats, bytes, lists and dicts are Python's own.

Objects of the API are values as they are. What Python lacks has a class here: unsigned numbers, durations,
timestamps, optionals and errors, which are values, too, until something absorbs them or they are the result.

Source: github.com/google/cel-go v0.29 common/types.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._types import Type

INT_MAX: Final = 2**63 - 1
INT_MIN: Final = -(2**63)
UINT_MAX: Final = 2**64 - 1
NO_OVERLOAD: Final = "no such overload"


class UInt(int):
    """An unsigned number of 64 bits."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, eq=False)
class Timestamp:
    """A moment, in nanoseconds since the Unix epoch; `offset_s` is the zone it is printed in."""

    nanoseconds: int
    offset_s: int = 0


@dataclass(frozen=True, slots=True)
class CelError:
    """What evaluation came to when it came to no value."""

    message: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value, or none (`is_set` False)."""

    value: Any = None
    is_set: bool = False


NONE: Final = Optional()


def optional(value: Any, *, is_set: bool) -> Optional:
    """Return an optional that holds a value, or none."""
    return Optional(value, True) if is_set else NONE


class Opaque:
    """A value of a library's own type, of which only the library's functions know more."""

    __slots__ = ()
    cel_type: Type
    """What `type()` says of it."""

    def size(self) -> int:
        """Return what cost rules take for its size."""
        return 1

    def equals(self, other: Any) -> Any:
        """Return whether the two are equal, or an error where they cannot be compared."""
        return self == other if type(self) is type(other) else no_overload(other)


class LazyMap(ABC):
    """A map whose values are computed when they are asked for."""

    __slots__ = ()

    @abstractmethod
    def find(self, key: str) -> tuple[Any, bool]:
        """Return the value and whether there is one."""


def no_overload(value: Any = None) -> CelError:
    """Return the error of an operation on values that do not go together; an error among them is passed on."""
    return value if isinstance(value, CelError) else CelError(NO_OVERLOAD)


_TYPES: Final[dict[type, Type]] = {
    bool: _types.BOOL,
    int: _types.INT,
    UInt: _types.UINT,
    float: _types.DOUBLE,
    str: _types.STRING,
    bytes: _types.BYTES,
    type(None): _types.NULL_TYPE,
    list: _types.LIST_DYN,
    dict: _types.MAP_DYN,
    LazyMap: _types.MAP_DYN,
    Duration: _types.DURATION,
    Timestamp: _types.TIMESTAMP,
    Optional: _types.optional_of(_types.DYN_TYPE),
    CelError: _types.ERROR_TYPE,
    Type: _types.TYPE_TYPE,
}


def type_of(value: Any) -> Type:
    """Return the run-time type of a value."""
    found = _TYPES.get(type(value))
    if found is not None:
        return found
    return value.cel_type if isinstance(value, Opaque) else _types.MAP_DYN


def type_name(value: Any) -> str:
    """Return the name of a value's run-time type."""
    return type_of(value).name


def fits(declared: Type, value: Any) -> bool:
    """Whether a value may be an argument declared so; of lists and maps the first entry is looked at."""
    kind = declared.kind
    if kind in (_types.DYN, _types.PARAM):
        return True
    if isinstance(value, CelError) or declared.name != type_name(value):
        return False
    if kind == _types.LIST and value:
        return fits(declared.parameters[0], value[0])
    if kind == _types.MAP and isinstance(value, dict) and value:
        key, entry = next(iter(value.items()))
        return fits(declared.parameters[0], key) and fits(declared.parameters[1], entry)
    return True


_NUMBERS: Final = frozenset({int, UInt, float})


def equal(one: Any, two: Any) -> Any:
    """Return whether two values are equal, or an error; numbers of different types are compared as numbers."""
    kind, other = type(one), type(two)
    if kind in _NUMBERS:
        return other in _NUMBERS and one == two
    if one is None or two is None:
        return one is two
    if isinstance(one, Opaque):
        return one.equals(two)
    if kind is not other:
        return False
    if kind is list:
        return len(one) == len(two) and all(equal(*pair) is True for pair in zip(one, two, strict=True))
    if kind is dict:
        return len(one) == len(two) and all(
            key in two and equal(value, two[key]) is True for key, value in one.items()
        )
    if kind is Timestamp:
        return bool(one.nanoseconds == two.nanoseconds)
    if kind is Optional:
        return one.is_set == two.is_set and (not one.is_set or equal(one.value, two.value))
    if kind is Type:
        return bool(one.name == two.name)
    return bool(one == two)


def compare(one: Any, two: Any) -> Any:
    """Return -1, 0 or 1, or an error where the two have no order."""
    kind, other = type(one), type(two)
    if kind in _NUMBERS:
        if other not in _NUMBERS:
            return no_overload(two)
        if (kind is float and math.isnan(one)) or (other is float and math.isnan(two)):
            return CelError("NaN values cannot be ordered")
    elif kind is not other:
        return no_overload(two)
    elif kind in (Duration, Timestamp):
        one, two = one.nanoseconds, two.nanoseconds
    elif kind is str:
        one, two = one.encode(errors="surrogatepass"), two.encode(errors="surrogatepass")
    elif kind not in (bool, bytes):
        return no_overload(two)
    return (one > two) - (one < two)


def size(value: Any) -> int:
    """Return what cost rules take for the size of a value."""
    if isinstance(value, (str, bytes, list, dict)):
        return len(value)
    if isinstance(value, Opaque):
        return value.size()
    if isinstance(value, Optional) and value.is_set:
        return size(value.value)
    return 1


def is_zero(value: Any) -> bool:
    """Whether a value is the empty one of its type."""
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    if isinstance(value, (Timestamp, Opaque, Optional, Type, CelError)):
        return False
    return not value


def find(mapping: Any, key: Any) -> tuple[Any, bool]:
    """Return the value under a key and whether there is one; as keys, true is no 1."""
    if isinstance(mapping, LazyMap):
        return mapping.find(key) if type(key) is str else (None, False)
    try:
        found = mapping[key]
    except (KeyError, TypeError):
        return None, False
    if type(key) is not str and not any(equal(key, each) is True for each in mapping):
        return None, False
    return found, True


def shown(value: Any) -> str:
    """Return a value as error texts print it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value)
