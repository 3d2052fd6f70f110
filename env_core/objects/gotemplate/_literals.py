"""The values of a Go template's literals: strings, characters and numbers."""

from __future__ import annotations

import ast
import re
from typing import Final

from env_core.objects.gotemplate import _lexer as lexer
from env_core.objects.gotemplate._lexer import Token
from env_core.objects.gounquote import unquoted
from env_core.objects.problems import quoted

_PLAIN_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LEADING_ZERO: Final = re.compile(r"[+-]?0[0-7_]+")
_INT64_MAX: Final = 2**63 - 1


def literal_value(token: Token) -> str | float:
    """Return the value of a literal; a character is its code.

    Source: Go text/template/parse newNumber and strconv.Unquote.

    Raises:
        ValueError: with Go's text.
    """
    if token.kind == lexer.RAW_STRING:
        return token.text[1:-1].replace("\r", "")
    if token.kind == lexer.STRING:
        text = unquoted(token.text[1:-1], '"')
        if text is None:
            raise ValueError("invalid syntax")
        return text
    if token.kind == lexer.CHARACTER:
        char = unquoted(token.text[1:-1], "'")
        if char is None or len(char) != 1:
            raise ValueError(f"malformed character constant: {token.text}")
        return ord(char)
    value = _number(token.text)
    if value is None:
        raise ValueError(f"illegal number syntax: {quoted(token.text)}")
    if isinstance(value, int) and not -_INT64_MAX - 1 <= value <= 2 * _INT64_MAX + 1:
        raise ValueError(f"integer overflow: {quoted(token.text)}")
    return value


def _number(text: str) -> int | float | None:
    """Return a Go number literal's value; None if it is none (imaginary ones are not supported)."""
    if len(text) > 100:
        return None
    if _LEADING_ZERO.fullmatch(text):
        text = text.replace("0", "0o", 1)
    try:
        if "x" in text.lower() and ("p" in text.lower() or "." in text):
            return float.fromhex(text)
        value = ast.literal_eval(text) if not _PLAIN_INTEGER.fullmatch(text) else int(text)
    except (ValueError, SyntaxError, OverflowError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
