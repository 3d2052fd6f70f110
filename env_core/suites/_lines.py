"""Command lines as actions: what can be said of one before it runs, its price, and how its output is cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from env_core.rest.message import HttpRequest
from env_core.suites._calls import Call
from env_core.suites._pricing import is_mutating, only_reads_objects, price
from env_core.suites._refusals import Refusal
from env_core.tools.terminal import Terminal

_BYTES = re.compile("[\ud800-\udfff]")


class Review(NamedTuple):
    """What can be said of a line before it runs."""

    refusal: Refusal | None
    is_reading: bool
    """Whether all of its commands only read objects."""


class Price(NamedTuple):
    """What can be said of a command before it runs."""

    refusal: Refusal | None
    cost: float
    is_mutating: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """What a suite refuses. The checks raise `Refusal`."""

    check_line: Callable[[str], None]
    check_command: Callable[[list[str]], None]
    check_call: Callable[[HttpRequest], Call]


@lru_cache(maxsize=4096)
def reviewed_line(rules: Rules, line: str) -> Review:
    """Return what a suite makes of a line."""
    commands = Terminal.commands(line)
    try:
        rules.check_line(line)
        for argv in commands:
            rules.check_command(argv)
    except Refusal as refusal:
        return Review(refusal, False)
    return Review(None, all(map(only_reads_objects, commands)))


@lru_cache(maxsize=4096)
def _priced(rules: Rules, argv: tuple[str, ...]) -> Price:
    words = list(argv)
    try:
        rules.check_command(words)
    except Refusal as refusal:
        return Price(refusal, 0.0, False)
    return Price(None, price(words), words[:1] == ["kubectl"] and is_mutating(words))


class Meter:
    """Adds up the prices of the commands that a line really runs; refuses the ones that are out of bounds."""

    __slots__ = ("_rules", "cost", "has_changed")

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.cost = 0.0
        self.has_changed = False

    def check(self, argv: list[str]) -> None:
        """Price one command before it runs.

        Raises:
            Refusal: if it is out of bounds (it may have come out of a substitution).
        """
        known = _priced(self._rules, tuple(argv))
        if known.refusal is not None:
            raise known.refusal.with_traceback(None)
        self.cost = round(self.cost + known.cost, 3)
        self.has_changed = self.has_changed or known.is_mutating


def text_of(text: str) -> str:
    """Return printable Unicode: bytes that are none (lone surrogates, in the shell's strings) become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if _BYTES.search(text) else text


def cut(text: str, chars_max: int) -> str:
    """Return the text, or its head and tail around a note of how much is missing."""
    if len(text) <= chars_max:
        return text
    head = chars_max * 3 // 4
    tail = chars_max - head
    return (
        f"{text[:head]}\n[... {len(text) - chars_max} characters truncated ...]\n{text[len(text) - tail :]}"
    )
