"""Field names that CEL's grammar does not allow, and how expressions write them.

Source: k8s.io/apiserver v0.37 pkg/cel/escaping.go.
"""

from __future__ import annotations

import re
from typing import Final

RESERVED: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_PARTS: Final = re.compile(r"__|[-./]")
_FORMS: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ALLOWED: Final = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")


def escaped(name: str) -> str:
    """Return how expressions write a field name, "" where they cannot."""
    if not _ALLOWED.fullmatch(name):
        return ""
    if name in RESERVED:
        return f"__{name}__"
    return _PARTS.sub(lambda found: _FORMS[found.group()], name)
