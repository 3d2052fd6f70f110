"""Suffixes of names that the real kubectl draws at random: here they follow from what is known."""

from __future__ import annotations

from hashlib import sha256

from env_core.kubectl.context import Context

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def name_suffix(ctx: Context, *parts: str) -> str:
    """Return five characters of the alphabet of Kubernetes' generated names, by the time and `parts`."""
    digest = sha256("\n".join((str(ctx.clock.now_ms), ctx.namespace, *parts)).encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:5])
