"""An OpenAPI v2 document as the protobuf message in which kubectl asks for it.

kubectl reads it to check lists before it sends their items, and for kinds that no v3 document has.

Source: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto (field numbers); what a client makes of each part is
k8s.io/kube-openapi pkg/util/proto/document.go, which refuses a whole document for one schema that it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from env_core.rest.rendering import json_bytes
from env_core.world import Object

TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ACCEPTED: Final = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", TYPE)
_PRIMITIVES = ("string", "number", "integer", "boolean")
_TEXTS: Final = {"format": 2, "title": 3, "pattern": 13}


def encode(document: Object) -> bytes:
    """Return a document's bytes; its schemas, not its paths."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    return b"".join(
        (
            _text(1, document["swagger"]),
            _message(2, info),
            _message(8, b""),
            _message(9, _named(1, document["definitions"])),
            *(_message(12, _message(1, _text(1, name) + _message(2, b""))) for name in _required(document)),
            _message(
                13, b"".join(_security(name, way) for name, way in document["securityDefinitions"].items())
            ),
        )
    )


def _required(document: Object) -> tuple[str, ...]:
    return tuple(name for one in document["security"] for name in one)


def _security(name: str, way: Mapping[str, str]) -> bytes:
    """Return a named way to authenticate, which is a key here."""
    key = _text(1, way["type"]) + _text(2, way["name"]) + _text(3, way["in"])
    return _message(1, _text(1, name) + _message(2, _message(2, key)))


def _named(number: int, schemas: Mapping[str, Any]) -> bytes:
    return b"".join(
        _message(number, _text(1, name) + _message(2, _schema(schema))) for name, schema in schemas.items()
    )


def _schema(schema: Object) -> bytes:
    if isinstance(schema.get("$ref"), str):
        return _text(1, schema["$ref"])
    parts = [_text(number, str(schema[key])) for key, number in _TEXTS.items() if key in schema]
    kind = schema.get("type")
    if schema.get("nullable") or schema.get("x-kubernetes-preserve-unknown-fields"):
        kind = None
    if kind == "object":
        parts += _object(schema)
    elif kind == "array" and isinstance(schema.get("items"), dict):
        parts += [_type(kind), _message(23, _message(1, _schema(schema["items"])))]
    elif kind in _PRIMITIVES:
        parts.append(_type(kind))
    # Without a type, a client takes a value for anything.
    extensions = {key: value for key, value in schema.items() if key.startswith("x-")}
    parts += [
        _message(31, _text(1, key) + _message(2, _text(2, json_bytes(value).decode())))
        for key, value in extensions.items()
    ]
    return b"".join(parts)


def _object(schema: Object) -> list[bytes]:
    parts = [_text(19, name) for name in schema.get("required") or ()]
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict):
        parts.append(_message(21, _message(1, _schema(inner))))
    parts.append(_type("object"))
    if schema.get("properties"):
        parts.append(_message(25, _named(1, schema["properties"])))
    return parts


def _type(name: str) -> bytes:
    return _message(22, _text(1, name))


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode())


def _message(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
