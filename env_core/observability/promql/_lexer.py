"""Words of PromQL, one at a time: what a character means depends on the brackets and braces that are open.

Source: github.com/prometheus/prometheus promql/parser/lex.go; texts recorded in tests/golden/promql.
"""

from __future__ import annotations

from typing import Final

from env_core.objects.goformat import quoted_rune, rune_text
from env_core.observability.promql._numbers import quote
from env_core.observability.promql._tokens import (
    DURATION,
    DURATION_WORDS,
    EOF,
    IDENTIFIER,
    METRIC_IDENTIFIER,
    NUMBER,
    STRING,
    WORDS,
    Token,
)

_SPACES: Final = " \t\n\r"
_DIGITS: Final = "0123456789"
_ALPHA: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_ALNUM: Final = _ALPHA | frozenset(_DIGITS)
_ESCAPE_LENGTHS: Final = {"x": (2, 16, 255), "u": (4, 16, 0x10FFFF), "U": (8, 16, 0x10FFFF)}


class LexError(Exception):
    """A character that cannot stand where it stands."""

    def __init__(self, position: int, problem: str) -> None:
        self.position = position
        self.problem = problem
        super().__init__(problem)


def _rune(char: str) -> str:
    if not char:
        return "'�'"  # what %q makes of -1, the end of the input
    return quoted_rune(char)


class Lexer:
    """Reads one query; every call of `next` returns one word more, EOF for ever at the end."""

    __slots__ = (
        "_depth", "_got_colon", "_got_duration", "_in_braces", "_in_brackets", "_in_duration", "_input", "_position",
        "_start",
    )  # fmt: skip

    def __init__(self, query: str) -> None:
        self._input = query
        self._position = self._start = 0
        self._depth = 0
        self._in_braces = False
        self._in_brackets = False
        self._in_duration = False
        self._got_colon = False
        self._got_duration = False

    def next(self) -> Token:
        """Return the next word.

        Raises:
            LexError: if there is none that PromQL knows.
        """
        while True:
            self._start = self._position
            char = self._peek()
            if char and char in _SPACES:
                self._position += 1
            elif char == "#" and not self._in_duration:
                while self._peek() not in ("", "\n", "\r"):
                    self._position += 1
            elif self._in_duration:
                return self._in_range()
            elif self._in_braces:
                return self._inside_braces()
            else:
                return self._statement()

    def _peek(self, ahead: int = 0) -> str:
        at = self._position + ahead
        return self._input[at : at + 1]

    def _token(self, kind: str, length: int = 0) -> Token:
        self._position += length
        return Token(kind, self._start, self._input[self._start : self._position])

    def _problem(self, problem: str, position: int | None = None) -> LexError:
        return LexError(self._start if position is None else position, problem)

    def _statement(self) -> Token:
        char, following = self._peek(), self._peek(1)
        if not char:
            if self._depth:
                raise self._problem("unclosed left parenthesis")
            if self._in_brackets:
                raise self._problem("unclosed left bracket")
            return Token(EOF, self._start, "")
        if char in ",*/%+-^@":
            return self._token(char, 1)
        if char == "=":
            if following == "~":
                raise self._problem("unexpected character after '=': '~'")
            return self._token("==", 2) if following == "=" else self._token("=", 1)
        if char == "!":
            if following != "=":
                raise self._problem(f"unexpected character after '!': {_rune(following)}")
            return self._token("!=", 2)
        if char in "<>":
            return self._token(char + following, 2) if following in ("=", "/") else self._token(char, 1)
        if char in _DIGITS or (char == "." and following and following in _DIGITS):
            return self._number_or_duration()
        if char in "\"'`":
            return self._string()
        if char in _ALPHA or char == ":":
            return self._bracketed_word() if self._in_brackets else self._word()
        if char in "()":
            return self._parenthesis(char)
        if char == "{":
            self._in_braces = True
            return self._token("{", 1)
        if char == "[":
            if self._in_brackets:
                raise self._problem(f"unexpected left bracket {_rune(char)}")
            self._in_brackets = self._in_duration = True
            self._got_colon = self._got_duration = False
            return self._token("[", 1)
        if char == "]":
            if not self._in_brackets:
                raise self._problem(f"unexpected right bracket {_rune(char)}")
            self._in_brackets = False
            return self._token("]", 1)
        raise self._problem(f"unexpected character: {_rune(char)}")

    def _parenthesis(self, char: str) -> Token:
        self._depth += 1 if char == "(" else -1
        if self._depth < 0:
            raise self._problem(f"unexpected right parenthesis {_rune(char)}", self._position + 1)
        return self._token(char, 1)

    def _bracketed_word(self) -> Token:
        char = self._peek()
        if char == ":":
            if self._got_colon:
                raise self._problem(f"unexpected colon {_rune(char)}")
            self._got_colon = True
            return self._token(":", 1)
        word = self._duration_word()
        if word is None:
            raise self._problem(f"unexpected character: {_rune(char)}, expected ':'")
        return word

    def _duration_word(self) -> Token | None:
        if self._peek().lower() not in ("s", "r", "m"):
            return None
        end = self._position
        while self._input[end : end + 1] in _ALPHA and end < len(self._input):
            end += 1
        word = self._input[self._position : end].lower()
        return self._token(word, end - self._position) if word in DURATION_WORDS else None

    def _in_range(self) -> Token:
        char, following = self._peek(), self._peek(1)
        if not char:
            raise self._problem("unexpected end of input in duration expression")
        if char == "]":
            self._in_brackets = self._in_duration = self._got_colon = False
            return self._token("]", 1)
        if char == ":":
            if not self._got_duration:
                raise self._problem(
                    "unexpected colon before duration in duration expression", self._position + 1
                )
            if self._got_colon:
                raise self._problem("unexpected repeated colon in duration expression", self._position + 1)
            self._got_colon = True
            return self._token(":", 1)
        if char in "()":
            return self._parenthesis(char)
        if char in "+-*/%^,":
            return self._token(char, 1)
        if char in _DIGITS or (char == "." and following and following in _DIGITS):
            # After a number the rest of the brackets is read as statements are.
            self._got_duration = True
            self._in_duration = False
            return self._number_or_duration()
        word = self._duration_word()
        if word is None:
            raise self._problem(f"unexpected character in duration expression: {_rune(char)}")
        return word

    def _inside_braces(self) -> Token:
        char, following = self._peek(), self._peek(1)
        if not char:
            raise self._problem("unexpected end of input inside braces")
        if char in _ALPHA:
            while self._peek() and self._peek() in _ALNUM:
                self._position += 1
            return self._token(IDENTIFIER)
        if char == ",":
            return self._token(",", 1)
        if char in "\"'`":
            return self._string()
        if char == "=":
            return self._token("=~", 2) if following == "~" else self._token("=", 1)
        if char == "!":
            if following not in ("~", "="):
                raise self._problem(f"unexpected character after '!' inside braces: {_rune(following)}")
            return self._token("!" + following, 2)
        if char == "{":
            raise self._problem(f"unexpected left brace {_rune(char)}")
        if char == "}":
            self._in_braces = False
            return self._token("}", 1)
        raise self._problem(f"unexpected character inside braces: {_rune(char)}")

    def _word(self) -> Token:
        while self._peek() and (self._peek() in _ALNUM or self._peek() == ":"):
            self._position += 1
        word = self._input[self._start : self._position]
        lower = word.lower()
        if lower in ("inf", "nan"):
            return self._token(NUMBER)
        if lower in WORDS and not (lower.startswith("fill") and not self._is_call()):
            return self._token(lower)
        return self._token(METRIC_IDENTIFIER if ":" in word else IDENTIFIER)

    def _is_call(self) -> bool:
        return self._input[self._position :].lstrip(_SPACES).startswith("(")

    # Numbers

    def _accept(self, valid: str) -> bool:
        char = self._peek()
        if char and char in valid:
            self._position += 1
            return True
        return False

    def _number_or_duration(self) -> Token:
        if self._scan_number():
            return self._token(NUMBER)
        if self._scan_rest_of_duration():
            return self._token(DURATION)
        raise self._problem(
            f"bad number or duration syntax: {quote(self._input[self._start : self._position])}"
        )

    def _scan_number(self) -> bool:
        digits = _DIGITS
        if self._accept("0") and self._accept("xX"):
            self._accept("_")
            digits = "0123456789abcdefABCDEF"
        self._accept(".")
        self._accept(digits)
        has_point = has_exponent = False
        while self._peek() and self._peek() in digits + "._eE":
            if self._peek() == "." and has_point:
                self._position += 1
                return False
            if self._peek() in "eE" and has_exponent:
                self._position += 1
                return False
            if self._accept("."):
                has_point = True
                if self._accept("_.") or len(digits) > 10:
                    return False
            elif self._accept("eE"):
                has_exponent = True
                self._accept("+-")
                if self._accept("._eE") or not self._peek():
                    return False
            elif self._accept("_"):
                if self._accept("._eE") or not self._peek():
                    return False
            else:
                while self._accept(digits):
                    pass
        if self._position == self._start:
            return False
        return not (self._peek() and self._peek() in _ALNUM)

    def _scan_rest_of_duration(self) -> bool:
        if not self._accept("smhdwy"):
            return False
        self._accept("s")
        while self._accept(_DIGITS):
            while self._accept(_DIGITS):
                pass
            if not self._accept("smhdw"):
                return False
            self._accept("s")
        if self._peek() and self._peek() in _ALNUM:
            self._position += 1  # The character that spoils it is shown too.
            return False
        return True

    # Strings

    def _string(self) -> Token:
        mark = self._peek()
        self._position += 1
        while True:
            char = self._peek()
            if mark == "`" and not char:
                raise self._problem("unterminated raw string")
            if mark != "`" and (not char or char == "\n"):
                raise self._problem("unterminated quoted string")
            self._position += 1
            if char == mark:
                return self._token(STRING)
            if char == "\\" and mark != "`":
                self._escape(mark)

    def _escape(self, mark: str) -> None:
        char = self._peek()
        self._position += 1
        if char and char in "abfnrtv\\" + mark:
            return
        if char and char in "01234567":
            length, base, most = 3, 8, 255
            self._position -= 1
        elif char in _ESCAPE_LENGTHS:
            length, base, most = _ESCAPE_LENGTHS[char]
        elif not char:
            raise self._problem("escape sequence not terminated")
        else:
            raise self._problem(f"unknown escape sequence {rune_text(char)}")
        code = 0
        for _ in range(length):
            digit = self._peek()
            value = "0123456789abcdef".find(digit.lower()) if digit else -1
            if not digit:
                raise self._problem("escape sequence not terminated")
            if not 0 <= value < base:
                raise self._problem(f"illegal character {rune_text(digit)} in escape sequence")
            code = code * base + value
            self._position += 1
        if code > most or 0xD800 <= code < 0xE000:
            raise self._problem("escape sequence is an invalid Unicode code point")
