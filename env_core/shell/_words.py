"""Words of a shell line: quotes, and what follows a dollar sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from env_core.shell.syntax import (
    Arithmetic,
    Parameter,
    Part,
    Sequence,
    Substitution,
    SyntaxProblem,
    Text,
    Word,
)

NESTING_MAX: Final = 40
"""How deep substitutions and compound commands may nest."""
_META: Final = frozenset(" \t\n;&|<>()")
_NAME_START: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME: Final = _NAME_START | frozenset("0123456789")
_SPECIAL: Final = frozenset("@*#?-$!0123456789")
_ANSI_ESCAPES: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip

Parse = Callable[[Any], Sequence]
"""Parses the body of a substitution from the reader that stands before it."""


class WordReader:
    """Reads words from `source`; `substitution` parses the body of `$(` and must stop at its `)`."""

    def __init__(self, source: str, substitution: Parse, line: int = 1, depth: int = 0) -> None:
        """Start at the beginning of `source`, whose first line has the number `line`."""
        self.source = source
        self.position = 0
        self.line = line
        self.depth = depth
        self.parse_substitution = substitution

    def problem(self, text: str, found: str = "", expected: str = "", quote: str = "") -> SyntaxProblem:
        """Return a syntax error at the present line; `quote` is what is not closed."""
        return SyntaxProblem(text, self.line, found, expected, quote=quote)

    def check_depth(self) -> None:
        """Refuse what is nested too deep.

        Raises:
            SyntaxProblem: beyond `NESTING_MAX` levels.
        """
        if self.depth > NESTING_MAX:
            raise self.problem("nesting too deep")

    def read_word(self, stops: frozenset[str] = _META) -> Word:
        """Read a word up to an unquoted character of `stops`."""
        source = self.source
        start = self.position
        parts: list[Part] = []
        plain: list[str] = []

        def flush() -> None:
            if plain:
                parts.append(Text("".join(plain), quoted=False))
                plain.clear()

        while self.position < len(source):
            char = source[self.position]
            if char in stops:
                break
            if char == "\\":
                following = source[self.position + 1 : self.position + 2]
                self.position += 2
                if following == "\n":
                    self.line += 1
                elif following:
                    flush()
                    parts.append(Text(following, quoted=True))
                else:
                    self.position = len(source)
                    plain.append("\\")
            elif char == "'":
                flush()
                self.position += 1
                parts.append(Text(self._until_quote(), quoted=True))
            elif char == '"':
                flush()
                self.position += 1
                inner = self.double_quoted(terminator='"')
                parts.extend(inner or [Text("", quoted=True)])
            elif char in "$`":
                part = self._dollar(quoted=False)
                if isinstance(part, str):
                    plain.append(part)
                else:
                    flush()
                    parts.append(part)
            else:
                end = self.position + 1
                while end < len(source) and source[end] not in stops and source[end] not in "\\'\"$`":
                    end += 1
                self.line += source.count("\n", self.position, end)
                plain.append(source[self.position : end])
                self.position = end
        flush()
        return Word(tuple(parts), source[start : self.position])

    def _until_quote(self) -> str:
        end = self.source.find("'", self.position)
        if end == -1:
            raise self.problem("Unterminated quoted string", quote="'")
        text = self.source[self.position : end]
        self.line += text.count("\n")
        self.position = end + 1
        return text

    def double_quoted(self, terminator: str) -> list[Part]:
        """Read up to `terminator` ("" = the end of the source); everything in the result is quoted."""
        source = self.source
        parts: list[Part] = []
        plain: list[str] = []
        escapable = '$`\\"\n' if terminator else "$`\\\n"
        while True:
            if self.position >= len(source):
                if terminator:
                    raise self.problem("Unterminated quoted string", quote='"')
                break
            char = source[self.position]
            if char == terminator:
                self.position += 1
                break
            if char == "\\" and source[self.position + 1 : self.position + 2] in list(escapable):
                following = source[self.position + 1]
                self.position += 2
                if following == "\n":
                    self.line += 1
                else:
                    plain.append(following)
            elif char in "$`":
                part = self._dollar(quoted=True)
                if isinstance(part, str):
                    plain.append(part)
                else:
                    if plain:
                        parts.append(Text("".join(plain), quoted=True))
                        plain.clear()
                    parts.append(part)
            else:
                self.line += char == "\n"
                plain.append(char)
                self.position += 1
        if plain:
            parts.append(Text("".join(plain), quoted=True))
        return parts

    def _dollar(self, *, quoted: bool) -> Part | str:
        """Read an expansion; a lone `$` comes back as text."""
        source = self.source
        if source[self.position] == "`":
            return self._backquoted(quoted=quoted)
        following = source[self.position + 1 : self.position + 2]
        if following == "(":
            if source.startswith("((", self.position + 1):
                arithmetic = self._arithmetic(quoted=quoted)
                if arithmetic is not None:
                    return arithmetic
            self.position += 2
            return Substitution(self._substitution(), quoted)
        if following == "{":
            self.position += 2
            return self._braced(quoted=quoted)
        if following == "'" and not quoted:
            self.position += 2
            return Text(self._ansi_quoted(), quoted=True)
        if following in _SPECIAL and following:
            self.position += 2
            return Parameter(following, "", None, quoted)
        end = self.position + 1
        if following in _NAME_START and following:
            while end < len(source) and source[end] in _NAME:
                end += 1
            name = source[self.position + 1 : end]
            self.position = end
            return Parameter(name, "", None, quoted)
        self.position += 1
        return "$"

    def _substitution(self) -> Sequence:
        self.depth += 1
        self.check_depth()
        body = self.parse_substitution(self)
        self.depth -= 1
        return body

    def _backquoted(self, *, quoted: bool) -> Part:
        source = self.source
        self.position += 1
        inner: list[str] = []
        while True:
            if self.position >= len(source):
                raise self.problem("EOF in backquote substitution", quote="`")
            char = source[self.position]
            if char == "`":
                self.position += 1
                break
            following = source[self.position + 1 : self.position + 2]
            if char == "\\" and following and following in ('$`\\"' if quoted else "$`\\"):
                char = following
                self.position += 1
            self.line += char == "\n"
            inner.append(char)
            self.position += 1
        lexer = type(self)("".join(inner), self.parse_substitution, self.line, self.depth + 1)
        lexer.check_depth()
        lexer.source += "\n)"
        return Substitution(self.parse_substitution(lexer), quoted)

    def _arithmetic(self, *, quoted: bool) -> Arithmetic | None:
        """Read `$((…))`, or return None when it turns out to be a subshell in a substitution."""
        source = self.source
        depth, end = 0, self.position + 3
        while end < len(source):
            char = source[end]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    break
                depth -= 1
            elif char == "\\":
                end += 1
            end += 1
        if not source.startswith("))", end):
            return None
        text = source[self.position + 3 : end]
        inner = type(self)(text, self.parse_substitution, self.line, self.depth + 1)
        inner.check_depth()
        parts = inner.double_quoted(terminator="")
        self.line += text.count("\n")
        self.position = end + 2
        return Arithmetic(Word(tuple(parts), text), quoted)

    def _braced(self, *, quoted: bool) -> Part:
        """Read the rest of `${…}`."""
        source, start = self.source, self.position
        is_length = source[start : start + 1] == "#" and source[start + 1 : start + 2] not in ("}", "")
        if is_length:
            self.position += 1
        end = self.position
        if source[end : end + 1] in _SPECIAL and source[end : end + 1]:
            end += 1
            while source[end - 1].isdecimal() and source[end : end + 1].isdecimal():
                end += 1
        else:
            while end < len(source) and source[end] in _NAME:
                end += 1
        name = source[self.position : end]
        self.position = end
        if source[end : end + 1] == "}" and name:
            self.position += 1
            return Parameter(name, "", None, quoted, is_length)
        operator = self._parameter_operator()
        if not name or is_length or not operator:
            self._skip_braces()
            return Parameter(name, "bad", None, quoted, raw=f"${{{source[start : self.position]}")
        self.depth += 1
        self.check_depth()
        argument = self._braced_argument(quoted=quoted and operator[0] not in "#%")
        self.depth -= 1
        return Parameter(name, operator, argument, quoted)

    def _parameter_operator(self) -> str:
        for operator in (":-", ":=", ":?", ":+", "##", "%%", "-", "=", "?", "+", "#", "%"):
            if self.source.startswith(operator, self.position):
                self.position += len(operator)
                return operator
        return ""

    def _braced_argument(self, *, quoted: bool) -> Word:
        start = self.position
        if not quoted:
            word = self.read_word(frozenset("}"))
        else:
            word = Word(tuple(self._quoted_argument()), "")
        if self.position >= len(self.source):
            raise self.problem("Missing '}'", quote="}")
        raw = self.source[start : self.position]
        self.position += 1
        return Word(word.parts, raw)

    def _quoted_argument(self) -> list[Part]:
        """Read the argument of an expansion between double quotes, up to its brace."""
        parts: list[Part] = []
        source = self.source
        while self.position < len(source) and source[self.position] != "}":
            char = source[self.position]
            if char == '"':
                self.position += 1
                parts.extend(self.double_quoted(terminator='"'))
            elif char in "$`":
                part = self._dollar(quoted=True)
                parts.append(Text(part, quoted=True) if isinstance(part, str) else part)
            else:
                following = source[self.position + 1 : self.position + 2]
                if char == "\\" and following and following in '$`"\\}':
                    char = following
                    self.position += 1
                self.line += char == "\n"
                self.position += 1
                parts.append(Text(char, quoted=True))
        return parts

    def _skip_braces(self) -> None:
        end = self.source.find("}", self.position)
        if end == -1:
            raise self.problem("Missing '}'", quote="}")
        self.position = end + 1

    def _ansi_quoted(self) -> str:
        source = self.source
        out: list[str] = []
        while True:
            if self.position >= len(source):
                raise self.problem("Unterminated quoted string", quote="'")
            char = source[self.position]
            self.position += 1
            if char == "'":
                return "".join(out)
            following = source[self.position : self.position + 1]
            if char == "\\" and following in _ANSI_ESCAPES and following:
                char = _ANSI_ESCAPES[following]
                self.position += 1
            self.line += char == "\n"
            out.append(char)
