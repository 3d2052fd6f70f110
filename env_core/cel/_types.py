"""CEL's static types, and when one may stand for another.

Source: github.com/google/cel-go v0.29 common/types and checker/types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERROR: Final = "error"
DYN: Final = "dyn"
PARAM: Final = "param"
NULL: Final = "null"
LIST: Final = "list"
MAP: Final = "map"
TYPE: Final = "type"
OPAQUE: Final = "opaque"
STRUCT: Final = "struct"
_NULLABLE: Final = frozenset({OPAQUE, STRUCT, "duration", "timestamp"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type: `kind` groups it, `name` is what it is called at run time, `parameters` what it is made of."""

    kind: str
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """Return the name that "must evaluate to" texts use."""
        if self.kind == PARAM:
            return f"<{self.name}>"
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def shown(self) -> str:
        """Return the name that the type checker's texts use."""
        if self.kind in _SHORT:
            return _SHORT[self.kind]
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(each.shown() for each in self.parameters)})"


_SHORT: Final = {
    "any": "any",
    "duration": "duration",
    ERROR: "!error!",
    NULL: "null",
    "timestamp": "timestamp",
}

BOOL: Final = Type("bool", "bool")
BYTES: Final = Type("bytes", "bytes")
DOUBLE: Final = Type("double", "double")
DURATION: Final = Type("duration", "google.protobuf.Duration")
DYN_TYPE: Final = Type(DYN, "dyn")
ERROR_TYPE: Final = Type(ERROR, "*error*")
INT: Final = Type("int", "int")
NULL_TYPE: Final = Type(NULL, "null_type")
STRING: Final = Type("string", "string")
TIMESTAMP: Final = Type("timestamp", "google.protobuf.Timestamp")
TYPE_TYPE: Final = Type(TYPE, "type")
UINT: Final = Type("uint", "uint")


def list_of(element: Type) -> Type:
    """Return `list(element)`."""
    return Type(LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return `map(key, value)`."""
    return Type(MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return `optional_type(value)`."""
    return Type(OPAQUE, "optional_type", (value,))


def struct(name: str) -> Type:
    """Return the type of objects called `name`."""
    return Type(STRUCT, name)


def param(name: str) -> Type:
    """Return the type variable `name`."""
    return Type(PARAM, name)


def type_of_type(wrapped: Type) -> Type:
    """Return the type of the value that stands for `wrapped`."""
    return Type(TYPE, "type", (wrapped,))


LIST_DYN: Final = list_of(DYN_TYPE)
MAP_DYN: Final = map_of(DYN_TYPE, DYN_TYPE)


def is_dyn(type_: Type) -> bool:
    """Whether nothing is known of the type."""
    return type_.kind == DYN


def is_dyn_or_error(type_: Type) -> bool:
    """Whether the checker lets anything pass for the type."""
    return type_.kind in (DYN, ERROR)


def unwrap_optional(type_: Type) -> tuple[Type, bool]:
    """Return what an optional holds, and whether the type is one."""
    if type_.kind == OPAQUE and type_.name == "optional_type":
        return type_.parameters[0], True
    return type_, False


def is_equivalent(one: Type, two: Type) -> bool:
    """Whether two types are the same but for the names of type variables."""
    if one.kind != two.kind or len(one.parameters) != len(two.parameters):
        return False
    if one.kind != PARAM and one.name != two.name:
        return False
    return all(map(is_equivalent, one.parameters, two.parameters))


class Substitutions:
    """What the type variables of one check stand for so far."""

    __slots__ = ("_bound",)

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}

    def bind(self, name: str, type_: Type) -> None:
        """Let a type variable stand for a type."""
        self._bound[name] = type_

    def assignable(self, one: Type, two: Type) -> bool:
        """Whether `two` fits `one`; what that says of type variables is kept if it does."""
        return self.assignable_all((one,), (two,))

    def assignable_all(self, ones: tuple[Type, ...], twos: tuple[Type, ...]) -> bool:
        """Whether every type fits its counterpart; all or nothing is kept."""
        kept = dict(self._bound)
        if self._fits_all(ones, twos):
            return True
        self._bound = kept
        return False

    def resolved(self, type_: Type, *, params_to_dyn: bool = False) -> Type:
        """Return the type with its type variables replaced; unbound ones become dyn if asked to."""
        if type_.kind == PARAM:
            found = self._bound.get(type_.name)
            if found is not None:
                return self.resolved(found, params_to_dyn=params_to_dyn)
            return DYN_TYPE if params_to_dyn else type_
        if not type_.parameters:
            return type_
        parameters = tuple(self.resolved(each, params_to_dyn=params_to_dyn) for each in type_.parameters)
        return type_ if parameters == type_.parameters else Type(type_.kind, type_.name, parameters)

    def _fits_all(self, ones: tuple[Type, ...], twos: tuple[Type, ...]) -> bool:
        return len(ones) == len(twos) and all(map(self._fits, ones, twos))

    def _fits(self, one: Type, two: Type) -> bool:
        if two.kind == PARAM:
            valid, has_substitution = self._stands_for(one, two)
            if valid:
                return True
            if has_substitution:
                return False
        if one.kind == PARAM:
            return self._stands_for(two, one)[0]
        if is_dyn_or_error(one) or is_dyn_or_error(two):
            return True
        if one.kind == NULL:
            return two.kind == NULL or two.kind in _NULLABLE
        if two.kind == NULL:
            return one.kind in _NULLABLE
        if one.kind == TYPE:
            return two.kind == TYPE
        if one.kind in (OPAQUE, LIST, MAP):
            same = one.kind == two.kind and one.name == two.name
            return same and self._fits_all(one.parameters, two.parameters)
        return one == two

    def _stands_for(self, one: Type, variable: Type) -> tuple[bool, bool]:
        """Return whether `variable` may stand for `one`, and whether it stands for something already."""
        if one == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is not None:
            if one == bound:
                return True, True
            if self._fits(one, bound):
                general = most_general(one, bound)
                if self._is_free_of(variable, general):
                    self._bound[variable.name] = general
                return True, True
            return False, True
        if self._is_free_of(variable, one):
            self._bound[variable.name] = one
            return True, False
        return False, False

    def _is_free_of(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return False
        if within.kind == PARAM:
            bound = self._bound.get(within.name)
            return bound is None or self._is_free_of(variable, bound)
        return all(self._is_free_of(variable, each) for each in within.parameters)


def most_general(one: Type, two: Type) -> Type:
    """Return the less specific of two types that fit each other."""
    return one if _is_equal_or_less_specific(one, two) else two


def _is_equal_or_less_specific(one: Type, two: Type) -> bool:
    if one.kind in (DYN, PARAM):
        return True
    if two.kind in (DYN, PARAM):
        return False
    if one.kind != two.kind:
        return False
    if one.kind == TYPE:
        return True
    if one.kind in (OPAQUE, LIST, MAP):
        if one.name != two.name or len(one.parameters) != len(two.parameters):
            return False
        return all(map(_is_equal_or_less_specific, one.parameters, two.parameters))
    return one == two
