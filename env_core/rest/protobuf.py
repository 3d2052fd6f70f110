r"""Protobuf bodies as JSON-shaped objects, read by the field numbers of the API's Go types.

The envelope is `k8s\0` and a runtime.Unknown; what it holds is read as its apiVersion and kind say. Unknown fields are
skipped. What Go would leave out of JSON (empty, omitempty) is left out.

Source: k8s.io/apimachinery pkg/runtime/serializer/protobuf; field numbers from tests/golden/l0/types.json.gz.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from env_core.apiserver.schema import Field, GoType, StructType, schema_for, struct_named
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

MAGIC: Final = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEPTH_MAX = 100
_YEAR_9999_S = 253_402_300_799
_SIGN = 1 << 63


class ProtobufError(ValueError):
    """Raised for bytes that are no object; the text is Go's where that is known."""


class Envelope(NamedTuple):
    """What a body says it holds."""

    api_version: str
    kind: str
    raw: bytes
    content_type: str


def envelope(body: bytes) -> Envelope:
    """Take a body out of its envelope.

    Raises:
        ProtobufError: for what is none.
    """
    if not body.startswith(MAGIC):
        raise ProtobufError(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    parts = _texts(body[len(MAGIC) :])
    named = _texts(parts.get(1, b""))
    return Envelope(
        _text(named.get(1, b"")), _text(named.get(2, b"")), parts.get(2, b""), _text(parts.get(4, b""))
    )


def decode(body: bytes, default: tuple[str, str, str]) -> Object:
    """Return the object in a body; `default` is the (group, version, kind) of one that does not say.

    Raises:
        ProtobufError: for malformed bytes, and for kinds that no built-in API has.
    """
    found = envelope(body)
    group, slash, version = found.api_version.rpartition("/")
    gvk = (group if slash else "", version, found.kind) if found.kind else default
    struct = schema_for(*gvk)
    if struct is None:
        raise ProtobufError(f'no kind "{gvk[2]}" is registered for version "{found.api_version}"')
    api_version = f"{gvk[0]}/{gvk[1]}" if gvk[0] else gvk[1]
    return {"kind": gvk[2], "apiVersion": api_version, **_message(found.raw, struct, 0)}


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (number, value) of a message: an integer, or the bytes of anything longer."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise ProtobufError(f"proto: illegal tag {number} (wire type {wire})")
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
        elif wire == _BYTES:
            length, at = _varint(data, at)
            if length > end - at:
                raise ProtobufError("unexpected EOF")
            yield number, data[at : at + length]
            at += length
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
            if length > end - at:
                raise ProtobufError("unexpected EOF")
            yield number, data[at : at + length]
            at += length
        else:
            raise ProtobufError(f"proto: illegal wireType {wire}")


def _texts(data: bytes) -> dict[int, bytes]:
    return {number: value for number, value in _fields(data) if isinstance(value, bytes)}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ProtobufError("unexpected EOF")
        if shift > 63:
            raise ProtobufError("proto: integer overflow")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2 * _SIGN - 1), at
        shift += 7


@lru_cache(maxsize=1024)
def _by_number(struct: StructType) -> Mapping[int, Field]:
    return {member.protobuf[0]: member for member in struct.members if member.protobuf is not None}


def _message(data: bytes, struct: StructType, depth: int) -> Object:
    if depth > _DEPTH_MAX:
        raise ProtobufError("exceeded max depth")
    fields = _by_number(struct)
    result: Object = {}
    for number, value in _fields(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.inline:
            result.update(_message(_needed(value), field.type.struct, depth + 1))
        else:
            _put(result, field, value, depth)
    return result


def _put(result: Object, field: Field, value: int | bytes, depth: int) -> None:
    go_type = _pointee(field.type)
    name = field.json
    if go_type.kind == "map":
        key, item = _entry(_needed(value), go_type, depth)
        result.setdefault(name, {})[key] = item
    elif go_type.kind == "slice":
        assert go_type.element is not None
        result.setdefault(name, []).extend(_items(value, _pointee(go_type.element), depth))
    else:
        found = _single(value, go_type, depth)
        is_empty = found is None or (
            field.omitempty
            and field.type.kind != "ptr"
            and found in ("", 0, False)
            and go_type.kind != "struct"
        )
        if is_empty:
            result.pop(name, None)
        else:
            result[name] = found


def _pointee(go_type: GoType) -> GoType:
    return go_type.element if go_type.kind == "ptr" and go_type.element is not None else go_type


def _items(value: int | bytes, element: GoType, depth: int) -> list[Any]:
    if isinstance(value, bytes) and element.kind in ("int32", "int64", "bool"):
        packed, at = [], 0
        while at < len(value):
            number, at = _varint(value, at)
            packed.append(_single(number, element, depth))
        return packed
    return [_single(value, element, depth)]


def _entry(data: bytes, go_type: GoType, depth: int) -> tuple[str, Any]:
    assert go_type.element is not None
    element = _pointee(go_type.element)
    key, raw = "", None
    for number, value in _fields(data):
        if number == 1:
            key = _text(_needed(value))
        elif number == 2:
            raw = value
    if element.kind == "slice":
        # A list as a map's value is a message of its own (authorization's ExtraValue).
        assert element.element is not None
        rows = _fields(_needed(raw)) if raw is not None else ()
        return key, [_single(value, element.element, depth) for number, value in rows if number == 1]
    return key, _single(raw if raw is not None else b"", element, depth)


def _single(value: int | bytes, go_type: GoType, depth: int) -> Any:
    kind = go_type.kind
    if kind == "string":
        return _text(_needed(value))
    if kind == "struct":
        struct = go_type.struct
        if struct.special:
            return _SPECIAL[struct.special](_needed(value), struct, depth)
        return _message(_needed(value), struct, depth + 1)
    if kind == "bool":
        return bool(value)
    if kind in ("int32", "int64"):
        return _signed(value)
    if kind == "bytes":
        return b64encode(_needed(value)).decode()
    raise ProtobufError(f"a field of type {go_type.text} cannot be read")


def _needed(value: int | bytes | None) -> bytes:
    if not isinstance(value, bytes):
        raise ProtobufError("proto: wrong wireType")
    return value


def _signed(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ProtobufError("proto: wrong wireType")
    return value - 2 * _SIGN if value >= _SIGN else value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _numbers(data: bytes) -> dict[int, int]:
    return {number: _signed(value) for number, value in _fields(data) if isinstance(value, int)}


def _first(data: bytes) -> bytes:
    for number, value in _fields(data):
        if number == 1:
            return _needed(value)
    return b""


def _quantity(data: bytes, _struct: StructType, _depth: int) -> Any:
    return _text(_first(data)) or "0"


def _int_or_string(data: bytes, _struct: StructType, _depth: int) -> Any:
    numbers = _numbers(data)
    if numbers.get(1, 0) == 0:
        return numbers.get(2, 0)
    return next((_text(_needed(value)) for number, value in _fields(data) if number == 3), "")


def _seconds(data: bytes) -> tuple[int, int] | None:
    numbers = _numbers(data)
    seconds, nanos = numbers.get(1, 0), numbers.get(2, 0)
    if not seconds and not nanos:
        return None
    if not 0 <= seconds <= _YEAR_9999_S or not 0 <= nanos < 1_000_000_000:
        raise ProtobufError("a time is out of range")
    return seconds, nanos


def _time(data: bytes, _struct: StructType, _depth: int) -> Any:
    found = _seconds(data)
    return None if found is None else rfc3339(found[0] * 1000)


def _micro_time(data: bytes, _struct: StructType, _depth: int) -> Any:
    found = _seconds(data)
    return None if found is None else f"{rfc3339(found[0] * 1000)[:-1]}.{found[1] // 1000:06d}Z"


def _duration(data: bytes, _struct: StructType, _depth: int) -> Any:
    nanos = _numbers(data).get(1, 0)
    return (
        f"{nanos // 1_000_000_000}s" if nanos % 1_000_000_000 == 0 else f"{nanos / 1e9:.9f}".rstrip("0") + "s"
    )


def _raw(data: bytes, struct: StructType, depth: int) -> Any:
    if struct.name == "JSONSchemaPropsOrBool":
        parts = dict(_fields(data))
        return _schema(parts[2], struct, depth) if 2 in parts else bool(parts.get(1, 0))
    if struct.name == "JSONSchemaPropsOrArray":
        parts = dict(_fields(data))
        if 1 in parts:
            return _schema(parts[1], struct, depth)
        return [_schema(value, struct, depth) for number, value in _fields(data) if number == 2]
    if struct.name == "JSONSchemaPropsOrStringArray":
        parts = dict(_fields(data))
        if 1 in parts:
            return _schema(parts[1], struct, depth)
        return [_text(_needed(value)) for number, value in _fields(data) if number == 2]
    text = _first(data)
    if not text:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as why:
        raise ProtobufError(str(why)) from None


def _schema(value: int | bytes, struct: StructType, depth: int) -> Object:
    # The recursive type stands beside the three that may hold it.
    package = struct.path.rpartition(".")[0]
    return _message(_needed(value), struct_named(f"{package}.JSONSchemaProps"), depth + 1)


_SPECIAL: Final[Mapping[str, Callable[[bytes, StructType, int], Any]]] = {
    "quantity": _quantity,
    "intOrString": _int_or_string,
    "time": _time,
    "microTime": _micro_time,
    "duration": _duration,
    "raw": _raw,
}
