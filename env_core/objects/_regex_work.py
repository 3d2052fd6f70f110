"""How much work an expression can cause: Python's engine tries every way to divide a text among repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

WAYS_MAX: Final = 14
"""An expression that may divide one text in more than two to the power of so many ways is refused."""


_GROUP_STEPS: Final = 10
"""How many characters one turn of a group costs."""
_ROUGH_MAX: Final = 100_000
"""Fewer steps are not worth a closer look."""


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the expression: what it can match, and how often."""

    source: str
    characters: frozenset[str]
    is_single: bool = True
    is_optional: bool = False
    is_unbounded: bool = False
    choices: int = 1
    """How many different counts a bounded repetition allows."""
    ways: float = 0.0
    """The binary logarithm of the ways to divide a text inside it."""
    branches: tuple[tuple[Item, ...], ...] = ()
    """The alternatives of a group."""
    repeated: str = ""
    """The single character that an unbounded repetition repeats, as source."""


def ways_of(branches: Sequence[Sequence[Item]], *, is_repeated: bool = False) -> float:
    """Return the binary logarithm of the ways in which alternatives may divide a text, for bounded repetitions."""
    choice = 0.0
    if len(branches) > 1 and any(
        not are_apart(list(one), list(two)) for at, one in enumerate(branches) for two in branches[at + 1 :]
    ):
        choice = log2(len(branches))
    return choice + max(
        (_ways_of_branch(branch, is_repeated=is_repeated) for branch in branches), default=0.0
    )


def _ways_of_branch(branch: Sequence[Item], *, is_repeated: bool) -> float:
    total = 0.0
    for at, item in enumerate(branch):
        total += item.ways
        if item.choices > 1 and item.characters & _behind(branch, at, is_repeated=is_repeated):
            total += log2(item.choices)
    return total


def repetitions(branch: Sequence[Item]) -> list[tuple[str, bool]]:
    """Return the unbounded repetitions of a branch.

    For each what it repeats ("" for more than one character at a time), and whether it can take what follows it: then
    every length of it is tried with every length of the others.
    """
    return [
        (item.repeated, bool(item.characters & _behind(branch, at, is_repeated=False)))
        for at, item in enumerate(branch)
        if item.is_unbounded
    ]


def literal_start(branches: Sequence[Sequence[Item]]) -> str | None:
    """Return the characters with which every match begins; None when it can match at the beginning only."""
    if len(branches) != 1:
        return ""
    found = ""
    for item in branches[0]:
        if item.source == r"\A":
            return None
        char = item.source.removeprefix("\\")
        if len(char) != 1 or item.characters != {char, char.swapcase()}:
            break
        found += char
    return found


@dataclass(frozen=True, slots=True)
class Effort:
    """What a search may cost: of which texts an expression's matches begin, and what it repeats."""

    start: str | None
    """As `literal_start` tells it; "" when nothing is known."""
    multiplying: tuple[re.Pattern[str] | None, ...]
    """The repetitions whose lengths multiply: runs of what they repeat, None for any text."""
    adding: tuple[re.Pattern[str] | None, ...]
    """The repetitions whose lengths add up."""

    @staticmethod
    def of(start: str | None, found: Sequence[tuple[str, bool]]) -> Effort:
        """Return the effort of an expression with these repetitions."""
        runs = [(re.compile(f"(?:{source})+") if source else None, wide) for source, wide in found]
        return Effort(
            start, tuple(run for run, wide in runs if wide), tuple(run for run, wide in runs if not wide)
        )

    def steps(self, text: str) -> int:
        """Return how many steps a search in a text may take, about."""
        if not self.multiplying and not self.adding:
            return 0
        size = len(text)
        starts: int = 1 if self.start is None else text.count(self.start) if self.start else size
        rough: int = starts * size ** len(self.multiplying) * max(size * len(self.adding), 1)
        if rough < _ROUGH_MAX:
            return rough
        steps: int = starts * max(sum(_longest(run, text) for run in self.adding), 1)
        for at, run in enumerate(self.multiplying, 1):
            # So many lengths that together are no longer than the text.
            steps = steps * _longest(run, text) // at
        return steps


def _longest(run: re.Pattern[str] | None, text: str) -> int:
    return _GROUP_STEPS * len(text) if run is None else max(map(len, run.findall(text)), default=0) + 1


def _behind(branch: Sequence[Item], at: int, *, is_repeated: bool) -> frozenset[str]:
    """Return the characters with which what follows an item may begin."""
    found: frozenset[str] = frozenset()
    for item in branch[at + 1 :]:
        found |= item.characters
        if not item.is_optional and item.characters:
            return found
    return found.union(*(item.characters for item in branch)) if is_repeated else found


def may_explode(branches: list[list[Item]]) -> bool:
    """Tell whether repeating a group without bound could match one text in exponentially many ways.

    A branch with an unbounded repetition is safe when a character that must come is none that the repetitions
    can take; two branches are safe when they cannot match the same text.
    """
    for branch in branches:
        elastic = [item for item in branch if item.is_unbounded or item.choices > 1]
        repeated = frozenset[str]().union(*(item.characters for item in elastic))
        if not elastic:
            continue
        if not any(
            item.is_single
            and not item.is_optional
            and not item.is_unbounded
            and item.choices == 1
            and not item.characters & repeated
            for item in branch
        ):
            return True
    for index, first in enumerate(branches):
        for second in branches[index + 1 :]:
            if first and second and not are_apart(first, second):
                return True
    return False


def are_apart(first: list[Item], second: list[Item]) -> bool:
    """Tell whether no text can begin with a match of both branches, as far as their leading items show."""
    for one, two in zip(first, second):
        if one.is_optional or two.is_optional:
            return False
        if not one.characters & two.characters:
            return True
        if not (one.is_single and two.is_single) or one.is_unbounded or two.is_unbounded:
            return False
    return False
