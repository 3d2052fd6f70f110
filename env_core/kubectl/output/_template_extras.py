"""The two functions that kubectl adds to Go's templates: exists and base64decode.

Source: cli-runtime printers/template.go; tests/golden/l0/output_formats.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

from env_core.objects.gotemplate import BUILTINS, FunctionError, Signature

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def _exists(item: Any, *indexes: Any) -> bool:
    for key in indexes:
        if isinstance(item, dict) and isinstance(key, str):
            if key not in item:
                return False
            item = item[key]
        elif isinstance(item, list) and isinstance(key, int | float) and not isinstance(key, bool):
            if not (isinstance(key, int) and 0 <= key < len(item)):
                return False
            item = item[key]
        else:
            return False
    return item is not None


def base64_decoded(text: str) -> str:
    """base64decode: the text behind standard base64; line ends are skipped.

    Raises:
        FunctionError: with Go's text, which says at which byte the data went wrong.
    """
    compact = text.replace("\r", "").replace("\n", "")
    if _BASE64.fullmatch(compact) and len(compact) % 4 == 0:
        try:
            return base64.b64decode(compact, validate=True).decode("utf-8", "replace")
        except binascii.Error:
            pass
    at = _bad_byte(text)
    raise FunctionError(f"base64 decode failed: illegal base64 data at input byte {at}")


def _bad_byte(text: str) -> int:
    """Return where Go's decoder gives up."""
    data = [(place, chr(byte)) for place, byte in enumerate(text.encode()) if byte not in b"\r\n"]
    end = len(text.encode())
    at = 0
    while at < len(data):
        for offset in range(4):
            if at + offset >= len(data):
                return end if offset == 0 else end - offset
            place, char = data[at + offset]
            if char.isascii() and (char.isalnum() or char in "+/"):
                continue
            if char != "=" or offset < 2:
                return place
            if offset == 2:
                if at + 3 >= len(data):
                    return end
                if data[at + 3][1] != "=":
                    return data[at + 3][0] - 1
                return data[at + 4][0] if at + 4 < len(data) else place
            return data[at + 4][0] if at + 4 < len(data) else place
        at += 4
    return end


FUNCTIONS: Final[dict[str, Signature]] = {
    **BUILTINS,
    "exists": Signature(_exists, 1, is_variadic=True),
    "base64decode": Signature(base64_decoded, 1, is_variadic=False, text_first=True),
}
