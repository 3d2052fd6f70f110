"""What strategic merge asks of a Go type, and the errors it raises about values and patches."""

from __future__ import annotations

from types import NoneType
from typing import Any, Final, Protocol, TypeVar

from env_core.objects._patch_problem import PatchError, bad_request, unprocessable
from env_core.objects.goformat import value_text
from env_core.world import Object

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
DELETE_FROM: Final = "$deleteFromPrimitiveList"
ELEMENT_ORDER: Final = "$setElementOrder"
_T = TypeVar("_T")


class PatchField(Protocol):
    """A struct field with its patch tags."""

    @property
    def type(self) -> PatchType:
        """The field's type."""

    @property
    def patch_strategies(self) -> tuple[str, ...]:
        """The `patchStrategy` tag, split at commas."""

    @property
    def patch_merge_key(self) -> str:
        """The `patchMergeKey` tag."""


class PatchType(Protocol):
    """A Go type: reflect's kind, its bare name, its element, and its fields where it is a struct."""

    @property
    def kind(self) -> str:
        """The word of reflect.Kind."""

    @property
    def name(self) -> str:
        """The type's name without its package."""

    @property
    def element(self) -> PatchType | None:
        """What a pointer, slice or map holds."""

    def patch_field(self, name: str) -> PatchField | None:
        """Return the field of a struct (or of a pointer to one) by JSON name."""


class Lookup:
    """The answer about one field: its type as a patch sees it, strategy, merge key."""

    __slots__ = ("merge_key", "retain_keys", "strategy", "type")

    def __init__(self, type_: PatchType, field: PatchField) -> None:
        self.type = type_
        self.merge_key = field.patch_merge_key
        strategies = [strategy for strategy in field.patch_strategies if strategy]
        self.retain_keys = "retainKeys" in strategies
        others = [strategy for strategy in strategies if strategy != "retainKeys"]
        self.strategy = others[0] if others else ""


def _base(type_: PatchType) -> PatchType:
    return type_.element if type_.kind == "ptr" and type_.element is not None else type_


def look_up(type_: PatchType, key: str) -> Lookup:
    """Return what a map under `key` is merged by.

    Raises:
        PatchError: the type has no such field.
    """
    base = _base(type_)
    if base.kind != "struct":
        kind = "slice" if base.kind == "bytes" else base.kind
        raise PatchError(f"merging an object in json but data type is not struct, instead is: {kind}")
    field = base.patch_field(key)
    if field is None:
        raise PatchError(f'unable to find api field in struct {base.name} for the json field "{key}"')
    return Lookup(field.type, field)


def look_up_list(type_: PatchType, key: str) -> Lookup:
    """Return what a list under `key` is merged by; `type` is that of an element."""
    found = look_up(type_, key)
    here = found.type
    if here.kind == "slice" and here.element is not None:
        if here.element.kind == "slice":
            raise PatchError("unexpected slice of slice")
        found.type = here.element
    elif here.kind == "ptr" and here.element is not None:
        inner = here.element
        found.type = inner.element if inner.kind == "slice" and inner.element is not None else inner
    elif here.kind != "bytes":
        raise PatchError(f"expected slice or array type, but got: {type_.kind}")
    return found


_KINDS: Final = {
    str: "string",
    NoneType: "nil",
    bool: "bool",
    dict: "map",
    list: "slice",
    int: "int64",
    float: "float64",
}


def go_kind(value: Any) -> str:
    """Return reflect's word for a decoded JSON value."""
    kind = type(value)
    return _KINDS[kind] if kind in _KINDS else next(_KINDS[base] for base in kind.__mro__ if base in _KINDS)


_TYPE_TEXTS: Final = {"map": "map[string]interface {}", "slice": "[]interface {}", "nil": "%!s(<nil>)"}


def wrong_type(expected: str, value: Any) -> PatchError:
    """Return the error of a value that is no `expected` ("map" or "slice")."""
    kind = go_kind(value)
    return PatchError(f"expected a {_TYPE_TEXTS[expected]}, but received a {_TYPE_TEXTS.get(kind, kind)}")


def no_merge_key(item: Object, merge_key: str) -> PatchError:
    """Return the error of a list item that lacks the key that tells items apart."""
    return PatchError(f"map: {value_text(item)} does not contain declared merge key: {merge_key}")


def bad_directive(directive: Any, item: Object) -> PatchError:
    """Return the error of an unknown `$patch` value."""
    shown = directive if isinstance(directive, str) else f"%!s({go_kind(directive)}={value_text(directive)})"
    return PatchError(f"unknown patch type: {shown} in map: {value_text(item)}")


def bad_format(what: str) -> PatchError:
    """Return the 400 of a malformed directive ("retainKeys", "primitive list", "setElementOrder list")."""
    return bad_request(f"invalid patch format of {what}")


def list_of_lists() -> PatchError:
    """Return the 422 of nested lists."""
    return unprocessable("lists of lists are not supported")


def same(left: Any, right: Any) -> bool:
    """Return Go's `==` of two scalars: the types must agree."""
    return type(left) is type(right) and bool(left == right)


def deep_equal(left: Any, right: Any) -> bool:
    """Return reflect.DeepEqual of two JSON values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            key in right and deep_equal(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    return bool(left == right)


def element_kind(*lists: list[Any]) -> str:
    """Return the one Go kind of all items.

    Raises:
        PatchError: the items differ in type, are lists, or there are none.
    """
    kind = ""
    for items in lists:
        for item in items:
            found = go_kind(item)
            if not kind:
                if found == "slice":
                    raise list_of_lists()
                kind = found
            elif kind != found:
                raise PatchError(f"list element types are not identical: {value_text(list(lists))}")
    if not kind:
        raise PatchError("no elements in any of the given slices")
    return kind
