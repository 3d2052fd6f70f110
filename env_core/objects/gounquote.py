"""Go's string literals without their quotes."""

from __future__ import annotations

from typing import Final

_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_HEX_LENGTHS: Final = {"x": 2, "u": 4, "U": 8}
_OCTAL: Final = "01234567"


def unquoted(text: str, quote: str) -> str | None:
    """Return a literal's text with its escapes resolved, None if one is wrong.

    Bytes that are no UTF-8 become U+FFFD. Source: https://pkg.go.dev/strconv#UnquoteChar.
    """
    if "\\" not in text:
        return None if quote in text else text
    out = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == quote:
            return None
        if char != "\\":
            out += char.encode()
            continue
        escape = text[at : at + 1]
        at += 1
        if escape in _ESCAPES:
            out.append(_ESCAPES[escape])
        elif escape and escape in "\"'":
            if escape != quote:
                return None
            out += escape.encode()
        elif escape in _HEX_LENGTHS or (escape and escape in _OCTAL):
            length, base = (_HEX_LENGTHS[escape], 16) if escape in _HEX_LENGTHS else (3, 8)
            start = at if base == 16 else at - 1
            at = start + length
            encoded = _character(text[start:at], length, base, is_byte=escape not in ("u", "U"))
            if encoded is None:
                return None
            out += encoded
        else:
            return None
    return out.decode(errors="replace")


def _character(digits: str, length: int, base: int, *, is_byte: bool) -> bytes | None:
    if len(digits) != length or not digits.isalnum():
        return None
    try:
        code = int(digits, base)
    except ValueError:
        return None
    if is_byte:
        return bytes((code,)) if code < 256 else None
    if code >= 0x110000 or 0xD800 <= code < 0xE000:
        return None
    return chr(code).encode()
