"""What a filter can see, and the ways in which a run ends early."""

from __future__ import annotations

from dataclasses import dataclass, field

from env_core.shell._jq.nodes import ArrayPattern, NamePattern, Node, Pattern
from env_core.shell._jq.values import Json


@dataclass(frozen=True, slots=True)
class Closure:
    """A function, or a filter given as an argument, with the scope it was written in."""

    parameters: tuple[str, ...]
    body: Node
    scope: Scope | None


@dataclass(slots=True)
class Scope:
    """Variables and functions that can be seen."""

    variables: dict[str, Json]
    functions: dict[tuple[str, int], Closure]
    labels: dict[str, object] = field(default_factory=dict)

    def with_variables(self, values: dict[str, Json]) -> Scope:
        """Return a scope that sees more variables."""
        return Scope({**self.variables, **values}, self.functions, self.labels)

    def with_function(self, name: str, closure: Closure) -> Scope:
        """Return a scope that sees another function."""
        return Scope(
            self.variables, {**self.functions, (name, len(closure.parameters)): closure}, self.labels
        )


class Halt(Exception):
    """`halt` or `halt_error`: the program ends."""

    def __init__(self, value: Json, status: int, *, is_error: bool) -> None:
        """Record what to print and the exit status."""
        super().__init__()
        self.value = value
        self.status = status
        self.is_error = is_error


class TooMuch(Exception):
    """The filter does too much."""


def pattern_names(pattern: Pattern) -> list[str]:
    """Return the variables that a pattern binds."""
    if isinstance(pattern, NamePattern):
        return [pattern.name]
    if isinstance(pattern, ArrayPattern):
        return [name for item in pattern.items for name in pattern_names(item)]
    names: list[str] = []
    for _, name, inner in pattern.entries:
        names += [name] if name else []
        names += pattern_names(inner) if inner is not None else []
    return names
