"""What computing an expression consists of: variables, comprehensions, entries of lists and maps.

Source: github.com/google/cel-go v0.29 interpreter/interpretable.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from env_core.cel._frame import Frame, Growing, GrowingMap, Run
from env_core.cel._values import CelError, LazyMap, Optional, no_overload, shown, type_of

UNSET: Final = object()
"""Stands for no value: an accumulator before its first, an optional element that is not there."""
_GO_NAMES: Final = {
    "int": "Int", "uint": "Uint", "double": "Double", "bool": "Bool", "string": "String", "bytes": "Bytes",
    "null_type": "Null",
}  # fmt: skip


def variable(name: str) -> Run:
    """Return what reads a variable."""

    def base(frame: Frame) -> Any:
        variables: Mapping[str, Any] = frame.variables
        if name in variables:
            return variables[name]
        return CelError(f"no such attribute(s): {name}")

    return base


def local(slot: int) -> Run:
    """Return what reads a local variable."""
    return lambda frame: frame.slots[slot]


def accumulated(slot: int, initial: Run) -> Run:
    """Return what reads an accumulator, which gets its first value when it is first read."""

    def base(frame: Frame) -> Any:
        value = frame.slots[slot]
        if value is UNSET:
            value = initial(frame)
            if type(value) is list and not value:
                value = Growing()
            elif type(value) is dict and not value:
                value = GrowingMap()
            frame.slots[slot] = value
        return value

    return base


def settled(value: Any) -> Any:
    """Return the value of an accumulator as a list or map of its own."""
    if type(value) is Growing:
        return list(value)
    return dict(value) if type(value) is GrowingMap else value


def rows_of(values: Any, *, has_two: bool) -> Any:
    """Return the pairs that a comprehension goes through, or an error."""
    if type(values) is CelError:
        return values
    if isinstance(values, list):
        return list(enumerate(values)) if has_two else [(each, None) for each in values]
    if isinstance(values, dict):
        return list(values.items())
    name = _GO_NAMES.get(type_of(values).name, "")
    shown_type = f"types.{name}" if name else type_of(values).name
    if has_two:
        return CelError(f"unsupported comprehension range type: {shown_type}")
    return CelError(f"got '{shown_type}', expected iterable type")


def alternative(left: Run, right: Run, *, is_value: bool) -> Run:
    """Return `or` and `orValue` of an optional."""

    def run(frame: Frame) -> Any:
        value = left(frame)
        if type(value) is not Optional:
            return no_overload(value)
        if not value.is_set:
            return right(frame)
        return value.value if is_value else value

    return run


def element(value: Any) -> Any:
    """Return what an optional element of a list holds, `UNSET` if nothing."""
    if type(value) is not Optional:
        return CelError(f"cannot initialize optional list element from non-optional value {shown(value)}")
    return value.value if value.is_set else UNSET


def entries(frame: Frame, rows: list[tuple[Run, Run, bool]]) -> Any:
    """Return a map of computed entries, or an error."""
    made: dict[Any, Any] = {}
    for key_run, value_run, is_optional in rows:
        key = key_run(frame)
        if type(key) is CelError:
            return key
        if isinstance(key, (list, dict, LazyMap)):
            return CelError(f"unsupported key type: {type_of(key).name}")
        value = value_run(frame)
        if type(value) is CelError:
            return value
        if is_optional:
            if type(value) is not Optional:
                text = (
                    f"cannot initialize optional entry '{shown(key)}' from non-optional value {shown(value)}"
                )
                return CelError(text)
            if not value.is_set:
                made.pop(key, None)
                continue
            value = value.value
        made[key] = value
    return made
