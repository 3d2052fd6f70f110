"""Domain names as DNS messages hold them: their form, and how many bytes names, questions and records take."""

from __future__ import annotations

from typing import Final

_NAME_MAX: Final = 255
_LABEL_MAX: Final = 63
HEADER_BYTES: Final = 12
_QUESTION_BYTES: Final = 4
_RECORD_BYTES: Final = 10
"""Type, class, time to live and length of the data."""


def full_name(text: str) -> str:
    """Return a name in lower case, with its final dot."""
    lower = text.lower()
    return lower if lower.endswith(".") else f"{lower}."


def is_domain_name(text: str) -> bool:
    """Whether a text is a domain name. Source: github.com/miekg/dns IsDomainName."""
    if text == ".":
        return True
    bare = text.removesuffix(".")
    if len(bare) > _NAME_MAX:
        return False
    if not bare:
        return not text
    return all(0 < len(label) <= _LABEL_MAX for label in bare.split("."))


def name_bytes(name: str) -> int:
    """Return the bytes that a name takes without compression."""
    bare = name.rstrip(".")
    return len(bare.encode()) + 2 if bare else 1


def question_bytes(name: str) -> int:
    """Return the bytes of a message with one question."""
    return HEADER_BYTES + name_bytes(name) + _QUESTION_BYTES


def record_bytes(name: str, kind: str, value: str) -> int:
    """Return the bytes of a record without compression."""
    return name_bytes(name) + _RECORD_BYTES + _data_bytes(kind, value)


def _data_bytes(kind: str, value: str) -> int:
    words = value.split()
    if kind == "A":
        return 4
    if kind == "AAAA":
        return 16
    if kind in ("NS", "CNAME", "PTR"):
        return name_bytes(value)
    if kind == "SRV":
        return 6 + name_bytes(words[-1])
    if kind == "MX":
        return 2 + name_bytes(words[-1])
    if kind == "SOA":
        return name_bytes(words[0]) + name_bytes(words[1]) + 20
    return 1 + len(value.encode())
