"""The columns that a definition declares for its resource.

Source: k8s.io/apiextensions-apiserver pkg/registry/customresource/tableconvertor; tests/golden/l2/kubectl/crd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from env_core.apiserver.kind import Column
from env_core.objects.jsonpath import JSONPath, JSONPathError, compiled, result_text
from env_core.sim.timefmt import human_duration, parse_ms
from env_core.world import Object

_NAME: Final = Column("Name", lambda obj, _now_ms: obj["metadata"]["name"], format="name")
_DEFAULT: Final[tuple[Object, ...]] = (
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
)


def columns_of(declared: Sequence[Object] | None) -> tuple[Column, ...]:
    """Return the columns of a version; those behind one whose path cannot be read are left out."""
    columns = [_NAME]
    for each in declared or _DEFAULT:
        try:
            path = compiled(f"{{{each['jsonPath']}}}")
        except JSONPathError:
            break
        cell = _cell(path, each["type"])
        columns.append(
            Column(each["name"], cell, each["type"], each.get("format") or "", each.get("priority") or 0)
        )
    return tuple(columns)


def _cell(path: JSONPath, type_: str) -> Callable[[Object, int], Any]:
    def cell(obj: Object, now_ms: int) -> Any:
        try:
            found = path.find(obj)
        except JSONPathError:
            return None
        if not found or not found[0]:
            return None
        value = found[0][0]
        return result_text(value) if type_ == "string" else _typed(value, type_, now_ms)

    return cell


def _typed(value: Any, type_: str, now_ms: int) -> Any:
    if type_ == "date":
        return _age(value, now_ms) if isinstance(value, str) else None
    if type_ == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if type_ == "integer" else value


def _age(value: str, now_ms: int) -> str:
    try:
        return human_duration(now_ms - parse_ms(value)) if value else "<unknown>"
    except ValueError:
        return "<invalid>"
