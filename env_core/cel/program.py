"""Compiles an expression and evaluates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from env_core.cel._ast import Ident, Literal, Message, Node, children, walk
from env_core.cel._checker import check
from env_core.cel._environment import PATCH_OPERATION, Environment
from env_core.cel._frame import CostExceeded, Frame, Run
from env_core.cel._parser import parse
from env_core.cel._planner import PlanProblem, plan
from env_core.cel._source import Issues
from env_core.cel._types import Type
from env_core.cel._validators import validate
from env_core.cel._values import CelError
from env_core.objects.problems import quoted

CALL_LIMIT: Final = 1_000_000
"""What one evaluation may cost.

Source: k8s.io/apiserver v0.37 pkg/apis/cel PerCallLimit.
"""


class CompileProblem(Exception):
    """The expression does not compile; the text is the API server's.

    `is_internal` marks what shows only when the program is made, which the server calls an internal error.
    """

    def __init__(self, message: str, *, is_internal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_internal = is_internal


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation came to, and what it cost."""

    value: Any
    cost: int


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A compiled expression: immutable, and the same for the same text and environment."""

    text: str
    output: Type
    _run: Run
    _slots: int

    def evaluate(self, bindings: Mapping[str, Any]) -> Any:
        """Return the value, or a `CelError`."""
        return self.counted(bindings).value

    def counted(self, bindings: Mapping[str, Any], limit: int = CALL_LIMIT) -> Outcome:
        """Return the value, or a `CelError`, with its cost; costing more than `limit` is an error, too."""
        frame = Frame(bindings, self._slots, limit)
        try:
            value = self._run(frame)
        except CostExceeded as problem:
            value = CelError(str(problem))
        return Outcome(value, frame.cost)


@lru_cache(maxsize=2048)
def compile_expression(text: str, environment: Environment) -> Program:
    """Return the program of an expression.

    Raises:
        CompileProblem: it is malformed, its types do not fit, or a constant in it has no value.
    """
    node, issues = _checked(text, environment)
    if issues:
        raise CompileProblem(f"compilation failed: {issues.shown()}")
    try:
        run, slots = plan(node)
    except PlanProblem as problem:
        text = f"program instantiation failed: {problem}"
        raise CompileProblem(text, is_internal=True) from None
    return Program(text, node.type, run, slots)


def checked_type(text: str, environment: Environment) -> Type:
    """Return the type of an expression without making a program of it.

    Raises:
        CompileProblem: it is malformed, or its types do not fit; the text has no heading.
    """
    node, issues = _checked(text, environment)
    if issues:
        raise CompileProblem(issues.shown())
    return node.type


@lru_cache(maxsize=2048)
def uses(text: str, name: str) -> bool:
    """Whether an expression speaks of a variable; one that is malformed speaks of none."""
    node, issues = parse(text)
    return not issues and any(isinstance(each, Ident) and each.name == name for each in walk(node))


@lru_cache(maxsize=256)
def misnamed(text: str) -> str:
    """Return what is wrong with the types of an expression's objects, "" if each is named after the field that it is in.

    Source: k8s.io/apiserver v0.37 pkg/cel/mutation/dynamic/objects.go CheckTypeNamesMatchFieldPathNames, which looks at
    the value; here the literals are looked at.
    """
    node, issues = parse(text)
    if issues:
        return ""
    return "\n".join(dict.fromkeys(_misnamed(node, "")))


def _misnamed(node: Node, wanted: str) -> Iterator[str]:
    if not isinstance(node, Message):
        for child in children(node):
            yield from _misnamed(child, wanted)
        return
    name = node.name.removeprefix(".")
    if wanted and name != wanted:
        yield (
            f"unexpected type name {quoted(name)}, expected {quoted(wanted)}, "
            "which matches field name path from root Object type"
        )
    for entry in node.entries:
        inner = f"{wanted or name}.{entry.key.value}" if isinstance(entry.key, Literal) else wanted
        yield from _misnamed(entry.value, "" if name == PATCH_OPERATION else inner)


def _checked(text: str, environment: Environment) -> tuple[Node, Issues]:
    node, issues = parse(text)
    if not issues:
        check(node, environment, issues)
    if not issues:
        validate(node, issues)
    return node, issues
