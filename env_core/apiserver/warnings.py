"""Which warnings reach a client: no text twice, none with control characters, and not too much of them.

Source: k8s.io/apiserver pkg/endpoints/filters/warning.go, apimachinery pkg/util/net/http.go NewWarningHeader. Unrecorded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

_TOTAL_MAX: Final = 4 * 1024
_CUT_MAX: Final = 256


def sent(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings of an answer as its headers carry them.

    Above 4,096 characters in all, each is cut at 256, and what comes after as many again is left out.
    """
    fit = [text for text in dict.fromkeys(texts) if text and not _has_controls(text)]
    if sum(map(len, fit)) <= _TOTAL_MAX:
        return tuple(fit)
    shown: list[str] = []
    size = 0
    for text in fit:
        if size >= _TOTAL_MAX:
            break
        shown.append(text[:_CUT_MAX])
        size += len(shown[-1])
    return tuple(shown)


def _has_controls(text: str) -> bool:
    return not text.isprintable() and any(unicodedata.category(char) == "Cc" for char in text)
