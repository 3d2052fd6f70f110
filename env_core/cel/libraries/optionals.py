"""`optional.of(…)` and what can be done with it.

Source: github.com/google/cel-go v0.29 cel/library.go (optional types, version 2).
"""

from __future__ import annotations

from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import BOOL, DYN_TYPE, INT, STRING
from env_core.cel._values import NONE, CelError, Optional, is_zero, shown

_K: Final = _types.param("K")
_V: Final = _types.param("V")
_OPTIONAL: Final = _types.optional_of(_V)
_LIST: Final = _types.list_of(_V)
_MAP: Final = _types.map_of(_K, _V)
_OPTIONAL_LIST: Final = _types.optional_of(_LIST)
_OPTIONAL_MAP: Final = _types.optional_of(_MAP)
_OPTIONALS: Final = _types.list_of(_OPTIONAL)


def _of(value: Any) -> Optional:
    return Optional(value, True)


def _of_non_zero(value: Any) -> Optional:
    return NONE if is_zero(value) else _of(value)


def _value(optional: Optional) -> Any:
    return optional.value if optional.is_set else CelError("optional.none() dereference")


def _last(values: list[Any]) -> Optional:
    return _of(values[-1]) if values else NONE


def _first(values: list[Any]) -> Optional:
    return _of(values[0]) if values else NONE


def _unwrapped(values: list[Any]) -> Any:
    for value in values:
        if not isinstance(value, Optional):
            return CelError(f"value {shown(value)} is not optional")
    return [value.value for value in values if value.is_set]


LIBRARY = Library(
    order=13,
    functions={
        "optional.of": Function((overload("optional_of", (_V,), _OPTIONAL, _of),)),
        "optional.ofNonZeroValue": Function(
            (overload("optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero),)
        ),
        "optional.none": Function((overload("optional_none", (), _OPTIONAL, lambda: NONE),)),
        "value": Function((member("optional_value", (_OPTIONAL,), _V, _value),)),
        "hasValue": Function(
            (member("optional_hasValue", (_OPTIONAL,), BOOL, lambda optional: optional.is_set),)
        ),
        "or": Function((member("optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL),)),
        "orValue": Function((member("optional_orValue_value", (_OPTIONAL, _V), _V),)),
        "_?._": Function((overload("select_optional_field", (DYN_TYPE, STRING), _OPTIONAL),)),
        "_[?_]": Function(
            (
                overload("list_optindex_optional_int", (_LIST, INT), _OPTIONAL),
                overload("optional_list_optindex_optional_int", (_OPTIONAL_LIST, INT), _OPTIONAL),
                overload("map_optindex_optional_value", (_MAP, _K), _OPTIONAL),
                overload("optional_map_optindex_optional_value", (_OPTIONAL_MAP, _K), _OPTIONAL),
            )
        ),
        "_[_]": Function(
            (
                overload("optional_list_index_int", (_OPTIONAL_LIST, INT), _OPTIONAL),
                overload("optional_map_index_value", (_OPTIONAL_MAP, _K), _OPTIONAL),
            )
        ),
        "last": Function((member("list_last", (_LIST,), _OPTIONAL, _last),)),
        "first": Function((member("list_first", (_LIST,), _OPTIONAL, _first),)),
        "optional.unwrap": Function((overload("optional_unwrap", (_OPTIONALS,), _LIST, _unwrapped),)),
        "unwrapOpt": Function((member("optional_unwrapOpt", (_OPTIONALS,), _LIST, _unwrapped),)),
    },
    types=(_types.optional_of(DYN_TYPE),),
    source="github.com/google/cel-go v0.29 cel/library.go",
)
