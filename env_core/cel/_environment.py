"""What an expression may use: variables with their types, objects with their fields, the functions of all libraries.

Source: k8s.io/apiserver v0.37 pkg/cel/environment/base.go for which libraries Kubernetes 1.37 has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from env_core.cel import _types, libraries
from env_core.cel._declarations import Function, Library
from env_core.cel._types import Type
from env_core.discovery import discover

Fields = Mapping[str, Type]
"""The fields of an object type."""


PATCH_OBJECT = "Object"
PATCH_OPERATION = "JSONPatch"


class _AnyFields(Mapping[str, Type]):
    """The fields of objects without a schema: each there, of no known type.

    Source: k8s.io/apiserver v0.37 pkg/cel/mutation/typeresolver.go.
    """

    def __getitem__(self, _name: str) -> Type:
        return _types.DYN_TYPE

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_ANY_FIELDS = _AnyFields()
_PATCH_FIELDS: Fields = {
    "op": _types.STRING,
    "path": _types.STRING,
    "from": _types.STRING,
    "value": _types.DYN_TYPE,
}


def is_patch_type(name: str) -> bool:
    """Whether a name is one of the types that patches are made of."""
    return name in (PATCH_OBJECT, PATCH_OPERATION) or name.startswith(f"{PATCH_OBJECT}.")


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """The names that an expression may use.

    `variables` maps names, dotted ones too, to types; `objects` maps the names of object types to their fields.
    `is_new` refuses what only expressions that are stored already may use.
    """

    variables: Mapping[str, Type]
    objects: Mapping[str, Fields] = field(default_factory=dict)
    is_new: bool = False
    has_patches: bool = False
    """Whether an expression may make patches: objects of the types `Object`, `Object.…` and `JSONPatch`."""

    def function(self, name: str) -> Function | None:
        """Return a function by its name."""
        name = name.removeprefix(".")
        if self.is_new and name in _stored_only():
            return None
        if name.startswith("jsonpatch.") and not self.has_patches:
            return None
        return functions().get(name)

    def ident(self, name: str) -> tuple[Type, Type | None] | None:
        """Return the type of a variable, or of a type's name, and what the latter stands for; None is unknown."""
        name = name.removeprefix(".")
        found = self.variables.get(name)
        if found is not None:
            return found, None
        named = _type_names().get(name)
        if named is not None:
            return _types.type_of_type(named), named
        if name in self.objects or (self.has_patches and is_patch_type(name)):
            return _types.type_of_type(_types.struct(name)), _types.struct(name)
        return None

    def fields(self, name: str) -> Fields | None:
        """Return the fields of an object type."""
        if self.has_patches and is_patch_type(name):
            return _PATCH_FIELDS if name == PATCH_OPERATION else _ANY_FIELDS
        return self.objects.get(name)

    def with_variables(
        self, more: Mapping[str, Type], objects: Mapping[str, Fields] | None = None
    ) -> Environment:
        """Return an environment with more names."""
        return Environment(
            {**self.variables, **more}, {**self.objects, **(objects or {})}, self.is_new, self.has_patches
        )


@lru_cache(maxsize=1)
def _libraries() -> tuple[Library, ...]:
    found = discover(libraries, "LIBRARY", Library)
    return tuple(sorted(found.values(), key=lambda library: library.order))


@lru_cache(maxsize=1)
def functions() -> Mapping[str, Function]:
    """Return every function; the overloads of one that several libraries declare are joined."""
    joined: dict[str, Function] = {}
    for library in _libraries():
        for name, function in library.functions.items():
            known = joined.get(name)
            if known is not None:
                function = Function(
                    known.overloads + function.overloads, known.singleton or function.singleton, known.trait
                )
            joined[name] = function
    return MappingProxyType(joined)


@lru_cache(maxsize=1)
def _stored_only() -> frozenset[str]:
    return frozenset().union(*(library.stored_only for library in _libraries()))


@lru_cache(maxsize=1)
def _type_names() -> Mapping[str, Type]:
    return MappingProxyType({each.name: each for library in _libraries() for each in library.types})
