"""The client's own check of the items of a v1 List, which servers take apart no more: unknown, missing, mistyped fields.

Source: k8s.io/kubectl pkg/validation validation.go; k8s.io/kube-openapi pkg/util/proto/validation types.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import GoType, StructType, schema_for
from env_core.objects.problems import quoted

_FREE = frozenset({"raw"})
_NUMBERS = {"int32": "integer", "int64": "integer", "float64": "number"}


def problems_of(items: Sequence[Any], kinds: Sequence[Kind | None]) -> list[str]:
    """Return what is wrong with the items of a list, whose kinds are given as far as they are known."""
    found: list[str] = []
    for item, kind in zip(items, kinds, strict=True):
        if not item.get("apiVersion"):
            found.append("apiVersion not set")
            continue
        struct = kind and (kind.struct or schema_for(kind.group, kind.version, kind.kind))
        if struct:
            found += _struct(struct, item, item["kind"])
    return found


def model_name(struct: StructType) -> str:
    """Return "io.k8s.api.core.v1.Pod"."""
    return "io.k8s." + struct.path.replace("/", ".")


def _struct(struct: StructType, value: Any, path: str) -> list[str]:
    name = model_name(struct)
    if struct.special:
        is_wrong = struct.special not in _FREE and isinstance(value, dict | list)
        return [_mistyped(path, name, value, "string")] if is_wrong else []
    if not isinstance(value, dict):
        return [_mistyped(path, name, value, "map")]
    found: list[str] = []
    for key in sorted(value):
        if value[key] is None:
            continue
        field = struct.fields.get(key)
        if field is None:
            found.append(f"ValidationError({path}): unknown field {quoted(key)} in {name}")
        else:
            found += _typed(field.type, value[key], f"{path}.{key}", f"{name}.{key}")
    missing = (key for key in struct.required if value.get(key) is None)
    return found + [
        f"ValidationError({path}): missing required field {quoted(key)} in {name}" for key in missing
    ]


def _typed(go_type: GoType, value: Any, path: str, name: str) -> list[str]:
    kind, element = go_type.kind, go_type.element
    if kind == "struct":
        return _struct(go_type.struct, value, path)
    if kind == "ptr" and element is not None:
        return _typed(element, value, path, name)
    if kind == "slice" and element is not None:
        if not isinstance(value, list):
            return [_mistyped(path, name, value, "array")]
        found: list[str] = []
        for index, item in enumerate(value):
            where = f"{path}[{index}]"
            if item is None:
                found.append(f'ValidationError({path}): unknown object type "nil" in {where}')
            else:
                found += _typed(element, item, where, name)
        return found
    if kind == "map" and element is not None:
        if not isinstance(value, dict):
            return [_mistyped(path, name, value, "map")]
        found = []
        for key in sorted(value):
            where = f"{path}.{key}"
            if value[key] is None:
                found.append(f'unknown object type "nil" in {where}')
            else:
                found += _typed(element, value[key], where, name)
        return found
    return _scalar(kind, value, path, name)


def _scalar(kind: str, value: Any, path: str, name: str) -> list[str]:
    if kind == "interface":
        return []
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind in _NUMBERS:
        return [] if is_number else [_mistyped(path, name, value, _NUMBERS[kind])]
    if kind == "bool":
        return [] if isinstance(value, bool) else [_mistyped(path, name, value, "boolean")]
    # Whatever is one word passes for a string.
    return [_mistyped(path, name, value, "string")] if isinstance(value, dict | list) else []


def _mistyped(path: str, name: str, value: Any, wanted: str) -> str:
    return f"ValidationError({path}): invalid type for {name}: got {quoted(_word(value))}, expected {quoted(wanted)}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "map"
