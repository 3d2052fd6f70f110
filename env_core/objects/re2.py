"""Go's regular expressions: whether a text matches, in time linear in the text whatever the expression.

Source: Go regexp/syntax (the grammar and its error texts), https://github.com/google/re2/wiki/Syntax.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.objects._re2_parser import (
    ANY_BEGIN,
    ANY_END,
    LINE_BEGIN,
    LINE_END,
    NO_WORD_EDGE,
    WORD_EDGE,
    Node,
    Re2Error,
    parse,
)

__all__ = ["Re2Error", "compiled"]

_SPLIT: Final = 0
_CHARS: Final = 1
_EDGE: Final = 2
_MATCH: Final = 3
_STATES_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class _State:
    kind: int
    out: int = 0
    other: int = 0
    node: Node | None = None


class Regexp:
    """A compiled expression."""

    __slots__ = ("_start", "_states", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        builder = _Builder()
        match = builder.add(_State(_MATCH))
        self._start = builder.build(parse(pattern), match)
        self._states = builder.states

    def search(self, text: str) -> bool:
        """Return whether some part of the text matches."""
        current: dict[int, None] = {}
        for at in range(len(text) + 1):
            if self._follow(self._start, text, at, current):
                return True
            if at == len(text):
                return False
            char, after = text[at], dict[int, None]()
            for index in current:
                state = self._states[index]
                assert state.node is not None
                if state.node.accepts(char) and self._follow(state.out, text, at + 1, after):
                    return True
            current = after
        return False

    def _follow(self, start: int, text: str, at: int, found: dict[int, None]) -> bool:
        """Add the reading states that `start` leads to; return whether one of them is the end."""
        todo, seen = [start], set[int]()
        while todo:
            index = todo.pop()
            if index in seen or index in found:
                continue
            seen.add(index)
            state = self._states[index]
            if state.kind == _MATCH:
                return True
            if state.kind == _CHARS:
                found[index] = None
            elif state.kind == _SPLIT:
                todo += (state.out, state.other)
            elif state.node is not None and _holds(state.node.edge, text, at):
                todo.append(state.out)
        return False


def _holds(edge: str, text: str, at: int) -> bool:
    if edge == ANY_BEGIN:
        return at == 0
    if edge == ANY_END:
        return at == len(text)
    if edge == LINE_BEGIN:
        return at == 0 or text[at - 1] == "\n"
    if edge == LINE_END:
        return at == len(text) or text[at] == "\n"
    before = at > 0 and _is_word(text[at - 1])
    after = at < len(text) and _is_word(text[at])
    assert edge in (WORD_EDGE, NO_WORD_EDGE)
    return (before != after) is (edge == WORD_EDGE)


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


class _Builder:
    """Builds the states of an expression from its end to its beginning."""

    def __init__(self) -> None:
        self.states: list[_State] = []

    def add(self, state: _State) -> int:
        """Add a state and return its number.

        Raises:
            Re2Error: for an expression that is too large.
        """
        if len(self.states) >= _STATES_MAX:
            raise Re2Error("expression too large", "")
        self.states.append(state)
        return len(self.states) - 1

    def build(self, node: Node, after: int) -> int:
        """Return the state in which `node` begins and that leads on to `after`."""
        if node.kind == "sequence":
            for part in reversed(node.parts):
                after = self.build(part, after)
            return after
        if node.kind == "either":
            start = self.build(node.parts[-1], after)
            for part in reversed(node.parts[:-1]):
                start = self.add(_State(_SPLIT, self.build(part, after), start))
            return start
        if node.kind == "repeat":
            return self._repeat(node, after)
        return self.add(_State(_EDGE if node.kind == "edge" else _CHARS, after, node=node))

    def _repeat(self, node: Node, after: int) -> int:
        (part,) = node.parts
        start = after
        if node.high is None:
            loop = self.add(_State(_SPLIT))
            self.states[loop] = _State(_SPLIT, self.build(part, loop), after)
            start = loop
        else:
            for _ in range(node.high - node.low):
                start = self.add(_State(_SPLIT, self.build(part, start), after))
        for _ in range(node.low):
            start = self.build(part, start)
        return start


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Regexp:
    """Return a compiled expression.

    Raises:
        Re2Error: with Go's text.
    """
    return Regexp(pattern)
