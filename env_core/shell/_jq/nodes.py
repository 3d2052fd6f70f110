"""The syntax tree of a jq filter."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.shell._jq.values import Json


@dataclass(frozen=True, slots=True)
class Identity:
    """`.`."""


@dataclass(frozen=True, slots=True)
class Index:
    """`target[key]` or `target.name`."""

    target: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Slice:
    """`target[start:end]`."""

    target: Node
    start: Node | None
    end: Node | None


@dataclass(frozen=True, slots=True)
class Iterate:
    """`target[]`."""

    target: Node


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Json


@dataclass(frozen=True, slots=True)
class Format:
    """`@name` by itself."""

    name: str


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A string with parts that are filters; `format` is applied to those."""

    parts: tuple[str | Node, ...]
    format: str


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """`[body]`."""

    body: Node | None


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{key: value, …}`."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Negate:
    """`-operand`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Pipe:
    """`left | right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Comma:
    """`left, right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Operate:
    """Arithmetic and comparison."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logic:
    """`and`, `or`."""

    is_and: bool
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Alternative:
    """`left // right`."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Update:
    """`=`, `|=`, `+=` and their like."""

    operator: str
    target: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if condition then yes else no end`."""

    condition: Node
    yes: Node
    no: Node


@dataclass(frozen=True, slots=True)
class Try:
    """`try body catch handler`, and `body?`."""

    body: Node
    handler: Node | None


@dataclass(frozen=True, slots=True)
class Reduce:
    """`reduce source as pattern (start; update)`."""

    source: Node
    pattern: Pattern
    start: Node
    update: Node


@dataclass(frozen=True, slots=True)
class Foreach:
    """`foreach source as pattern (start; update; extract)`."""

    source: Node
    pattern: Pattern
    start: Node
    update: Node
    extract: Node | None


@dataclass(frozen=True, slots=True)
class Define:
    """`def name(parameters): body; rest`."""

    name: str
    parameters: tuple[str, ...]
    body: Node
    rest: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, or of a parameter."""

    name: str
    arguments: tuple[Node, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Bind:
    """`source as pattern | body`, with `?//` further patterns."""

    source: Node
    patterns: tuple[Pattern, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Label:
    """`label $name | body`."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class BreakTo:
    """`break $name`."""

    name: str
    offset: int


Node = (
    Identity
    | Index
    | Slice
    | Iterate
    | Literal
    | Format
    | Interpolated
    | ArrayOf
    | ObjectOf
    | Negate
    | Pipe
    | Comma
    | Operate
    | Logic
    | Alternative
    | Update
    | Conditional
    | Try
    | Reduce
    | Foreach
    | Define
    | Call
    | Variable
    | Bind
    | Label
    | BreakTo
)


@dataclass(frozen=True, slots=True)
class NamePattern:
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    """`[pattern, …]`."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class ObjectPattern:
    """`{key: pattern, …}`; a name alone binds the variable of that name too."""

    entries: tuple[tuple[Node, str, Pattern | None], ...]


Pattern = NamePattern | ArrayPattern | ObjectPattern
