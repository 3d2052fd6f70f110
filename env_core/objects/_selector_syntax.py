"""The grammar of label and field selectors, down to the words of its errors."""

from __future__ import annotations

import re
from typing import Final

from env_core.objects.names import is_qualified_name, is_valid_label_value
from env_core.objects.problems import Problem, aggregate_text, invalid

Parts = tuple[str, str, tuple[str, ...]]
"""Key, operator and values of one requirement."""

_TOKEN: Final = re.compile(r"[ \t\r\n]*([=!(),<>]+|[^=!(),<> \t\r\n\0]+)?")
_SYMBOLS: Final = frozenset({")", ",", "!", "==", "=", ">", "<", "!=", "("})
_OPERATOR_OF: Final = {
    "in": "in",
    "notin": "notin",
    "=": "=",
    "==": "==",
    "!=": "!=",
    ">": "gt",
    "<": "lt",
}
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64_MAX: Final = 2**63 - 1


class SelectorError(ValueError):
    """The selector is wrong; the message is Kubernetes' own."""


def checked_requirement(key: str, operator: str, values: tuple[str, ...]) -> Parts:
    """Return the requirement once its key, values and their number are checked.

    Source: k8s.io/apimachinery pkg/labels NewRequirement.

    Raises:
        SelectorError: with Kubernetes' text.
    """
    problems: list[Problem] = []
    complaints = is_qualified_name(key)
    if complaints:
        problems.append(invalid("key", key, "; ".join(complaints)))
    listed = list(values) or None
    if operator in ("in", "notin") and not values:
        problems.append(invalid("values", listed, "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in ("exists", "!") and values:
        problems.append(invalid("values", listed, "values set must be empty for exists and does not exist"))
    elif operator in ("gt", "lt"):
        for index, value in enumerate(values):
            if not _is_int64(value):
                text = "for 'Gt', 'Lt' operators, the value must be an integer"
                problems.append(invalid(f"values[{index}]", value, text))
    for index, value in enumerate(values):
        complaints = is_valid_label_value(value)
        if complaints:
            problems.append(invalid(f"values[{index}][{key}]", value, "; ".join(complaints)))
    if problems:
        raise SelectorError(aggregate_text(problems))
    return key, operator, values


def _is_int64(text: str) -> bool:
    return (
        _INTEGER.fullmatch(text) is not None and len(text) < 40 and -_INT64_MAX - 1 <= int(text) <= _INT64_MAX
    )


def _tokens(text: str) -> list[str]:
    """Return the words and symbols of a selector, "" at the end."""
    tokens: list[str] = []
    at = 0
    while True:
        found = _TOKEN.match(text, at)
        assert found is not None, "the pattern matches the empty text"
        run = found[1]
        at = found.end()
        if run is None:
            tokens.append("")
            return tokens
        if run[0] not in "=!(),<>":
            tokens.append(run)
            continue
        while run:
            width = 2 if run[:2] in _SYMBOLS else 1
            tokens.append(run[:width])
            run = run[width:]


class _Parser:
    """Recursive descent over the tokens; words like "in" are operators only where one is due."""

    __slots__ = ("_at", "_tokens")

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def requirements(self) -> list[Parts]:
        found: list[Parts] = []
        while True:
            token = self._peek()
            if not token:
                return found
            if token in _SYMBOLS and token != "!":
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from error
            token = self._take()
            if not token:
                return found
            if token != ",":
                raise SelectorError(f"found '{token}', expected: ',' or 'end of string'")
            token = self._peek()
            if not token or (token in _SYMBOLS and token != "!"):
                raise SelectorError(f"found '{token}', expected: identifier after ','")

    def _requirement(self) -> Parts:
        token = self._take()
        is_negated = token == "!"
        key = self._take() if is_negated else token
        if not key or key in _SYMBOLS:
            raise SelectorError(f"found '{key}', expected: identifier")
        complaints = is_qualified_name(key)
        if complaints:
            raise SelectorError(invalid("<nil>", key, "; ".join(complaints)).text())
        if is_negated:
            return key, "!", ()
        if self._peek() in ("", ","):
            return key, "exists", ()
        token = self._take()
        if token not in _OPERATOR_OF:
            expected = "in, notin, =, ==, !=, gt, lt"
            raise SelectorError(f"found '{token}', expected: {expected}")
        operator = _OPERATOR_OF[token]
        values = self._value_set() if operator in ("in", "notin") else (self._value(),)
        return checked_requirement(key, operator, values)

    def _value(self) -> str:
        if self._peek() in ("", ","):
            return ""
        token = self._take()
        if token in _SYMBOLS:
            raise SelectorError(f"found '{token}', expected: identifier")
        return token

    def _value_set(self) -> tuple[str, ...]:
        token = self._take()
        if token != "(":
            raise SelectorError(f"found '{token}' expected: '('")
        token = self._peek()
        if token == ")":
            self._take()
            return ("",)
        if not token or (token in _SYMBOLS and token != ","):
            raise SelectorError(f"found '{token}', expected: ',', ')' or identifier")
        values = self._identifiers()
        self._take()
        return tuple(sorted(values))

    def _identifiers(self) -> dict[str, None]:
        """Read up to the closing parenthesis; two commas in a row stand for an empty value."""
        values: dict[str, None] = {}
        while True:
            token = self._take()
            if token == ",":
                if not values:
                    values[""] = None
                following = self._peek()
                if following == ")":
                    values[""] = None
                    return values
                if following == ",":
                    self._take()
                    values[""] = None
            elif token and token not in _SYMBOLS:
                values[token] = None
                following = self._peek()
                if following == ")":
                    return values
                if following != ",":
                    raise SelectorError(f"found '{following}', expected: ',' or ')'")
            else:
                raise SelectorError(f"found '{token}', expected: ',', or identifier")


def read_requirements(text: str) -> list[Parts]:
    """Return the requirements of a label selector in the order they are written.

    Source: k8s.io/apimachinery pkg/labels Parse.

    Raises:
        SelectorError: with Kubernetes' text.
    """
    return _Parser(text).requirements()


def split_field_terms(text: str) -> list[tuple[str, str, bool]]:
    """Return field, value and "is negated" of each term of a field selector, sorted by their text.

    Source: k8s.io/apimachinery pkg/fields ParseSelector.

    Raises:
        SelectorError: with Kubernetes' text.
    """
    terms: list[tuple[str, str, bool]] = []
    for part in sorted(_field_parts(text)):
        if not part:
            continue
        at, operator = _first_operator(part)
        if not operator:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append((part[:at], _unescaped(part[at + len(operator) :]), operator == "!="))
    return terms


def _field_parts(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    is_escaped = False
    for index, char in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif char == ",":
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _first_operator(part: str) -> tuple[int, str]:
    for index in range(len(part)):
        for operator in ("!=", "==", "="):
            if part.startswith(operator, index):
                return index, operator
    return 0, ""


def _unescaped(value: str) -> str:
    out: list[str] = []
    is_escaped = False
    for char in value:
        if is_escaped:
            if char not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{char}")
            out.append(char)
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif char in ",=":
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            out.append(char)
    if is_escaped:
        raise SelectorError("invalid field selector: invalid escape sequence: \\")
    return "".join(out)
