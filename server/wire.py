"""JSON bytes for answers."""

from __future__ import annotations

import json
from typing import Any

import orjson


def encoded(content: Any) -> bytes:
    """Return the content as JSON.

    What a client sent may come back inside an error; the standard library takes the odd values (lone surrogates, huge integers) that orjson does not.
    """
    try:
        return orjson.dumps(content)
    except TypeError:
        return json.dumps(content, separators=(",", ":"), default=str).encode()
