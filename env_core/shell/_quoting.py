"""File names as coreutils shows them in front of an error."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"(?![~#])[^\s:=^!*?\[\\'\"$`&|;<>()\x00-\x1f\x7f]+\Z")
_BRACES: Final = ("{", "}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")
_ESCAPES: Final = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def quoted_name(name: str) -> str:
    """Return a name as it is where a shell would take it so, else in quotes.

    Source: gnulib quotearg, shell_escape_quoting_style with `:` (coreutils 9.1 quotef).
    """
    if _PLAIN.match(name) is not None and name not in _BRACES:
        return name
    if "'" in name and not any(char in name for char in '"$`\\!') and _CONTROL.search(name) is None:
        return f'"{name}"'
    shown = name.replace("'", "'\\''")
    text = f"'{_CONTROL.sub(_escaped, shown)}'"
    # Nothing is opened again behind a last escape.
    return text[:-2] if _CONTROL.match(shown[-1:]) else text


def _escaped(found: re.Match[str]) -> str:
    codes = "".join(_ESCAPES.get(char, f"\\{ord(char):03o}") for char in found.group())
    return f"'$'{codes}''"
