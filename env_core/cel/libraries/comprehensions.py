"""What the macros with two variables call.

Source: github.com/google/cel-go v0.29 ext/comprehensions.go.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, overload
from env_core.cel._frame import GrowingMap
from env_core.cel._values import CelError, shown

_K: Final = _types.param("K")
_V: Final = _types.param("V")
_MAP: Final = _types.map_of(_K, _V)


def _insert(mapping: dict[Any, Any], key: Any, value: Any) -> Any:
    if key in mapping:
        return CelError(f"insert failed: key {shown(key)} already exists")
    if isinstance(mapping, GrowingMap):
        mapping[key] = value
        return mapping
    return {**mapping, key: value}


def _insert_all(mapping: dict[Any, Any], more: dict[Any, Any]) -> Any:
    for key, value in more.items():
        mapping = _insert(mapping, key, value)
        if isinstance(mapping, CelError):
            break
    return mapping


LIBRARY = Library(
    order=19,
    functions={
        "cel.@mapInsert": Function(
            (
                overload("@mapInsert_map_key_value", (_MAP, _K, _V), _MAP, _insert, is_guarded=False),
                overload("@mapInsert_map_map", (_MAP, _MAP), _MAP, _insert_all, is_guarded=False),
            )
        ),
    },
    source="github.com/google/cel-go v0.29 ext/comprehensions.go",
)
