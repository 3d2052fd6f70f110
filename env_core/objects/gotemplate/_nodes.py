"""The parsed form of a Go template; `str` of a node is its source form, as errors quote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from env_core.objects.problems import quoted


class TemplateError(Exception):
    """A template does not parse or does not apply; the message is Go's or kubectl's.

    `output` is what goes to standard output all the same.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside of actions."""

    at: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`"""

    at: int

    def __str__(self) -> str:
        return "."


@dataclass(frozen=True, slots=True)
class Nil:
    """`nil`"""

    at: int

    def __str__(self) -> str:
        return "nil"


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number or truth value, with the text it was written as."""

    at: int
    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Field:
    """`.a.b`"""

    at: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "." + ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.a.b`; the first name is the variable with its dollar sign."""

    at: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Function:
    """A function's name."""

    at: int
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Chain:
    """`(…).a.b`"""

    at: int
    node: Operand
    names: tuple[str, ...]

    def __str__(self) -> str:
        inner = f"({self.node})" if isinstance(self.node, Pipeline) else str(self.node)
        return inner + "".join(f".{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Command:
    """One stage of a pipeline: operands, or a function and its arguments."""

    at: int
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        return " ".join(
            f"({operand})" if isinstance(operand, Pipeline) else str(operand) for operand in self.operands
        )


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands, each fed to the next, and the variables that take the result."""

    at: int
    variables: tuple[str, ...]
    is_assignment: bool
    commands: tuple[Command, ...]

    def __str__(self) -> str:
        text = " | ".join(map(str, self.commands))
        if not self.variables:
            return text
        return f"{', '.join(self.variables)} {'=' if self.is_assignment else ':='} {text}"


@dataclass(frozen=True, slots=True)
class Action:
    """`{{pipeline}}`"""

    at: int
    pipeline: Pipeline

    def __str__(self) -> str:
        return f"{{{{{self.pipeline}}}}}"


@dataclass(frozen=True, slots=True)
class Branch:
    """`{{if}}`, `{{range}}` or `{{with}}`."""

    at: int
    keyword: str
    pipeline: Pipeline
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None

    def __str__(self) -> str:
        inner = "".join(map(str, self.body))
        if self.otherwise is not None:
            inner += "{{else}}" + "".join(map(str, self.otherwise))
        return f"{{{{{self.keyword} {self.pipeline}}}}}{inner}{{{{end}}}}"


@dataclass(frozen=True, slots=True)
class Jump:
    """`{{break}}` or `{{continue}}`"""

    at: int
    keyword: str

    def __str__(self) -> str:
        return f"{{{{{self.keyword}}}}}"


@dataclass(frozen=True, slots=True)
class Call:
    """`{{template "name" pipeline}}`"""

    at: int
    name: str
    pipeline: Pipeline | None

    def __str__(self) -> str:
        argument = f" {self.pipeline}" if self.pipeline is not None else ""
        return f"{{{{template {quoted(self.name)}{argument}}}}}"


@dataclass(frozen=True, slots=True)
class End:
    """`{{end}}` or `{{else}}`: closes a list while parsing, never part of a template."""

    at: int
    keyword: str

    def __str__(self) -> str:
        return f"{{{{{self.keyword}}}}}"


Operand = Dot | Nil | Constant | Field | Variable | Function | Chain | Pipeline
Statement = Text | Action | Branch | Jump | Call
Node = Operand | Command | Statement
