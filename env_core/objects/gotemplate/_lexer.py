"""The words of a Go template: text, and inside of `{{ }}` identifiers, literals and punctuation.

Source: Go text/template/parse (its lexer), for the words and their errors.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from env_core.objects.goformat import rune_text
from env_core.objects.problems import quoted

TEXT: Final = "text"
LEFT: Final = "left"
RIGHT: Final = "right"
SPACE: Final = "space"
IDENTIFIER: Final = "identifier"
KEYWORD: Final = "keyword"
FIELD: Final = "field"
VARIABLE: Final = "variable"
DOT: Final = "dot"
NIL: Final = "nil"
BOOL: Final = "bool"
NUMBER: Final = "number"
CHARACTER: Final = "character"
STRING: Final = "string"
RAW_STRING: Final = "raw string"
ASSIGN: Final = "assign"
DECLARE: Final = "declare"
PIPE: Final = "pipe"
OPEN: Final = "open"
CLOSE: Final = "close"
COMMA: Final = "comma"
PUNCTUATION: Final = "punctuation"
ERROR: Final = "error"
END: Final = "end of input"

_KEYWORDS: Final = frozenset(
    {"block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"}
)
_BLANKS: Final = " \t\r\n"
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_CHARACTER: Final = re.compile(r"'(?:[^'\\\n]|\\[^\n])*'")


class Token(NamedTuple):
    """One word; `at` is where it starts and `line` that place's line, from 1."""

    kind: str
    text: str
    at: int
    line: int

    def __str__(self) -> str:
        """Return the word as parse errors show it."""
        if self.kind == END:
            return "EOF"
        if self.kind == ERROR:
            return self.text
        if self.kind in (KEYWORD, NIL, DOT):
            return f"<{self.text}>"
        if len(self.text.encode()) > 10:
            return quoted(self.text[:10]) + "..."
        return quoted(self.text)


def _is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def tokens_of(template: str) -> list[Token]:
    """Return the words of a template; the last one is the end of input or an error."""
    return _Lexer(template).run()


class _Lexer:
    __slots__ = ("_at", "_depth", "_line", "_source", "_tokens")

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._line = 1
        self._depth = 0
        self._tokens: list[Token] = []

    def run(self) -> list[Token]:
        while self._text():
            pass
        return self._tokens

    def _emit(self, kind: str, end: int) -> None:
        text = self._source[self._at : end]
        self._tokens.append(Token(kind, text, self._at, self._line))
        self._line += text.count("\n")
        self._at = end

    def _skip(self, end: int) -> None:
        self._line += self._source.count("\n", self._at, end)
        self._at = end

    def _fail(self, message: str) -> bool:
        self._tokens.append(Token(ERROR, message, self._at, self._line))
        return False

    def _text(self) -> bool:
        """Read text and the action behind it; say whether there is more."""
        source = self._source
        brace = source.find("{{", self._at)
        end = brace if brace >= 0 else len(source)
        trims = (
            brace >= 0 and source[brace + 2 : brace + 3] == "-" and source[brace + 3 : brace + 4] in _BLANKS
        )
        trims = trims and brace + 3 < len(source)
        kept = len(source[self._at : end].rstrip(_BLANKS)) + self._at if trims else end
        if kept > self._at:
            self._emit(TEXT, kept)
        self._skip(end)
        if brace < 0:
            self._emit(END, end)
            return False
        inner = brace + (4 if trims else 2)
        if source.startswith("/*", inner):
            return self._comment(inner)
        self._emit(LEFT, brace + 2)
        self._skip(inner)
        self._depth = 0
        return self._action()

    def _comment(self, start: int) -> bool:
        self._skip(start)
        close = self._source.find("*/", start + 2)
        if close < 0:
            return self._fail("unclosed comment")
        end, trims = self._right_at(close + 2)
        if end < 0:
            return self._fail("comment ends before closing delimiter")
        self._skip(end)
        if trims:
            self._trim_left()
        return True

    def _right_at(self, at: int) -> tuple[int, bool]:
        """Return where the closing delimiter at `at` ends (-1: there is none), and if it trims."""
        source = self._source
        if source[at : at + 1] and source[at] in _BLANKS and source.startswith("-}}", at + 1):
            return at + 4, True
        return (at + 2, False) if source.startswith("}}", at) else (-1, False)

    def _trim_left(self) -> None:
        end = self._at
        while end < len(self._source) and self._source[end] in _BLANKS:
            end += 1
        self._skip(end)

    def _action(self) -> bool:
        """Read the words up to the closing delimiter; say whether there is more."""
        while True:
            end, trims = self._right_at(self._at)
            if end >= 0:
                if self._depth:
                    return self._fail("unclosed left paren")
                if trims:
                    self._skip(self._at + 2)
                self._emit(RIGHT, end)
                if trims:
                    self._trim_left()
                return True
            if not self._word():
                return False

    def _word(self) -> bool:
        source, at = self._source, self._at
        char = source[at : at + 1]
        if not char:
            return self._fail("unclosed action")
        if char in _BLANKS:
            end = at
            while end < len(source) and source[end] in _BLANKS:
                end += 1
            if source.startswith("-}}", end):
                # The last blank belongs to the trimming delimiter.
                end -= 1
            self._emit(SPACE, end)
        elif char == "=":
            self._emit(ASSIGN, at + 1)
        elif char == ":":
            if not source.startswith(":=", at):
                return self._fail("expected :=")
            self._emit(DECLARE, at + 2)
        elif char in "|,":
            self._emit(PIPE if char == "|" else COMMA, at + 1)
        elif char == "(":
            self._depth += 1
            self._emit(OPEN, at + 1)
        elif char == ")":
            self._depth -= 1
            if self._depth < 0:
                return self._fail("unexpected right paren")
            self._emit(CLOSE, at + 1)
        elif char in "\"'`":
            return self._quoted(char)
        elif char == "$" or (char == "." and not source[at + 1 : at + 2].isdecimal()):
            return self._name(char)
        elif char in "+-." or char.isdecimal():
            return self._number()
        elif _is_alphanumeric(char):
            return self._identifier()
        elif char.isascii() and char.isprintable():
            self._emit(PUNCTUATION, at + 1)
        else:
            return self._fail(f"unrecognized character in action: {rune_text(char)}")
        return True

    def _quoted(self, quote: str) -> bool:
        if quote == "`":
            end = self._source.find("`", self._at + 1)
            if end < 0:
                return self._fail("unterminated raw quoted string")
            self._emit(RAW_STRING, end + 1)
            return True
        found = (_STRING if quote == '"' else _CHARACTER).match(self._source, self._at)
        if found is None:
            return self._fail(
                "unterminated quoted string" if quote == '"' else "unterminated character constant"
            )
        self._emit(STRING if quote == '"' else CHARACTER, found.end())
        return True

    def _ends_word(self, at: int) -> bool:
        following = self._source[at : at + 1]
        return not following or following in _BLANKS + ".,|:)(" or self._source.startswith("}}", at)

    def _run_end(self, at: int) -> int:
        while at < len(self._source) and _is_alphanumeric(self._source[at]):
            at += 1
        return at

    def _name(self, lead: str) -> bool:
        end = self._run_end(self._at + 1)
        if not self._ends_word(end):
            return self._fail(f"bad character {rune_text(self._source[end])}")
        if end == self._at + 1 and lead == ".":
            self._emit(DOT, end)
        else:
            self._emit(VARIABLE if lead == "$" else FIELD, end)
        return True

    def _identifier(self) -> bool:
        end = self._run_end(self._at)
        if not self._ends_word(end):
            return self._fail(f"bad character {rune_text(self._source[end])}")
        word = self._source[self._at : end]
        if word in _KEYWORDS:
            self._emit(KEYWORD, end)
        elif word in ("true", "false"):
            self._emit(BOOL, end)
        else:
            self._emit(NIL if word == "nil" else IDENTIFIER, end)
        return True

    def _number(self) -> bool:
        found = _NUMBER.match(self._source, self._at)
        assert found is not None, "the pattern matches the empty text"
        end = found.end()
        following = self._source[end : end + 1]
        if following and _is_alphanumeric(following):
            return self._fail(f"bad number syntax: {quoted(self._source[self._at : end + 1])}")
        self._emit(NUMBER, end)
        return True
