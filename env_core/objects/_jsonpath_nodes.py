"""The parsed form of a JSONPath template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class JSONPathError(Exception):
    """A template does not parse or does not apply; the message is client-go's.

    `values` are what evaluation had found so far: an existence filter accepts an element whose path failed
    half way.
    """

    def __init__(self, message: str, values: list[Any] | None = None) -> None:
        super().__init__(message)
        self.values = values if values is not None else []


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text, quoted or outside of braces."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a truth value."""

    value: float | bool


@dataclass(frozen=True, slots=True)
class Field:
    """`.name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Bound:
    """One part of `[start:end:step]`; a derived end stands for "just that one element"."""

    value: int = 0
    is_known: bool = False
    is_derived: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """`[start:end:step]`."""

    start: Bound
    end: Bound
    step: Bound


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*`."""


@dataclass(frozen=True, slots=True)
class Recursive:
    """`..`."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A bare word; `range` and `end` mean something."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """What stands between two braces: each node works on what the one before found."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """`[a,b]`: what each member finds, one after the other."""

    members: tuple[Sequence, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """`[?(left operator right)]`; the operator "exists" has no right side."""

    left: Sequence
    operator: str
    right: Sequence


Node = Text | Literal | Field | Array | Wildcard | Recursive | Identifier | Sequence | Union | Filter
