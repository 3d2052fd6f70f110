"""`find` and `findAll`.

Source: k8s.io/apiserver v0.37 pkg/cel/library/regex.go.
"""

from __future__ import annotations

from typing import Any

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member
from env_core.cel._types import INT, STRING
from env_core.cel._values import CelError
from env_core.objects.re2 import Re2Error, compiled


def _find(text: str, pattern: str) -> Any:
    try:
        found = compiled(pattern).find(text)
    except Re2Error as problem:
        return CelError(f"Illegal regex: {problem}")
    return "" if found is None else text[found[0] : found[1]]


def _find_all(text: str, pattern: str, count_max: int = -1) -> Any:
    try:
        return compiled(pattern).find_all(text, count_max)
    except Re2Error as problem:
        return CelError(f"Illegal regex: {problem}")


LIBRARY = Library(
    order=11,
    functions={
        "find": Function((member("string_find_string", (STRING, STRING), STRING, _find),)),
        "findAll": Function(
            (
                member("string_find_all_string", (STRING, STRING), _types.list_of(STRING), _find_all),
                member(
                    "string_find_all_string_int", (STRING, STRING, INT), _types.list_of(STRING), _find_all
                ),
            )
        ),
    },
    source="k8s.io/apiserver v0.37 pkg/cel/library/regex.go",
)
