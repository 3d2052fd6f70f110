"""The normal form of API objects: what Go prints after reading a manifest into its structs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from env_core.apiserver._scalars import canonical_duration, canonical_time
from env_core.apiserver.schema import SCHEMA, Field, GoType, StructType, struct_named
from env_core.objects.gojson import Literal, Repeated, plain
from env_core.objects.quantity import QuantityError, canonical

Normalizer = Callable[[Any], Any]

_KEEP, _DROP_EMPTY, _DROP_NONE = 0, 1, 2
_TELLING_EMPTY: Final = frozenset({("api/autoscaling/v2.HPAScalingRules", "policies")})
"""Lists that are refused when they are empty, and have a default when they are not there."""
_INT_LIMITS: Final = {"int32": 2**31, "int64": 2**63}


class NotNormal(Exception):
    """The value does not fit its type, or has unknown or repeated fields: decode it the slow way."""


def normalize(value: Any, struct: StructType) -> Any:
    """Return a trusted object in normal form: empty optional fields dropped, always-present ones added.

    Fields come in Go's order. Parts that are in normal form already are shared with the input.

    Raises:
        NotNormal: `value` does not fit the type.

    Source: the `decoded` field of tests/golden/l0/defaulting.
    """
    return _struct_normalizer(struct.path)(value)


def _string(value: Any) -> Any:
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise NotNormal


def _bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    if value is None:
        return False
    raise NotNormal


def _integer(limit: int) -> Normalizer:
    def normal(value: Any) -> Any:
        if type(value) is int and -limit <= value < limit:
            return value
        if value is None:
            return 0
        raise NotNormal

    return normal


def _float(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, (int, float)) and type(value) is not bool and abs(value) != float("inf"):
        return int(value) if value == int(value) and abs(value) < 1e21 else float(value)
    raise NotNormal


def _bytes(value: Any) -> Any:
    if value is None:
        return None
    if type(value) is not str:
        raise NotNormal
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise NotNormal from None
    return value


def _any(value: Any) -> Any:
    return plain(value) if _is_marked(value) else value


def _is_marked(value: Any) -> bool:
    """Return whether a value still carries marks of the text it was read from."""
    kind = type(value)
    if kind is dict:
        return any(map(_is_marked, value.values()))
    if kind is list:
        return any(map(_is_marked, value))
    return kind is Literal or kind is Repeated


def _int_or_string(value: Any) -> Any:
    if type(value) is str:
        return value
    return _int32(value)


def _quantity(value: Any) -> Any:
    if value is None:
        return "0"
    if type(value) is not str and type(value) is not int:
        raise NotNormal
    try:
        return canonical(value)
    except QuantityError:
        raise NotNormal from None


def _time(digits: int) -> Normalizer:
    def normal(value: Any) -> Any:
        if value is None:
            return None
        text = canonical_time(value, digits) if type(value) is str else None
        if text is None:
            raise NotNormal
        return text

    return normal


def _duration(value: Any) -> Any:
    if value is None:
        return "0s"
    if type(value) is not str:
        raise NotNormal
    try:
        return canonical_duration(value)
    except ValueError:
        raise NotNormal from None


def _schema(value: Any) -> Any:
    return _struct_normalizer(SCHEMA)(value)


def _schema_or_bool(value: Any) -> Any:
    if value is None or type(value) is bool:
        return value
    return _schema(value)


def _schema_or_array(value: Any) -> Any:
    return _list(_schema)(value) if type(value) is list else _optional(_schema)(value)


def _schema_or_strings(value: Any) -> Any:
    return _list(_string)(value) if type(value) is list else _optional(_schema)(value)


_int32: Final = _integer(2**31)
_SPECIAL: Final[dict[str, Normalizer]] = {
    "quantity": _quantity,
    "intOrString": _int_or_string,
    "time": _time(0),
    "microTime": _time(6),
    "duration": _duration,
    "raw": _any,
    "schemaOrArray": _schema_or_array,
    "schemaOrBool": _schema_or_bool,
    "schemaOrStrings": _schema_or_strings,
}


def _list(element: Normalizer) -> Normalizer:
    def normal(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not list:
            raise NotNormal
        built = [element(item) for item in value]
        for old, new in zip(value, built, strict=True):
            if old is not new:
                return built
        return value

    return normal


def _map(element: Normalizer) -> Normalizer:
    def normal(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not dict:
            raise NotNormal
        changed = False
        built = {}
        for key, item in value.items():
            new = built[key] = element(item)
            changed = changed or new is not item
        return built if changed else value

    return normal


def _optional(element: Normalizer) -> Normalizer:
    def normal(value: Any) -> Any:
        return None if value is None else element(value)

    return normal


def normalizer(type_: GoType) -> Normalizer:
    """Return the function that brings values of a type into normal form."""
    kind = type_.kind
    if kind == "string":
        return _string
    if kind == "bool":
        return _bool
    if kind in _INT_LIMITS:
        return _integer(_INT_LIMITS[kind])
    if kind == "float64":
        return _float
    if kind == "bytes":
        return _bytes
    if kind == "struct":
        return _deferred(type_.ref)
    if type_.element is None:
        return _any
    element = normalizer(type_.element)
    if kind == "ptr":
        return _optional(element)
    return _list(element) if kind == "slice" else _map(element)


def _deferred(path: str) -> Normalizer:
    """Return a normalizer that builds the struct's own on first use (types may be recursive)."""
    special = struct_named(path).special
    if special:
        return _SPECIAL[special]
    built: list[Normalizer] = []

    def normal(value: Any) -> Any:
        if not built:
            built.append(_struct_normalizer(path))
        return built[0](value)

    return normal


def _mode(path: str, field: Field) -> int:
    if (path, field.json) in _TELLING_EMPTY:
        return _DROP_NONE
    if not field.omitempty and not field.omitzero:
        return _KEEP
    kind = field.type.kind
    if kind in ("ptr", "interface") or field.omitzero:
        return _DROP_NONE
    return _KEEP if kind == "struct" else _DROP_EMPTY


@cache
def _struct_normalizer(path: str) -> Normalizer:
    struct = struct_named(path)
    if struct.special:
        return _SPECIAL[struct.special]
    rank = {name: index for index, name in enumerate(struct.fields)}
    plan = {name: (normalizer(field.type), _mode(path, field)) for name, field in struct.fields.items()}
    always = tuple(name for name, (_, mode) in plan.items() if mode == _KEEP)
    order = rank.__getitem__

    def normal(value: Any) -> Any:
        if type(value) is not dict:
            if value is not None:
                raise NotNormal
            value = {}
        changed = False
        built = {}
        keys = list(value)
        names = {*keys, *always} if always else keys
        try:
            ordered = sorted(names, key=order)
        except KeyError:
            raise NotNormal from None
        for name in ordered:
            convert, mode = plan[name]
            old = value.get(name)
            new = convert(old)
            if mode == _KEEP or (new if mode == _DROP_EMPTY else new is not None):
                built[name] = new
                changed = changed or new is not old
        return built if changed or list(built) != keys else value

    return normal
