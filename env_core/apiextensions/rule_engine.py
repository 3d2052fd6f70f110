"""Evaluates the validation rules of schemas, which are written in CEL.

`self` has the type that its schema declares: fields that are not declared do not exist, texts of the formats date, date-time,
duration and byte are values of their own, and names that CEL's grammar does not allow are escaped. Lists of type set and map
are compared as plain lists, and no cost is estimated when a definition is created.

Source: k8s.io/apiserver v0.37 pkg/cel/common/{schemas,values}.go and k8s.io/apiextensions-apiserver
pkg/apiserver/schema/cel.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from env_core.apiextensions.rules import RuleError
from env_core.apiextensions.structural import INT_OR_STRING, Structural
from env_core.cel import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    CelError,
    CompileProblem,
    Environment,
    Type,
    compile_expression,
    escaped,
    list_of,
    map_of,
    optional,
    optional_of,
    read_duration,
    read_timestamp,
    struct,
    uses,
)

_SCALARS: Final[Mapping[str, Type]] = {"boolean": BOOL, "integer": INT, "number": DOUBLE, "string": STRING}
_FORMATS: Final[Mapping[str, Type]] = {
    "byte": BYTES,
    "date": TIMESTAMP,
    "date-time": TIMESTAMP,
    "duration": DURATION,
}
_SELF: Final = "selfType"


class _Rules:
    """The engine: what it compiles is kept by expression and schema."""

    __slots__ = ()

    def uses_old(self, expression: str) -> bool:
        """Whether an expression speaks of `oldSelf`."""
        return uses(expression, "oldSelf")

    def evaluate(
        self, expression: str, schema: Structural, value: Any, old: Any, *, is_old_optional: bool
    ) -> tuple[Any, int]:
        """Return what an expression gives for a value of a schema as `self`, and what that cost.

        Raises:
            RuleError: it cannot be compiled or evaluated.
        """
        try:
            program = compile_expression(expression, _environment(schema, is_old_optional=is_old_optional))
        except CompileProblem as problem:
            raise RuleError(f"rule compile error: {problem}") from None
        before = None if old is None else _value(schema, old)
        bindings = {"self": _value(schema, value), "oldSelf": before}
        if is_old_optional:
            bindings["oldSelf"] = optional(before, is_set=old is not None)
        outcome = program.counted(bindings)
        if isinstance(outcome.value, CelError):
            raise RuleError(outcome.value.message, outcome.cost)
        return outcome.value, outcome.cost


ENGINE: Final = _Rules()
"""The engine of every strategy: it has no state but caches."""


@lru_cache(maxsize=512)
def _environment(schema: Structural, *, is_old_optional: bool) -> Environment:
    objects: dict[str, Mapping[str, Type]] = {}
    declared = _type(schema, _SELF, objects) or DYN
    old = optional_of(declared) if is_old_optional else declared
    return Environment({"self": declared, "oldSelf": old}, objects)


def _type(schema: Structural, name: str, objects: dict[str, Mapping[str, Type]]) -> Type | None:
    if schema.props.get(INT_OR_STRING):
        return DYN
    kind = schema.props.get("type") or ""
    if kind == "array":
        item = None if schema.items is None else _type(schema.items, f"{name}.@idx", objects)
        return None if item is None else list_of(item)
    if kind != "object":
        return _FORMATS.get(schema.format, STRING) if kind == "string" else _SCALARS.get(kind)
    if schema.additional is not None:
        element = _type(schema.additional, f"{name}.@elem", objects)
        return None if element is None else map_of(STRING, element)
    fields: dict[str, Type] = {}
    objects[name] = fields
    for field, below in schema.properties.items():
        made = _type(below, f"{name}.{field}", objects)
        if made is not None and escaped(field):
            fields[field] = fields[escaped(field)] = made
    if name == _SELF or schema.is_embedded:
        meta = f"{name}.metadata"
        objects[meta] = {**objects.get(meta, {}), "name": STRING, "generateName": STRING}
        fields |= {"apiVersion": STRING, "kind": STRING, "metadata": struct(meta)}
    return struct(name)


def _value(schema: Structural, value: Any) -> Any:
    """Return a value of the API as expressions see it."""
    if value is None or schema.props.get(INT_OR_STRING):
        return value
    if isinstance(value, list) and schema.items is not None:
        return [_value(schema.items, each) for each in value]
    if isinstance(value, dict):
        return _object(schema, value)
    kind = schema.props.get("type")
    if kind == "number" and isinstance(value, int):
        return float(value)
    if kind != "string" or schema.format not in _FORMATS:
        return value
    return _formatted(schema.format, value)


def _object(schema: Structural, value: dict[str, Any]) -> dict[str, Any]:
    if schema.additional is not None:
        return {key: _value(schema.additional, each) for key, each in value.items()}
    seen: dict[str, Any] = {}
    for key, each in value.items():
        below = schema.properties.get(key)
        if below is not None:
            seen[key] = seen[escaped(key)] = _value(below, each)
        elif key in ("apiVersion", "kind", "metadata"):
            seen[key] = each
    return seen


def _formatted(format_: str, text: str) -> Any:
    if format_ == "byte":
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error:
            return CelError("Failed to decode format: byte")
    if format_ == "duration":
        return read_duration(text)
    return read_timestamp(f"{text}T00:00:00Z" if format_ == "date" else text)
