"""Fields and elements of values: `value.name`, `value[index]`, their optional forms and presence tests.

Source: github.com/google/cel-go v0.29 interpreter/attributes.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from env_core.cel._frame import Frame, Run
from env_core.cel._values import INT_MAX, NONE, CelError, LazyMap, Optional, UInt, find, shown, type_of

_MISSING: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class Qualifier:
    """One step along a path: a constant name or index, or one that is computed (`key`).

    `is_test` asks only whether it is there.
    """

    constant: Any = None
    key: Run | None = None
    is_optional: bool = False
    is_test: bool = False


def qualified(frame: Frame, value: Any, qualifiers: Sequence[Qualifier]) -> Any:
    """Return what a path leads to; once a step of it is optional, the rest is, too."""
    is_optional = type(value) is Optional
    if is_optional:
        if not value.is_set:
            return value
        value = value.value
    for qualifier in qualifiers:
        is_optional = is_optional or qualifier.is_optional
        if not is_optional:
            frame.spend(1)
        key = qualifier.constant if qualifier.key is None else qualifier.key(frame)
        if type(key) is CelError:
            return key
        found = _looked_up(value, key)
        if qualifier.is_test or is_optional:
            if type(found) is CelError:
                return found
            if is_optional and found is _MISSING:
                return NONE
        elif found is _MISSING:
            return _absent(value, key)
        if is_optional:
            frame.spend(1)
        if qualifier.is_test:
            found = found is not _MISSING
        if type(found) is CelError:
            return found
        value = found
    return Optional(value, True) if is_optional else value


def _looked_up(value: Any, key: Any) -> Any:
    """Return the value at a key, `_MISSING`, or an error."""
    kind = type(value)
    if kind is dict or isinstance(value, (dict, LazyMap)):
        found, is_there = find(value, key)
        return found if is_there else _MISSING
    if kind is list:
        index = _index(key)
        if type(index) is CelError:
            return index
        return value[index] if 0 <= index < len(value) else _MISSING
    return _MISSING


def _index(key: Any) -> Any:
    kind = type(key)
    if kind is int:
        return key
    if kind is float or kind is UInt:
        if abs(key) <= INT_MAX and key == int(key):
            return int(key)
        return CelError(f"unsupported index value {shown(key)} in list")
    return CelError(f"unsupported index type '{type_of(key)}' in list")


def _absent(value: Any, key: Any) -> CelError:
    what = "index out of bounds" if type(value) is list else "no such key"
    return CelError(f"{what}: {shown(key)}")
