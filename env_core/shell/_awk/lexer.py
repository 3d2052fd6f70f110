"""Tokens of an awk program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KEYWORDS: Final = frozenset(
    [
        "BEGIN",
        "END",
        "function",
        "func",
        "if",
        "else",
        "while",
        "for",
        "do",
        "break",
        "continue",
        "next",
        "exit",
        "return",
        "delete",
        "in",
        "getline",
        "print",
        "printf",
    ]
)
FUNCTIONS: Final = frozenset(
    [
        "length",
        "substr",
        "index",
        "split",
        "sub",
        "gsub",
        "match",
        "sprintf",
        "sin",
        "cos",
        "atan2",
        "exp",
        "log",
        "sqrt",
        "int",
        "rand",
        "srand",
        "tolower",
        "toupper",
        "system",
        "close",
        "fflush",
        "systime",
        "strftime",
        "gensub",
    ]
)
_OPERATORS: Final = (
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", ">>", "!~",
)  # fmt: skip
_SINGLE: Final = frozenset("{}()[];,+-*/%^!<>|?:~$=\n")
_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
}  # fmt: skip
_REGEX_BEFORE: Final = frozenset(("number", "string", "name", "builtin", "ere", ")", "]", "$", "++", "--"))


class AwkProblem(Exception):
    """The program is malformed, or fails while it runs; `kind` tells which for the messages of other awks."""

    def __init__(self, text: str, kind: str = "") -> None:
        """Record the text (mawk's, without its name)."""
        super().__init__(text)
        self.text = text
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is number, string, ere, name, call (a name before a parenthesis), builtin, a keyword or operator."""

    kind: str
    text: str
    line: int


def tokens(source: str) -> list[Token]:
    """Return a program's tokens, ending with one of kind "end".

    Raises:
        AwkProblem: for an unterminated string or expression, or a stray character.
    """
    return _Lexer(source).all()


class _Lexer:
    def __init__(self, source: str) -> None:
        self._source = source
        self._position = 0
        self._line = 1
        self._tokens: list[Token] = []

    def all(self) -> list[Token]:
        source = self._source
        while self._position < len(source):
            char = source[self._position]
            if char in " \t\r":
                self._position += 1
            elif char == "\\" and source[self._position + 1 : self._position + 2] == "\n":
                self._position += 2
                self._line += 1
            elif char == "#":
                end = source.find("\n", self._position)
                self._position = len(source) if end == -1 else end
            else:
                self._one(char)
        self._add("end", "")
        return self._tokens

    def _add(self, kind: str, text: str) -> None:
        self._tokens.append(Token(kind, text, self._line))

    def _one(self, char: str) -> None:
        source = self._source
        if char == '"':
            self._string()
        elif char == "/" and self._allows_regex():
            self._regex()
        elif char.isdecimal() or (
            char == "." and source[self._position + 1 : self._position + 2].isdecimal()
        ):
            self._number()
        elif char.isalpha() or char == "_":
            self._name()
        else:
            for operator in _OPERATORS:
                if source.startswith(operator, self._position):
                    break
            else:
                operator = char
                if char not in _SINGLE:
                    raise AwkProblem(f"line {self._line}: syntax error at or near {char}", "syntax")
            self._position += len(operator)
            self._add({"**": "^", "**=": "^="}.get(operator, operator), operator)
            self._line += operator == "\n"

    def _allows_regex(self) -> bool:
        return not self._tokens or self._tokens[-1].kind not in _REGEX_BEFORE

    def _string(self) -> None:
        source = self._source
        start = self._position
        position = start + 1
        out: list[str] = []
        while True:
            char = source[position : position + 1]
            if char in ("", "\n"):
                shown = source[start:position]
                raise AwkProblem(f"line {self._line}: runaway string constant {shown} ...", "string")
            position += 1
            if char == '"':
                break
            if char == "\\":
                following = source[position : position + 1]
                position += 1
                if following in "01234567" and following:
                    digits = following
                    while len(digits) < 3 and source[position : position + 1] in list("01234567"):
                        digits += source[position]
                        position += 1
                    char = chr(int(digits, 8) & 0xFF)
                elif following == "\n":
                    self._line += 1
                    char = ""
                else:
                    char = _ESCAPES.get(following, "\\" + following)
            out.append(char)
        self._position = position
        self._add("string", "".join(out))

    def _regex(self) -> None:
        source = self._source
        position = self._position + 1
        out: list[str] = []
        in_bracket = False
        while True:
            char = source[position : position + 1]
            if char in ("", "\n"):
                shown = source[self._position : position]
                raise AwkProblem(f"line {self._line}: runaway regular expression {shown} ...", "regex")
            position += 1
            if char == "/" and not in_bracket:
                break
            if char == "\\" and position < len(source):
                following = source[position]
                position += 1
                out.append(following if following == "/" else "\\" + following)
                continue
            if char == "[" and not in_bracket:
                in_bracket = True
                if source[position : position + 1] == "]":
                    char += "]"
                    position += 1
            elif char == "]":
                in_bracket = False
            out.append(char)
        self._position = position
        self._add("ere", "".join(out))

    def _number(self) -> None:
        source = self._source
        position = self._position
        while source[position : position + 1].isdecimal():
            position += 1
        if source[position : position + 1] == ".":
            position += 1
            while source[position : position + 1].isdecimal():
                position += 1
        if source[position : position + 1] in ("e", "E"):
            ahead = position + 1 + (source[position + 1 : position + 2] in ("+", "-"))
            if source[ahead : ahead + 1].isdecimal():
                position = ahead
                while source[position : position + 1].isdecimal():
                    position += 1
        self._add("number", source[self._position : position])
        self._position = position

    def _name(self) -> None:
        source = self._source
        position = self._position
        while source[position : position + 1].isalnum() or source[position : position + 1] == "_":
            position += 1
        name = source[self._position : position]
        self._position = position
        if name in KEYWORDS:
            self._add({"func": "function"}.get(name, name), name)
        elif name in FUNCTIONS:
            self._add("builtin", name)
        elif source[position : position + 1] == "(":
            self._add("call", name)
        else:
            self._add("name", name)
