"""Regular expressions with RE2's syntax and its promise: time in proportion to the text, whatever the pattern.

All ways to match are followed at once, the preferred ones first.

Source: https://swtch.com/~rsc/regexp/regexp2.html for the method; Go's regexp for the meaning (leftmost-first).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.cel._re2_chars import Test
from env_core.cel._re2_syntax import (
    Chars,
    Choice,
    Place,
    Regex,
    RegexProblem,
    Repeat,
    Sequence,
    parse_re2,
)

__all__ = ["Program", "RegexProblem", "compile_re2"]

_SIZE_MAX: Final = 10_000
_MATCH: Final = -1


@dataclass(slots=True)
class _Instruction:
    """Takes a character, stands at a place, or leads elsewhere (`ways`, the preferred one first)."""

    test: Test | None = None
    place: str = ""
    ways: tuple[int, ...] = ()


class Program:
    """A compiled expression."""

    __slots__ = ("_code",)

    def __init__(self, code: list[_Instruction]) -> None:
        self._code = code

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Return where the first match at or after `start` begins and ends."""
        best: tuple[int, int] | None = None
        threads: dict[int, int] = {}
        for position in range(start, len(text) + 1):
            if best is None:
                self._follow(0, position, text, position, threads)
            if not threads:
                if best is not None:
                    break
                continue
            char = text[position : position + 1]
            following: dict[int, int] = {}
            for state, begin in threads.items():
                if state == _MATCH:
                    # What comes later is less preferred than this match.
                    best = begin, position
                    break
                test = self._code[state].test
                if char and test is not None and test(char):
                    self._follow(state + 1, begin, text, position + 1, following)
            threads = following
        return best

    def is_in(self, text: str) -> bool:
        """Whether the expression matches somewhere in a text."""
        return self.search(text) is not None

    def find(self, text: str) -> str:
        """Return the first match, "" if there is none."""
        found = self.search(text)
        return "" if found is None else text[found[0] : found[1]]

    def find_all(self, text: str, count_max: int) -> list[str]:
        """Return the matches that do not overlap, at most `count_max` of them unless that is negative."""
        found: list[str] = []
        position, previous_end = 0, -1
        while position <= len(text) and (count_max < 0 or len(found) < count_max):
            match = self.search(text, position)
            if match is None:
                break
            begin, end = match
            if end > begin or begin != previous_end:
                found.append(text[begin:end])
            previous_end = end
            position = end if end > position else position + 1
        return found

    def _follow(self, state: int, begin: int, text: str, position: int, threads: dict[int, int]) -> None:
        """Add all states that are reached without taking a character, the preferred ones first."""
        left = [state]
        visited: set[int] = set()
        while left:
            here = left.pop()
            if here in threads or here in visited:
                continue
            visited.add(here)
            if here == len(self._code):
                threads.setdefault(_MATCH, begin)
                continue
            instruction = self._code[here]
            if instruction.test is not None:
                threads[here] = begin
            elif instruction.place:
                if _is_at(instruction.place, text, position):
                    left.append(here + 1)
            else:
                left += reversed([here + way for way in instruction.ways])


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _is_at(place: str, text: str, position: int) -> bool:
    if place == "A":
        return position == 0
    if place == "z":
        return position == len(text)
    if place == "^":
        return position == 0 or text[position - 1] == "\n"
    if place == "$":
        return position == len(text) or text[position] == "\n"
    before = position > 0 and _is_word(text[position - 1])
    after = position < len(text) and _is_word(text[position])
    return (before != after) == (place == "b")


@lru_cache(maxsize=1024)
def compile_re2(pattern: str) -> Program:
    """Return the program of an expression.

    Raises:
        RegexProblem: it is malformed, or too large.
    """
    code: list[_Instruction] = []
    _emit(parse_re2(pattern), code, pattern)
    return Program(code)


def _emit(regex: Regex, code: list[_Instruction], pattern: str) -> None:
    if len(code) > _SIZE_MAX:
        raise RegexProblem("expression too large", pattern)
    if isinstance(regex, Chars):
        code.append(_Instruction(test=regex.test))
    elif isinstance(regex, Place):
        code.append(_Instruction(place=regex.kind))
    elif isinstance(regex, Sequence):
        for part in regex.parts:
            _emit(part, code, pattern)
    elif isinstance(regex, Choice):
        _emit_choice(regex, code, pattern)
    else:
        _emit_repeat(regex, code, pattern)


def _emit_choice(regex: Choice, code: list[_Instruction], pattern: str) -> None:
    exits: list[int] = []
    for option in regex.options[:-1]:
        fork = len(code)
        code.append(_Instruction())
        _emit(option, code, pattern)
        exits.append(len(code))
        code.append(_Instruction())
        code[fork].ways = (1, len(code) - fork)
    _emit(regex.options[-1], code, pattern)
    for exit_ in exits:
        code[exit_].ways = (len(code) - exit_,)


def _emit_repeat(regex: Repeat, code: list[_Instruction], pattern: str) -> None:
    for _ in range(regex.low):
        _emit(regex.part, code, pattern)
    if regex.high == -1:
        fork = len(code)
        code.append(_Instruction())
        _emit(regex.part, code, pattern)
        back = len(code)
        code.append(_Instruction(ways=(fork - back,)))
        _fork(code, fork, len(code), is_greedy=regex.is_greedy)
        return
    forks: list[int] = []
    for _ in range(regex.high - regex.low):
        forks.append(len(code))
        code.append(_Instruction())
        _emit(regex.part, code, pattern)
    for fork in forks:
        _fork(code, fork, len(code), is_greedy=regex.is_greedy)


def _fork(code: list[_Instruction], fork: int, end: int, *, is_greedy: bool) -> None:
    ways = (1, end - fork)
    code[fork].ways = ways if is_greedy else ways[::-1]
