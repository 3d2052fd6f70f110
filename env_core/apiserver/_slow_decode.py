"""Decoding with every complaint: unknown and repeated fields, and the first value that does not fit its Go type."""

from __future__ import annotations

import base64
from typing import Any, Final

from env_core.apiserver._scalars import base64_problem, canonical_duration, time_problem
from env_core.apiserver.schema import SCHEMA, GoType, StructType, struct_named
from env_core.objects.gojson import Literal, Repeated, kind_word, number_text
from env_core.objects.jsonout import to_compact_json
from env_core.objects.quantity import QuantityError, parse_json

STRICT_ERRORS_MAX: Final = 100
_INT_LIMITS: Final = {"int32": 2**31, "int64": 2**63}
_MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_STRING: Final = GoType("string", "string")
_INT32: Final = GoType("int32", "int32")
_BYTE: Final = GoType("uint8", "uint8")


class ValueRefused(Exception):
    """A value that its type refuses to be read from; the message is Go's."""


class _Kept:
    """The answer of a null that leaves the field as it was."""


_KEPT: Final = _Kept()


class SlowDecoder:
    """One decoding run. `strict_errors` fills in document order; `first_error` is the first type error.

    Source: sigs.k8s.io/json (Go's encoding/json, case-sensitive, collecting strict errors);
    tests/golden/l0/strict_decoding.
    """

    __slots__ = ("first_error", "names", "path", "seen", "strict_errors", "struct")

    def __init__(self) -> None:
        self.strict_errors: list[str] = []
        self.seen: set[str] = set()
        self.first_error = ""
        self.names: list[str] = []
        self.struct = ""
        self.path = ""

    def document(self, value: Any, struct: StructType) -> Any:
        """Return `value` without what does not belong there.

        Raises:
            ValueRefused: a value cannot be read at all.
        """
        cleaned = self._object(
            value, struct, GoType("struct", struct.text, struct.name, ref=struct.path), None
        )
        if self.first_error:
            raise ValueRefused(self.first_error)
        return {} if cleaned is _KEPT else cleaned

    def _strict(self, text: str) -> None:
        if len(self.strict_errors) < STRICT_ERRORS_MAX and text not in self.seen:
            self.seen.add(text)
            self.strict_errors.append(text)

    def _type_error(self, word: str, type_: GoType) -> str:
        if self.names:
            place = f"Go struct field {self.struct}.{'.'.join(self.names)}"
        else:
            place = "Go value"
        return f"json: cannot unmarshal {word} into {place} of type {type_.text}"

    def _save(self, word: str, type_: GoType) -> Any:
        if not self.first_error:
            self.first_error = self._type_error(word, type_)
        return _KEPT

    def _value(self, value: Any, type_: GoType, before: Any) -> Any:
        kind = type_.kind
        if kind == "ptr" and type_.element is not None:
            return None if value is None else self._value(value, type_.element, before)
        if kind == "struct":
            struct = type_.struct
            if struct.special:
                return self._special(value, struct.special)
            return self._object(value, struct, type_, before)
        if kind == "map":
            return self._map(value, type_, before)
        if kind == "slice":
            return self._list(value, type_)
        if kind == "bytes":
            return self.bytes(value, type_)
        return value if kind == "interface" else self._scalar(value, type_)

    def _scalar(self, value: Any, type_: GoType) -> Any:
        kind = type_.kind
        if value is None:
            return _KEPT
        if kind == "string" and isinstance(value, str):
            return value
        if kind == "bool" and isinstance(value, bool):
            return value
        word = kind_word(value)
        if word == "number" and kind in _INT_LIMITS:
            limit = _INT_LIMITS[kind]
            if isinstance(value, int) and -limit <= value < limit:
                return value
            word = f"number {number_text(value)}"
        elif word == "number" and kind == "float64":
            if abs(value) != float("inf"):
                return value
            word = f"number {number_text(value)}"
        return self._save(word, type_)

    def bytes(self, value: Any, type_: GoType) -> Any:
        """Return base64 text as Go writes it again, or note what is wrong with it."""
        if value is None:
            return None
        if isinstance(value, str):
            problem = base64_problem(value)
            if problem:
                self.first_error = self.first_error or problem
                return _KEPT
            return base64.b64encode(base64.b64decode(value)).decode()
        if isinstance(value, list):
            data = bytearray()
            for item in value:
                if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < 256:
                    data.append(item)
                elif item is not None:
                    word = kind_word(item)
                    self._save(f"number {number_text(item)}" if word == "number" else word, _BYTE)
            return base64.b64encode(data).decode()
        return self._save(kind_word(value), type_)

    def _list(self, value: Any, type_: GoType) -> Any:
        if value is None:
            return None
        if not isinstance(value, list) or type_.element is None:
            return self._save(kind_word(value), type_)
        outer = self.path
        built = []
        for index, item in enumerate(value):
            self.path = f"{outer}[{index}]"
            decoded = self._value(item, type_.element, None)
            built.append(None if decoded is _KEPT else decoded)
        self.path = outer
        return built

    def _map(self, value: Any, type_: GoType, before: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict) or type_.element is None:
            return self._save(kind_word(value), type_)
        outer = self.path
        built: dict[str, Any] = dict(before) if isinstance(before, dict) else {}
        seen = set()
        for key, item in value.pairs if isinstance(value, Repeated) else value.items():
            self.path = f"{outer}.{key}" if outer else key
            if key in seen:
                self._strict(f'duplicate field "{self.path}"')
            seen.add(key)
            decoded = self._value(item, type_.element, None)
            built[key] = None if decoded is _KEPT else decoded
        self.path = outer
        return built

    def _object(self, value: Any, struct: StructType, type_: GoType, before: Any) -> Any:
        if value is None:
            return _KEPT
        if not isinstance(value, dict):
            return self._save(kind_word(value), type_)
        outer_path, outer_struct, depth = self.path, self.struct, len(self.names)
        built: dict[str, Any] = dict(before) if isinstance(before, dict) else {}
        seen = set()
        for key, item in value.pairs if isinstance(value, Repeated) else value.items():
            self.path = f"{outer_path}.{key}" if outer_path else key
            field = struct.fields.get(key)
            if field is None:
                self._strict(f'unknown field "{self.path}"')
                continue
            if key in seen:
                self._strict(f'duplicate field "{self.path}"')
            seen.add(key)
            self.names.append(key)
            self.struct = struct.name
            decoded = self._value(item, field.type, built.get(key))
            if decoded is not _KEPT:
                built[key] = decoded
            del self.names[depth:]
            self.struct = outer_struct
        self.path = outer_path
        return built

    def _special(self, value: Any, special: str) -> Any:
        if special == "raw":
            return value
        if special == "quantity":
            return self._quantity(value)
        if special == "intOrString":
            return self._int_or_string(value)
        if special.startswith("schema"):
            return self.nested_schema(value, special)
        if value is None:
            return None
        if not isinstance(value, str):
            raise ValueRefused(self._type_error(kind_word(value), _STRING))
        if special == "duration":
            try:
                return canonical_duration(value)
            except ValueError as why:
                raise ValueRefused(str(why)) from None
        problem = time_problem(value, _MICRO_LAYOUT) if special == "microTime" else time_problem(value)
        if problem:
            raise ValueRefused(problem)
        return value

    def nested_schema(self, value: Any, special: str) -> Any:
        """Read a schema in a schema, which is read on its own: what it does not know is dropped without a word.

        Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/v1 marshal.go.
        """
        if isinstance(value, dict):
            return _lone_schema(value)
        if isinstance(value, list) and special == "schemaOrArray":
            return [_lone_schema(each) for each in value]
        if special == "schemaOrBool" and not isinstance(value, bool) and value is not None:
            raise ValueRefused("boolean or JSON schema expected")
        if isinstance(value, list) and special == "schemaOrStrings":
            return [each for each in value if isinstance(each, str)]
        return value if isinstance(value, bool) and special == "schemaOrBool" else None

    def _quantity(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return str(parse_json(json_text(value)))
        except QuantityError as why:
            raise ValueRefused(str(why)) from None

    def _int_or_string(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        if value is None:
            return 0
        word = kind_word(value)
        if word == "number":
            if isinstance(value, int) and -(2**31) <= value < 2**31:
                return value
            word = f"number {number_text(value)}"
        raise ValueRefused(self._type_error(word, _INT32))


def _lone_schema(value: Any) -> Any:
    if value is None:
        return {}
    return SlowDecoder().document(value, struct_named(SCHEMA))


def json_text(value: Any) -> str:
    """Return the JSON text of a decoded value; numbers as they were written."""
    if isinstance(value, Literal):
        return value.text
    return f'"{value}"' if isinstance(value, str) else to_compact_json(value)
