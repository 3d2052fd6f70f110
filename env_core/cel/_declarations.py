"""What a library declares: functions with their overloads, types, macros."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from env_core.cel._types import Type

Implementation = Callable[..., Any]
Cost = Callable[[Sequence[Any], Any], int]


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One signature of a function.

    `implementation` is None where the function as a whole has one (`Function.singleton`). `is_guarded` makes it run
    only on values of the declared types; the others look for themselves. `cost` is what a call costs where the rules
    of `_costs.py` do not say.
    """

    id: str
    arguments: tuple[Type, ...]
    result: Type
    implementation: Implementation | None = None
    is_member: bool = False
    is_guarded: bool = True
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of a library: overloads, or overloads with one implementation for all (`singleton`).

    The singleton runs when the first argument has the trait called `trait` ("" asks for nothing).
    """

    overloads: tuple[Overload, ...]
    singleton: Implementation | None = None
    trait: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A set of functions and types; `order` is its place among the libraries that declare the same function.

    `stored_only` are functions that only expressions stored before may use: new in this version, so that an older
    server could not evaluate them.
    """

    order: int
    functions: Mapping[str, Function]
    types: tuple[Type, ...] = ()
    stored_only: frozenset[str] = field(default_factory=frozenset)
    source: str


def overload(
    id_: str,
    arguments: tuple[Type, ...],
    result: Type,
    implementation: Implementation | None = None,
    *,
    is_guarded: bool = True,
    cost: Cost | None = None,
) -> Overload:
    """Declare an overload that is called as `function(arguments)`."""
    return Overload(id_, arguments, result, implementation, is_guarded=is_guarded, cost=cost)


def member(
    id_: str,
    arguments: tuple[Type, ...],
    result: Type,
    implementation: Implementation | None = None,
    *,
    is_guarded: bool = True,
    cost: Cost | None = None,
) -> Overload:
    """Declare an overload that is called as `argument.function(arguments)`."""
    return Overload(id_, arguments, result, implementation, is_member=True, is_guarded=is_guarded, cost=cost)
