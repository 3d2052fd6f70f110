"""The `@name` formats."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from env_core.shell._jq.values import JqError, Json, compact, is_number, number_text, typed

_HTML: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&#39;", '"': "&quot;"}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else compact(value)


def _html(value: Json) -> str:
    return re.sub("[<>&'\"]", lambda found: _HTML[found.group()], _text(value))


def _row(value: Json, name: str, cell: Callable[[Json], str], joiner: str) -> str:
    if not isinstance(value, list):
        raise JqError(f"{typed(value)} cannot be {name}-formatted, only array")
    return joiner.join(cell(item) for item in value)


def _simple_cell(value: Json, text: Callable[[str], str], what: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return number_text(value)
    if isinstance(value, str):
        return text(value)
    raise JqError(f"{typed(value)} is not valid in a {what} row")


def _csv(value: Json) -> str:
    def cell(item: Json) -> str:
        return _simple_cell(item, lambda text: '"' + text.replace('"', '""') + '"', "csv")

    return _row(value, "csv", cell, ",")


def _tsv(value: Json) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")

    return _row(value, "tsv", lambda item: _simple_cell(item, escaped, "csv"), "\t")


def _sh(value: Json) -> str:
    items = value if isinstance(value, list) else [value]
    words: list[str] = []
    for item in items:
        if isinstance(item, list | dict):
            raise JqError(f"{typed(item)} can not be escaped for shell")
        words.append("'" + item.replace("'", "'\\''") + "'" if isinstance(item, str) else compact(item))
    return " ".join(words)


def _base64(value: Json) -> str:
    return b64encode(_text(value).encode("utf-8", "replace")).decode()


def _base64d(value: Json) -> str:
    text = _text(value)
    digits = text.rstrip("=")
    if re.fullmatch("[A-Za-z0-9+/]*", digits) is None:
        raise JqError(f"{typed(text)} is not valid base64 data")
    if len(digits) % 4 == 1:
        raise JqError(f"{typed(text)} trailing base64 byte found")
    return b64decode(digits + "=" * (-len(digits) % 4)).decode("utf-8", "replace")


_FORMATS: Final[dict[str, Callable[[Json], str]]] = {
    "text": _text,
    "json": compact,
    "csv": _csv,
    "tsv": _tsv,
    "html": _html,
    "uri": lambda value: quote(_text(value), safe="-_.~"),
    "sh": _sh,
    "base64": _base64,
    "base64d": _base64d,
}


def formatted(name: str, value: Json) -> str:
    """Return a value in a format.

    Raises:
        JqError: for an unknown format, or a value that the format cannot hold.
    """
    form = _FORMATS.get(name)
    if form is None:
        raise JqError(f"{name} is not a valid format")
    return form(value)
