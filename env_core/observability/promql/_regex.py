"""Regular expressions as Go's regexp has them (RE2): its syntax, its errors, and time linear in the text.

Source: https://pkg.go.dev/regexp/syntax. Python's own engine is not used: it backtracks, and a query must not be able to
stall the simulator. Programs are bounded at 20,000 instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.observability.promql._regex_parser import (
    Alternation,
    Assertion,
    CharClass,
    Concatenation,
    Group,
    Node,
    RegexProblem,
    Repetition,
    parse_regex,
)

__all__ = ["Regex", "RegexProblem", "compile_regex"]

_CHAR, _SPLIT, _JUMP, _SAVE, _ASSERT, _MATCH = range(6)
_SIZE_MAX: Final = 20_000
_LITERALS: Final = re.compile(r"[A-Za-z0-9_ /:@%,;~\"'<>=!#&-]*(?:\|[A-Za-z0-9_ /:@%,;~\"'<>=!#&-]*)*\Z")


class _Instruction(NamedTuple):
    op: int
    first: int = 0
    second: int = 0
    chars: CharClass | None = None
    kind: str = ""


class Regex:
    """A compiled expression, matched against whole texts (with `.` matching newlines)."""

    __slots__ = ("_cache", "_groups", "_literals", "_names", "_program")

    def __init__(self, pattern: str) -> None:
        self._literals = frozenset(pattern.split("|")) if _LITERALS.match(pattern) else None
        tree, self._names = parse_regex(pattern)
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

    def prefix(self, text: str, start: int) -> tuple[int, ...] | None:
        """Return the places of a match that begins at `start`, wherever it ends."""
        return self._run(text, start, is_whole=False)

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
            self._cache[text] = self._run(text)
        return self._cache[text]

    def _emit(self, op: int, first: int = 0, second: int = 0, **more: object) -> int:
        if len(self._program) >= _SIZE_MAX:
            raise RegexProblem("expression too large")
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

    def _run(self, text: str, start: int = 0, *, is_whole: bool = True) -> tuple[int, ...] | None:
        program = self._program
        best: tuple[int, ...] | None = None
        threads: list[tuple[int, tuple[int, ...]]] = []
        self._follow(0, text, start, (-1,) * (2 * self._groups), threads, set())
        for position in range(start, len(text) + 1):
            following: list[tuple[int, tuple[int, ...]]] = []
            seen: set[int] = set()
            for counter, saved in threads:
                chars = program[counter].chars
                if chars is None:
                    if not is_whole or position == len(text):
                        best = saved
                        break  # Threads behind it are less preferred.
                elif position < len(text) and chars.holds(text[position]):
                    self._follow(counter + 1, text, position + 1, saved, following, seen)
            threads = following
            if not threads:
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


def search_all(pattern: str, text: str, replacement: str | None) -> str:
    """Return the text with every match replaced (leftmost, then as its operators prefer), or the first match.

    Raises:
        RegexProblem: if the pattern is none.
    """
    regex = compile_regex(pattern)
    out: list[str] = []
    position = kept = 0
    while position <= len(text):
        found = regex.prefix(text, position)
        if found is None or (found[1] == found[0] == kept and kept):
            position += 1
            continue
        if replacement is None:
            return text[found[0] : found[1]] or "matched"
        out += (text[kept : found[0]], regex.filled(replacement, text, found))
        kept = found[1]
        position = found[1] if found[1] > found[0] else position + 1
    return "".join(out) + text[kept:] if replacement is not None else ""


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Regex:
    """Compile an expression.

    Raises:
        RegexProblem: with Go's text, for example "missing closing ]: `[`".
    """
    return Regex(pattern)
