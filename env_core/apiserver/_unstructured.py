"""Conversion of patched maps into Go structs, which complains in other words than the JSON reader."""

from __future__ import annotations

from typing import Any, Final

from env_core.apiserver._scalars import time_problem
from env_core.apiserver._slow_decode import SlowDecoder, ValueRefused, json_text
from env_core.apiserver.schema import GoType, StructType
from env_core.objects.gojson import kind_word
from env_core.objects.quantity import QuantityError, parse_json

_WRAP: Final = {"int32": 2**32, "int64": 2**64}


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, dict):
        return "map"
    if isinstance(value, list):
        return "slice"
    return "int64" if isinstance(value, int) else "float64"


class UnstructuredReader:
    """One conversion. `unknown` collects `unknown field "..."` texts, unsorted.

    Source: apimachinery runtime.DefaultUnstructuredConverter; tests/golden/l0/patch_strategic.
    """

    __slots__ = ("path", "unknown")

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.path = ""

    def document(self, value: Any, struct: StructType) -> Any:
        """Return `value` without unknown fields.

        Raises:
            ValueRefused: a value does not fit its type.
        """
        return self._struct(value, struct)

    def _value(self, value: Any, type_: GoType) -> Any:
        if value is None:
            return None
        kind = type_.kind
        if kind == "ptr" and type_.element is not None:
            return self._value(value, type_.element)
        if kind == "struct":
            struct = type_.struct
            return self._special(value, struct.special) if struct.special else self._struct(value, struct)
        if kind == "map":
            return self._map(value, type_)
        if kind in ("slice", "bytes"):
            return self._list(value, type_)
        return value if kind == "interface" else self._scalar(value, type_)

    def _scalar(self, value: Any, type_: GoType) -> Any:
        source, kind = _kind(value), type_.kind
        if source == kind:
            return value
        if source == "int64" and kind in _WRAP:
            half = _WRAP[kind] // 2
            return (value + half) % _WRAP[kind] - half
        if source == "int64" and kind == "float64":
            return value
        if source == "float64" and kind in _WRAP:
            if value.is_integer():
                return int(value)
            raise ValueRefused(f"cannot convert {source} to {type_.text}")
        if source == "int64" and kind == "string":
            raise ValueRefused(f"cannot convert {source} to {type_.text}")
        raise ValueRefused(f"unrecognized type: {kind}")

    def _list(self, value: Any, type_: GoType) -> Any:
        if type_.kind == "bytes" and isinstance(value, str):
            return self._bytes(value)
        if not isinstance(value, list):
            raise ValueRefused(f"cannot restore slice from {_kind(value)}")
        if type_.element is None:
            return value
        outer = self.path
        built = []
        for index, item in enumerate(value):
            self.path = f"{outer}[{index}]"
            built.append(self._value(item, type_.element))
        self.path = outer
        return built

    def _bytes(self, value: str) -> Any:
        decoder = SlowDecoder()
        decoded = decoder.bytes(value, GoType("bytes", "[]uint8"))
        if decoder.first_error:
            raise ValueRefused(f"error decoding from json: {decoder.first_error}")
        return decoded

    def _map(self, value: Any, type_: GoType) -> Any:
        if not isinstance(value, dict):
            raise ValueRefused(f"cannot restore map from {_kind(value)}")
        if type_.element is None:
            return value
        return {key: self._value(item, type_.element) for key, item in value.items()}

    def _struct(self, value: Any, struct: StructType) -> Any:
        if not isinstance(value, dict):
            raise ValueRefused(f"cannot restore struct from: {_kind(value)}")
        outer = self.path
        built = {}
        for name, field in struct.fields.items():
            if name in value:
                self.path = f"{outer}.{name}" if outer else name
                built[name] = self._value(value[name], field.type)
        for name in value:
            if name not in struct.fields:
                self.unknown.append(f'unknown field "{outer}.{name}"' if outer else f'unknown field "{name}"')
        self.path = outer
        return built

    def _special(self, value: Any, special: str) -> Any:
        if special == "raw":
            return value
        if special.startswith("schema"):
            return SlowDecoder().nested_schema(value, special)
        if special == "quantity":
            try:
                return str(parse_json(json_text(value)))
            except QuantityError as why:
                raise ValueRefused(str(why)) from None
        word = kind_word(value)
        if special == "intOrString":
            if word == "string" or (
                isinstance(value, int) and word == "number" and -(2**31) <= value < 2**31
            ):
                return value
            word = f"number {json_text(value)}" if word == "number" else word
            raise ValueRefused(f"json: cannot unmarshal {word} into Go value of type int32")
        if word != "string":
            raise ValueRefused(f"json: cannot unmarshal {word} into Go value of type string")
        problem = time_problem(value) if special in ("time", "microTime") else ""
        if problem:
            raise ValueRefused(problem)
        return value
