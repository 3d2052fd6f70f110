"""The values of literals: escapes in strings and bytes, numbers within their ranges.

Source: github.com/google/cel-go v0.29 parser/unescape and parser/parser.
"""

from __future__ import annotations

import re
from typing import Any, Final

from env_core.cel._values import INT_MAX, INT_MIN, UINT_MAX, UInt

_CONTROLS: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"',
    "`": "`", "?": "?",
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{2}|[xX].{2}|u.{4}|U.{8}|.)", re.DOTALL)


class LiteralProblem(Exception):
    """The literal has no value."""


def string_value(text: str) -> str:
    """Return what a string literal means.

    Raises:
        LiteralProblem: it names a code point that does not exist.
    """
    body, is_raw = _unquoted(text)
    if is_raw or "\\" not in body:
        return body
    return _ESCAPE.sub(lambda match: _character(match.group(1)), body)


def _character(escape: str) -> str:
    if escape in _CONTROLS:
        return _CONTROLS[escape]
    code = int(escape, 8) if escape[0] in "0123" else int(escape[1:], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralProblem("invalid unicode code point")
    return chr(code)


def bytes_value(text: str) -> bytes:
    """Return what a bytes literal means; `text` is without its leading b.

    Raises:
        LiteralProblem: it has an escape that bytes do not have.
    """
    body, is_raw = _unquoted(text)
    if is_raw or "\\" not in body:
        return body.encode()
    out = bytearray()
    last = 0
    for match in _ESCAPE.finditer(body):
        out += body[last : match.start()].encode()
        last = match.end()
        escape = match.group(1)
        if escape in _CONTROLS:
            out += _CONTROLS[escape].encode()
        elif escape[0] in "uU":
            raise LiteralProblem("unable to unescape string")
        else:
            out.append(int(escape, 8) if escape[0] in "0123" else int(escape[1:], 16))
    return bytes(out + body[last:].encode())


def _unquoted(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    is_raw = text[0] in "rR"
    if is_raw:
        text = text[1:]
    width = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1
    return text[width:-width], is_raw


def int_value(text: str, sign: str) -> Any:
    """Return what an integer literal means.

    Raises:
        LiteralProblem: it does not fit 64 bits.
    """
    number = int(text[2:], 16) if text.startswith("0x") else int(text)
    number = -number if sign else number
    if not INT_MIN <= number <= INT_MAX:
        raise LiteralProblem("invalid int literal")
    return number


def uint_value(text: str) -> UInt:
    """Return what an unsigned literal means; raises as `int_value` does."""
    digits = text[:-1]
    number = int(digits[2:], 16) if digits.startswith("0x") else int(digits)
    if number > UINT_MAX:
        raise LiteralProblem("invalid uint literal")
    return UInt(number)


def double_value(text: str, sign: str) -> float:
    """Return what a floating-point literal means; raises as `int_value` does."""
    number = float(sign + text)
    if number in (float("inf"), float("-inf")):
        raise LiteralProblem("invalid double literal")
    return number
