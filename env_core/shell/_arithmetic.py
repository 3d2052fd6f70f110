"""Integer arithmetic of `$((…))`."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from typing import Final

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|"
    r"(<<=|>>=|&&|\|\||<<|>>|<=|>=|==|!=|\+=|-=|\*=|/=|%=|&=|\^=|\|=|[-+*/%<>=!~&^|?:()]))",
    re.ASCII,
)
_EXTENDED_TOKEN: Final = re.compile(_TOKEN.pattern.replace("(<<=", r"(\+\+|--|\*\*|,|<<=", 1), re.ASCII)
"""Tokens of bash and ash: `++`, `--`, `**` and the comma, too."""
_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<=", ">=", "<", ">"),
    ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_ASSIGNMENTS: Final = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="])
_DEPTH_MAX: Final = 30


class ArithmeticProblem(Exception):
    """The expression is malformed or divides by zero; the text is dash's.

    `expression` and `rest` (what was left at the place of the error, or the last token) are for shells that word it
    another way; `reason` is dash's word for it.
    """

    def __init__(self, text: str, reason: str = "", expression: str = "", rest: str = "") -> None:
        """Record what is wrong and where."""
        super().__init__(text)
        self.reason = reason
        self.expression = expression
        self.rest = rest


def evaluate(text: str, variables: MutableMapping[str, str], *, is_extended: bool = False) -> int:
    """Return the value of an expression; assignments go to `variables`.

    `is_extended` allows `++`, `--`, `**` and the comma, as bash and ash do.

    Raises:
        ArithmeticProblem: with dash's text, for a bad expression or a division by zero.
    """
    return _Evaluator(text, variables, is_extended=is_extended).result()


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


class _Evaluator:
    def __init__(self, text: str, variables: MutableMapping[str, str], *, is_extended: bool) -> None:
        token = _EXTENDED_TOKEN if is_extended else _TOKEN
        self._text = text
        self._variables = variables
        self._tokens: list[str] = []
        self._starts: list[int] = []
        self._index = 0
        position = 0
        while text[position:].strip():
            found = token.match(text, position)
            if found is None:
                raise self._failure("expecting EOF")
            self._tokens.append(found.group().strip())
            self._starts.append(found.end() - len(self._tokens[-1]))
            position = found.end()
        self._depth = 0

    def _failure(self, reason: str) -> ArithmeticProblem:
        at = min(self._index, len(self._starts) - 1)
        rest = self._text[self._starts[at] :] if at >= 0 else self._text
        return ArithmeticProblem(f'arithmetic expression: {reason}: "{self._text}"', reason, self._text, rest)

    def result(self) -> int:
        if not self._tokens:
            return 0
        value = self._assignment(live=True)
        while self._peek() == ",":
            self._index += 1
            value = self._assignment(live=True)
        if self._index < len(self._tokens):
            raise self._failure("expecting EOF")
        return value

    def _peek(self) -> str:
        return self._tokens[self._index] if self._index < len(self._tokens) else ""

    def _assignment(self, *, live: bool) -> int:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._failure("nesting too deep")
        name = self._peek()
        following = self._tokens[self._index + 1] if self._index + 1 < len(self._tokens) else ""
        if (name[:1].isalpha() or name[:1] == "_") and following in _ASSIGNMENTS:
            self._index += 2
            value = self._assignment(live=live)
            if following != "=":
                value = self._apply(following[:-1], self._variable(name), value, live=live)
            if live:
                self._variables[name] = str(value)
        else:
            value = self._conditional(live=live)
        self._depth -= 1
        return value

    def _conditional(self, *, live: bool) -> int:
        condition = self._binary(0, live=live)
        if self._peek() != "?":
            return condition
        self._index += 1
        first = self._assignment(live=live and condition != 0)
        if self._peek() != ":":
            raise self._failure("expecting ':'")
        self._index += 1
        second = self._assignment(live=live and condition == 0)
        return first if condition else second

    def _binary(self, level: int, *, live: bool) -> int:
        if level == len(_LEVELS):
            return self._unary(live=live)
        value = self._binary(level + 1, live=live)
        while self._peek() in _LEVELS[level]:
            operator = self._tokens[self._index]
            self._index += 1
            is_live = live and not (operator == "&&" and not value) and not (operator == "||" and value)
            start = self._index
            right = self._binary(level + 1, live=is_live)
            if operator in ("/", "%") and right == 0 and is_live:
                self._index = start
            value = self._apply(operator, value, right, live=is_live)
        return value

    def _unary(self, *, live: bool) -> int:
        signs: list[str] = []
        while self._peek() in ("+", "-", "!", "~") and self._peek():
            signs.append(self._peek())
            self._index += 1
        if self._peek() in ("++", "--"):
            value = self._stepped(live=live)
        else:
            value = self._power(live=live)
        for sign in reversed(signs):
            value = {"+": value, "-": -value, "!": int(not value), "~": ~value}[sign]
        return _wrapped(value)

    def _stepped(self, *, live: bool) -> int:
        """Read `++name` or `--name`."""
        step = 1 if self._peek() == "++" else -1
        self._index += 1
        name = self._peek()
        if not (name[:1].isalpha() or name[:1] == "_"):
            raise self._failure("expecting primary")
        self._index += 1
        value = _wrapped(self._variable(name) + step)
        if live:
            self._variables[name] = str(value)
        return value

    def _power(self, *, live: bool) -> int:
        name = self._peek()
        value = self._primary(live=live)
        if self._peek() in ("++", "--") and (name[:1].isalpha() or name[:1] == "_"):
            step = 1 if self._peek() == "++" else -1
            self._index += 1
            if live:
                self._variables[name] = str(_wrapped(value + step))
        if self._peek() == "**":
            self._index += 1
            exponent = self._unary(live=live)
            if exponent < 0:
                raise self._failure("exponent less than 0")
            value = pow(value, exponent, 2**64)
        return _wrapped(value)

    def _primary(self, *, live: bool) -> int:
        token = self._peek()
        self._index += 1
        if token == "(":
            value = self._assignment(live=live)
            if self._peek() != ")":
                raise self._failure("expecting ')'")
            self._index += 1
            return value
        if token[:1].isdecimal():
            if not _is_integer(token):
                raise self._failure("expecting EOF")
            return _integer(token)
        if token[:1].isalpha() or token[:1] == "_":
            return self._variable(token)
        self._index -= 1
        raise self._failure("expecting primary")

    def _variable(self, name: str) -> int:
        text = self._variables.get(name, "").strip()
        if not text:
            return 0
        sign = -1 if text[0] == "-" else 1
        digits = text.lstrip("+-")
        if not _is_integer(digits):
            raise ArithmeticProblem(f"Illegal number: {text}")
        return _wrapped(sign * _integer(digits))

    def _apply(self, operator: str, left: int, right: int, *, live: bool) -> int:
        if operator in ("/", "%"):
            if right == 0:
                if live:
                    raise self._failure("division by zero")
                return 0
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return _wrapped(quotient if operator == "/" else left - quotient * right)
        return _wrapped(_OPERATIONS[operator](left, right))


def _is_integer(digits: str) -> bool:
    return re.fullmatch(r"0[xX][0-9a-fA-F]{1,32}|0[0-7]{0,32}|[1-9]\d{0,32}", digits, re.ASCII) is not None


def _integer(digits: str) -> int:
    if digits[:2].lower() == "0x":
        return int(digits, 16)
    return int(digits, 8) if digits[0] == "0" else int(digits)


_OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
}
