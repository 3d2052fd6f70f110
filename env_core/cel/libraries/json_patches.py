"""`jsonpatch.escapeKey(…)`, for the paths of JSON patches.

Source: k8s.io/apiserver v0.37 pkg/cel/library/jsonpatch.go.
"""

from __future__ import annotations

from env_core.cel._declarations import Function, Library, overload
from env_core.cel._types import STRING


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY = Library(
    order=70,
    functions={
        "jsonpatch.escapeKey": Function(
            (overload("string_jsonpatch_escapeKey_string", (STRING,), STRING, _escaped),)
        )
    },
    source="k8s.io/apiserver v0.37 pkg/cel/library/jsonpatch.go",
)
