"""Words of bash beyond POSIX: `${x^^}`, `${x/a/b}`, `${x:1:2}`, `${!x}`, `${a[1]}`.

Source: bash(1), "Parameter Expansion" and "Arrays".
"""

from __future__ import annotations

from typing import Final

from env_core.shell.lexer import Lexer
from env_core.shell.syntax import Parameter, Part, Word

_OPERATORS: Final = (
    ":-", ":=", ":?", ":+", "##", "%%", "^^", ",,", "//", "/#", "/%", "-", "=", "?", "+", "#", "%", "^", ",", "/", ":",
)  # fmt: skip
_REPLACING: Final = ("/", "//", "/#", "/%")
_SPECIAL: Final = frozenset("@*#?-$!0123456789")
_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")


class BashLexer(Lexer):
    """Reads tokens of bash."""

    def skip_blanks(self) -> None:
        """Skip blanks and comments."""
        self._skip_blanks()

    def follows(self, text: str) -> bool:
        """Tell whether `text` comes next, without any blank before it."""
        return self.source.startswith(text, self.position)

    def words_until(self, end: str) -> Word | None:
        """Read up to `end` as the text of an arithmetic expression, and take that too; None when there is no end."""
        source, depth, at = self.source, 0, self.position
        while at < len(source) and (depth or not source.startswith(end, at)):
            depth += (source[at] == "(") - (source[at] == ")")
            at += 1
        if at >= len(source):
            return None
        text = source[self.position : at]
        inner = type(self)(text, self.parse_substitution, self.line, self.depth + 1)
        inner.check_depth()
        self.line += text.count("\n")
        self.position = at + len(end)
        return Word(tuple(inner.double_quoted(terminator="")), text)

    def regular_expression(self) -> Word:
        """Read the word after `=~`, in which only blanks end it."""
        self._skip_blanks()
        return self.read_word(frozenset(" \t\n"))

    def _braced(self, *, quoted: bool) -> Part:
        source, start = self.source, self.position
        is_length = source[start : start + 1] == "#" and source[start + 1 : start + 2] not in ("}", "")
        is_indirect = source[start : start + 1] == "!" and source[start + 1 : start + 2] in _NAME
        self.position += is_length or is_indirect
        end = self.position
        if source[end : end + 1] in _SPECIAL and source[end : end + 1]:
            end += 1
        else:
            while end < len(source) and source[end] in _NAME:
                end += 1
        name = source[self.position : end]
        self.position = end
        index = self._index(quoted=quoted)
        if self.follows("}") and name:
            self.position += 1
            return Parameter(name, "", None, quoted, is_length, index, is_indirect)
        operator = next((each for each in _OPERATORS if self.follows(each)), "")
        if not name or is_length or not operator:
            self._skip_braces()
            return Parameter(name, "bad", None, quoted, raw=f"${{{source[start : self.position]}")
        self.position += len(operator)
        self.depth += 1
        self.check_depth()
        first, second = self._arguments(operator, quoted=quoted)
        self.depth -= 1
        return Parameter(name, operator, first, quoted, False, index, is_indirect, second)

    def _index(self, *, quoted: bool) -> Word | None:
        if not self.follows("["):
            return None
        self.position += 1
        word = self.read_word(frozenset("]"))
        if not self.follows("]"):
            raise self.problem("Missing ']'", quote="}")
        self.position += 1
        del quoted
        return word

    def _arguments(self, operator: str, *, quoted: bool) -> tuple[Word | None, Word | None]:
        if operator in _REPLACING:
            first = self.read_word(frozenset("/}"))
            if self.follows("/"):
                self.position += 1
                return first, self._braced_argument(quoted=False)
            return first, self._closed()
        if operator == ":":
            first = self.read_word(frozenset(":}"))
            if self.follows(":"):
                self.position += 1
                return first, self._braced_argument(quoted=False)
            self._closed()
            return first, None
        return self._braced_argument(quoted=quoted and operator[0] not in "#%^,"), None

    def _closed(self) -> Word:
        if not self.follows("}"):
            raise self.problem("Missing '}'", quote="}")
        self.position += 1
        return Word((), "")
