"""Byte strings as JSON carries them: base64."""

from __future__ import annotations

import base64


def encoded(text: str) -> str:
    """Return the base64 of a text's UTF-8 bytes."""
    return base64.b64encode(text.encode()).decode()


def decoded(value: str) -> bytes:
    """Return the bytes behind a base64 value (which decoding has accepted before)."""
    return base64.b64decode(value)


def byte_length(value: str) -> int:
    """Return how many bytes are behind a base64 value, without decoding it."""
    return len(value) * 3 // 4 - (value.endswith("=") + value.endswith("=="))
