"""The nodes of a parsed expression. The checker writes `type`, `overloads` and resolved names into them.

`offset` is where the text of a complaint about the node points: operators, brackets and dots, not their operands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from env_core.cel._declarations import Overload
from env_core.cel._types import ERROR_TYPE, Type


@dataclass(slots=True, eq=False)
class Node:
    """Any expression. `depth` is the number of levels below and with it."""

    offset: int
    type: Type = field(default=ERROR_TYPE, kw_only=True)
    depth: int = field(default=1, kw_only=True)


@dataclass(slots=True, eq=False)
class Unspecified(Node):
    """What stands for a part that could not be read."""


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A constant."""

    value: Any


@dataclass(slots=True, eq=False)
class Ident(Node):
    """A variable, or the value that a type's name stands for (`constant`)."""

    name: str
    constant: Type | None = None


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.name`, or the presence test of it; `qualified` names the variable that the path as a whole is."""

    operand: Node
    name: str
    is_test: bool = False
    qualified: Ident | None = None


@dataclass(slots=True, eq=False)
class Call(Node):
    """A function or operator; `target` is the receiver of the member style, None otherwise."""

    function: str
    target: Node | None
    args: list[Node]
    overloads: tuple[Overload, ...] = ()


@dataclass(slots=True, eq=False)
class ListOf(Node):
    """A list literal; `optionals` are the indexes of elements marked with a question mark."""

    elements: list[Node]
    optionals: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    """One entry of a map literal, or one field of a message literal (its key is a name)."""

    offset: int
    key: Node
    value: Node
    is_optional: bool


@dataclass(slots=True, eq=False)
class MapOf(Node):
    """A map literal."""

    entries: list[Entry]


@dataclass(slots=True, eq=False)
class Message(Node):
    """A message literal."""

    name: str
    entries: list[Entry]


@dataclass(slots=True, eq=False)
class Fold(Node):
    """A comprehension: what the macros turn into. `variable2` is "" with one variable."""

    range: Node
    variable: str
    variable2: str
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


def children(node: Node) -> list[Node]:
    """Return what a node is made of, in the order of the text."""
    if isinstance(node, Select):
        return [node.operand]
    if isinstance(node, Call):
        return [*([node.target] if node.target is not None else ()), *node.args]
    if isinstance(node, ListOf):
        return node.elements
    if isinstance(node, MapOf):
        return [part for entry in node.entries for part in (entry.key, entry.value)]
    if isinstance(node, Message):
        return [entry.value for entry in node.entries]
    if isinstance(node, Fold):
        return [node.range, node.initial, node.condition, node.step, node.result]
    return []


def copied(node: Node) -> Node:
    """Return an independent copy, as deep as the node goes."""
    if isinstance(node, Select):
        return Select(node.offset, copied(node.operand), node.name, node.is_test, depth=node.depth)
    if isinstance(node, Call):
        target = None if node.target is None else copied(node.target)
        return Call(node.offset, node.function, target, list(map(copied, node.args)), depth=node.depth)
    if isinstance(node, ListOf):
        return ListOf(node.offset, list(map(copied, node.elements)), node.optionals, depth=node.depth)
    if isinstance(node, MapOf):
        return MapOf(node.offset, list(map(_copied_entry, node.entries)), depth=node.depth)
    if isinstance(node, Message):
        return Message(node.offset, node.name, list(map(_copied_entry, node.entries)), depth=node.depth)
    if isinstance(node, Fold):
        return Fold(
            node.offset, copied(node.range), node.variable, node.variable2, node.accumulator,
            copied(node.initial), copied(node.condition), copied(node.step), copied(node.result), depth=node.depth,
        )  # fmt: skip
    if isinstance(node, Literal):
        return Literal(node.offset, node.value)
    if isinstance(node, Ident):
        return Ident(node.offset, node.name)
    return Unspecified(node.offset)


def _copied_entry(entry: Entry) -> Entry:
    return Entry(entry.offset, copied(entry.key), copied(entry.value), entry.is_optional)


def walk(node: Node) -> list[Node]:
    """Return the node and all below it."""
    found: list[Node] = []
    left = [node]
    while left:
        here = left.pop()
        found.append(here)
        left += reversed(children(here))
    return found
