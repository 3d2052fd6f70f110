"""Field errors of validation, in the words of apimachinery.

Source: k8s.io/apimachinery pkg/util/validation/field; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from env_core.world import Object

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
NOT_FOUND = "FieldValueNotFound"
NOT_SUPPORTED = "FieldValueNotSupported"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
TYPE_INVALID = "FieldValueTypeInvalid"
INTERNAL = "InternalError"

_TITLES = {
    REQUIRED: "Required value",
    INVALID: "Invalid value",
    DUPLICATE: "Duplicate value",
    FORBIDDEN: "Forbidden",
    NOT_FOUND: "Not found",
    NOT_SUPPORTED: "Unsupported value",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
    TYPE_INVALID: "Invalid value",
    INTERNAL: "Internal error",
}
_VALUELESS = frozenset({REQUIRED, FORBIDDEN, TOO_LONG, INTERNAL})


@dataclass(frozen=True, slots=True)
class Problem:
    """One field error.

    `shown` is the offending value as Go prints it in messages ("" for reasons that show none, None to leave out
    one that another reason would show); build problems with the functions below rather than by hand.
    """

    reason: str
    field: str
    shown: str | None
    detail: str

    def body(self) -> str:
        """Return the message without the field."""
        title = _TITLES[self.reason]
        is_bare = self.reason in _VALUELESS or self.shown is None
        text = title if is_bare else f"{title}: {self.shown}"
        return f"{text}: {self.detail}" if self.detail else text

    def text(self) -> str:
        """Return the message with the field, as it stands in the error text."""
        return f"{self.field}: {self.body()}"

    def cause(self) -> Object:
        """Return the entry of `status.details.causes`."""
        return {"reason": self.reason, "message": self.body(), "field": self.field}


def shown(value: Any) -> str:
    """Return a scalar, list or object the way Go's field errors print it (strings quoted)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def quoted(text: str) -> str:
    """Return `text` as Go's %q prints it."""
    out = ['"']
    for char in text:
        code = ord(char)
        if char in '"\\':
            out.append("\\" + char)
        elif char in _GO_ESCAPES:
            out.append(_GO_ESCAPES[char])
        elif code < 0x20 or code == 0x7F:
            out.append(f"\\x{code:02x}")
        elif char.isprintable():
            out.append(char)
        else:
            out.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    out.append('"')
    return "".join(out)


_GO_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def required(field: str, detail: str = "") -> Problem:
    """The field must be set."""
    return Problem(REQUIRED, field, "", detail)


def invalid(field: str, value: Any, detail: str) -> Problem:
    """The field's value is wrong."""
    return Problem(INVALID, field, shown(value), detail)


def duplicate(field: str, value: Any) -> Problem:
    """The value must be unique in its list."""
    return Problem(DUPLICATE, field, shown(value), "")


def forbidden(field: str, detail: str) -> Problem:
    """The field may not be set, or not be changed."""
    return Problem(FORBIDDEN, field, "", detail)


def not_supported(field: str, value: Any, supported: Iterable[str], *, is_sorted: bool = True) -> Problem:
    """The value is none of the allowed ones, listed sorted or in the order given (upstream does both)."""
    options = sorted(supported) if is_sorted else supported
    values = ", ".join(quoted(option) for option in options)
    return Problem(NOT_SUPPORTED, field, shown(value), f"supported values: {values}" if values else "")


def not_found(field: str, value: Any) -> Problem:
    """The value refers to something that is not there."""
    return Problem(NOT_FOUND, field, shown(value), "")


def too_long(field: str, length_max: int) -> Problem:
    """The text is longer than `length_max` bytes."""
    return Problem(
        TOO_LONG, field, "", f"may not be more than {length_max} {'byte' if length_max == 1 else 'bytes'}"
    )


def too_many(field: str, count: int, count_max: int) -> Problem:
    """The list has more than `count_max` entries."""
    return Problem(
        TOO_MANY, field, str(count), f"must have at most {count_max} {'item' if count_max == 1 else 'items'}"
    )


def aggregate_text(problems: list[Problem]) -> str:
    """Join problems as Go's error aggregate does: one as it is, several in brackets, no repeats."""
    texts: list[str] = []
    for problem in problems:
        text = problem.text()
        if text not in texts:
            texts.append(text)
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
