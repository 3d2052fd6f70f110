"""Byte strings as JSON carries them: base64."""

from __future__ import annotations

import base64
import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def encoded(text: str) -> str:
    """Return the base64 of a text's UTF-8 bytes, lone surrogates as U+FFFD."""
    return base64.b64encode(_SURROGATE.sub("\ufffd", text).encode()).decode()


def decoded(value: str | None) -> bytes:
    """Return the bytes behind a base64 value (which decoding has accepted before); none behind null."""
    return base64.b64decode(value or "")


def byte_length(value: str | None) -> int:
    """Return how many bytes are behind a base64 value, without decoding it; none behind null."""
    if value is None:
        return 0
    return len(value) * 3 // 4 - (value.endswith("=") + value.endswith("=="))
