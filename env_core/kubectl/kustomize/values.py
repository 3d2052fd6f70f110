"""Values of YAML nodes: nulls as they were written, texts of scalars, and how Go prints them.

Source: sigs.k8s.io/kustomize/kyaml yaml (types.go, rnode.go); fmt's %#v.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.objects.jsonout import shortest_float
from env_core.objects.problems import quoted


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


class WrittenNull:
    """The type of `NULL`."""

    def __repr__(self) -> str:
        return "NULL"


MISSING: Final = Missing()
"""No node at all."""
NULL: Final = WrittenNull()
"""A null that is written out: patches keep it, while they drop a value left empty (None)."""


class Misfit:
    """The text of a scalar whose tag says that it is of another type, which shows when it is printed."""

    __slots__ = ("problem", "text")

    def __init__(self, text: str, found: str, wanted: str) -> None:
        self.text = text
        self.problem = f"yaml: cannot decode !!{found} `{text}` as a !!{wanted}"


def tag_of(value: Any) -> str:
    """Return the short name of a scalar's type."""
    if isinstance(value, bool):
        return "bool"
    if is_null(value):
        return "null"
    return "int" if isinstance(value, int) else "float" if isinstance(value, float) else "str"


def is_null(value: Any) -> bool:
    """Whether there is nothing: no node, or a null."""
    return value is None or value is NULL or value is MISSING


def is_nothing(value: Any) -> bool:
    """Whether a node is a null, an empty map or an empty list (kyaml IsNilOrEmpty)."""
    return is_null(value) or value == {} or value == []


def is_scalar(value: Any) -> bool:
    """Whether a node is a scalar, a null among them."""
    return not isinstance(value, (dict, list))


def text_of(value: Any) -> str:
    """Return the text of a scalar node, "" of others."""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, (int, float)):
        return shortest_float(value) if isinstance(value, float) else str(value)
    if isinstance(value, Misfit):
        return value.text
    return "null" if value is NULL else ""


def kind_name(value: Any) -> str:
    """Return what kyaml calls the kind of a node."""
    return (
        "MappingNode"
        if isinstance(value, dict)
        else "SequenceNode"
        if isinstance(value, list)
        else "ScalarNode"
    )


def copied(value: Any) -> Any:
    """Return a deep copy of a tree."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return a deep copy with ordinary nulls."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Misfit):
        return value.text
    return None if value is NULL else value


def go_syntax(value: Any) -> str:
    """Return a tree as Go's %#v prints what it is decoded into."""
    if isinstance(value, dict):
        is_plain = all(isinstance(key, str) for key in value)
        inside = ", ".join(
            f"{go_syntax(key)}:{go_syntax(value[key])}" for key in sorted(value, key=_key_order)
        )
        return f"map[{'string' if is_plain else 'interface {}'}]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(go_syntax, value)) + "}"
    if is_null(value):
        return "interface {}(nil)"
    return quoted(value) if isinstance(value, str) else text_of(value)


def _key_order(key: Any) -> tuple[int, Any]:
    if isinstance(key, str):
        return 0, key
    return (2, key) if isinstance(key, bool) else (1, key)
