"""Go's regular expressions (RE2): its syntax, its errors, and time linear in the text whatever the expression.

Source: https://pkg.go.dev/regexp/syntax. Python's own engine is not used: it backtracks, and an expression must not be
able to stall the simulator. Programs are bounded at 20,000 instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.objects._re2_nodes import (
    Alternation,
    Assertion,
    CharClass,
    Concatenation,
    Group,
    Node,
    Repetition,
)
from env_core.objects._re2_parser import Re2Error, parse_regex

__all__ = ["Re2Error", "Regexp", "compiled"]

_CHAR, _SPLIT, _JUMP, _SAVE, _ASSERT, _MATCH = range(6)
_SIZE_MAX: Final = 20_000
_LITERALS: Final = re.compile(r"[A-Za-z0-9_ /:@%,;~\"'<>=!#&-]*(?:\|[A-Za-z0-9_ /:@%,;~\"'<>=!#&-]*)*\Z")


class _Instruction(NamedTuple):
    op: int
    first: int = 0
    second: int = 0
    chars: CharClass | None = None
    kind: str = ""


class Regexp:
    """A compiled expression."""

    __slots__ = ("_cache", "_groups", "_literals", "_names", "_program", "pattern")

    def __init__(self, pattern: str, *, dot_all: bool) -> None:
        self.pattern = pattern
        self._literals = frozenset(pattern.split("|")) if _LITERALS.match(pattern) else None
        tree, self._names = parse_regex(pattern, dot_all=dot_all)
        self._groups = len(self._names)
        self._program: list[_Instruction] = []
        self._emit(_SAVE, 0)
        self._compile(tree)
        self._emit(_SAVE, 1)
        self._emit(_MATCH)
        self._cache: dict[str, tuple[int, ...] | None] = {}

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if self._literals is not None:
            return text in self._literals
        return self._found(text) is not None

    def expand(self, template: str, text: str) -> str | None:
        """Return `template` with $1, ${1}, $name filled from a match of the whole text; None without a match."""
        places = self._found(text)
        return None if places is None else self.filled(template, text, places)

    def search(self, text: str) -> bool:
        """Return whether some part of the text matches."""
        return self._run(text, 0, is_whole=False) is not None

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Return where the first match at or after `start` begins and ends."""
        found = self._run(text, start, is_whole=False)
        return None if found is None else (found[0], found[1])

    def find_all(self, text: str, count_max: int = -1) -> list[str]:
        """Return the matches that do not overlap, at most `count_max` of them unless that is negative."""
        found: list[str] = []
        position, previous_end = 0, -1
        while position <= len(text) and (count_max < 0 or len(found) < count_max):
            match = self.find(text, position)
            if match is None:
                break
            begin, end = match
            if end > begin or begin != previous_end:
                found.append(text[begin:end])
            previous_end = end
            position = end if end > position else position + 1
        return found

    def replace_all(self, text: str, template: str) -> str:
        """Return the text with each match replaced by `template`, filled as `expand` does."""
        out: list[str] = []
        start = kept = 0
        while start <= len(text):
            found = self._run(text, start, is_whole=False)
            if found is None:
                break
            begin, end = found[0], found[1]
            if end > begin or begin >= kept:
                out += (text[kept:begin], self.filled(template, text, found))
                kept = end
            start = end if end > begin else begin + 1
        return "".join(out) + text[kept:]

    def filled(self, template: str, text: str, places: tuple[int, ...]) -> str:
        """Return `template` with its references replaced by the groups of a match."""

        def group(name: str) -> str:
            if name.isdigit():
                number = int(name)
            else:
                number = self._names.index(name) if name in self._names else -1
            if not 0 <= number < self._groups or places[2 * number] < 0:
                return ""
            return text[places[2 * number] : places[2 * number + 1]]

        def replaced(found: re.Match[str]) -> str:
            if found["dollar"]:
                return "$"
            return group(found["braced"] or found["plain"])

        return _REFERENCE.sub(replaced, template)

    def _found(self, text: str) -> tuple[int, ...] | None:
        if text not in self._cache:
            if len(self._cache) > 10_000:
                self._cache.clear()
            self._cache[text] = self._run(text, 0, is_whole=True)
        return self._cache[text]

    def _emit(self, op: int, first: int = 0, second: int = 0, **more: object) -> int:
        if len(self._program) >= _SIZE_MAX:
            raise Re2Error("expression too large")
        self._program.append(_Instruction(op, first, second, **more))  # type: ignore[arg-type]
        return len(self._program) - 1

    def _compile(self, node: Node) -> None:
        if isinstance(node, CharClass):
            self._emit(_CHAR, chars=node)
        elif isinstance(node, Assertion):
            self._emit(_ASSERT, kind=node.kind)
        elif isinstance(node, Group):
            if node.number:
                self._emit(_SAVE, 2 * node.number)
            self._compile(node.inner)
            if node.number:
                self._emit(_SAVE, 2 * node.number + 1)
        elif isinstance(node, Concatenation):
            for part in node.parts:
                self._compile(part)
        elif isinstance(node, Alternation):
            self._compile_alternation(node.parts)
        else:
            self._compile_repetition(node)

    def _compile_alternation(self, parts: Sequence[Node]) -> None:
        jumps = []
        for part in parts[:-1]:
            split = self._emit(_SPLIT)
            self._compile(part)
            jumps.append(self._emit(_JUMP))
            self._program[split] = _Instruction(_SPLIT, split + 1, len(self._program))
        self._compile(parts[-1])
        for jump in jumps:
            self._program[jump] = _Instruction(_JUMP, len(self._program))

    def _compile_repetition(self, node: Repetition) -> None:
        for _ in range(node.least):
            self._compile(node.inner)
        if node.most is None:
            split = self._emit(_SPLIT)
            self._compile(node.inner)
            self._emit(_JUMP, split)
            self._join(split, is_lazy=node.is_lazy)
            return
        splits = []
        for _ in range(node.most - node.least):
            splits.append(self._emit(_SPLIT))
            self._compile(node.inner)
        for split in splits:
            self._join(split, is_lazy=node.is_lazy)

    def _join(self, split: int, *, is_lazy: bool) -> None:
        inside, after = split + 1, len(self._program)
        self._program[split] = _Instruction(_SPLIT, *((after, inside) if is_lazy else (inside, after)))

    def _run(self, text: str, start: int, *, is_whole: bool) -> tuple[int, ...] | None:
        """Return the places of the groups: of the whole text from `start`, or of the leftmost match in it."""
        program = self._program
        best: tuple[int, ...] | None = None
        nowhere = (-1,) * (2 * self._groups)
        threads: list[tuple[int, tuple[int, ...]]] = []
        seen: set[int] = set()
        for position in range(start, len(text) + 1):
            if best is None and (position == start or not is_whole):
                self._follow(0, text, position, nowhere, threads, seen)
            following: list[tuple[int, tuple[int, ...]]] = []
            seen = set()
            for counter, saved in threads:
                chars = program[counter].chars
                if chars is None:
                    if not is_whole or position == len(text):
                        best = saved
                        break  # Threads behind it are less preferred.
                elif position < len(text) and chars.holds(text[position]):
                    self._follow(counter + 1, text, position + 1, saved, following, seen)
            threads = following
            if not threads and (best is not None or is_whole):
                break
        return best

    def _follow(
        self,
        start: int,
        text: str,
        position: int,
        saved: tuple[int, ...],
        out: list[tuple[int, tuple[int, ...]]],
        seen: set[int],
    ) -> None:
        stack = [(start, saved)]
        while stack:
            counter, saved = stack.pop()
            if counter in seen:
                continue
            seen.add(counter)
            op, first, second, _, kind = self._program[counter]
            if op == _JUMP:
                stack.append((first, saved))
            elif op == _SPLIT:
                stack += ((second, saved), (first, saved))
            elif op == _SAVE:
                stack.append((counter + 1, (*saved[:first], position, *saved[first + 1 :])))
            elif op == _ASSERT:
                if _holds(kind, text, position):
                    stack.append((counter + 1, saved))
            else:
                out.append((counter, saved))


_REFERENCE: Final = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<braced>\w+)\}|(?P<plain>\w+))")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _holds(kind: str, text: str, position: int) -> bool:
    if kind == "^":
        return position == 0
    if kind == "$":
        return position == len(text)
    if kind == "(?m)^":
        return position == 0 or text[position - 1] == "\n"
    if kind == "(?m)$":
        return position == len(text) or text[position] == "\n"
    before = position > 0 and _is_word(text[position - 1])
    after = position < len(text) and _is_word(text[position])
    return (before != after) == (kind == r"\b")


@lru_cache(maxsize=1024)
def compiled(pattern: str, *, dot_all: bool = False) -> Regexp:
    """Return a compiled expression; with `dot_all`, a dot matches line ends too.

    Raises:
        Re2Error: with Go's text, for example "error parsing regexp: missing closing ]: `[`".
    """
    return Regexp(pattern, dot_all=dot_all)
