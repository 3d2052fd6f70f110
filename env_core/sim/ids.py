"""Identities drawn from streams: uids, name suffixes, container ids, addresses."""

from __future__ import annotations

from hashlib import sha256

from env_core.sim.rng import Stream


def uid(stream: Stream) -> str:
    """Return a version 4 UUID."""
    return _uuid(stream.bits(), stream.bits())


def uid_of(text: str) -> str:
    """Return a version 4 UUID that is always the same for a text."""
    digest = sha256(text.encode()).digest()
    return _uuid(int.from_bytes(digest[:8]), int.from_bytes(digest[8:16]))


def _uuid(high: int, low: int) -> str:
    text = f"{high:016x}{low:016x}"
    variant = "89ab"[(low >> 60) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


def hex_id(stream: Stream, length: int = 64) -> str:
    """Return `length` hexadecimal digits, as container and sandbox ids have them."""
    return "".join(f"{stream.bits():016x}" for _ in range((length + 15) // 16))[:length]
