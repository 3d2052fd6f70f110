"""Resources inside of custom resources: their type and metadata are checked and pruned like an object's own.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/objectmeta (algorithm.go, coerce.go, validation.go).
"""

from __future__ import annotations

from typing import Any, Final

from env_core.apiextensions.structural import Structural
from env_core.apiserver.metadata import name_is_path_segment, validate_object_meta
from env_core.apiserver.schema import struct_named
from env_core.apiserver.strict import ValueRefused, read_as
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required

_META: Final = "apimachinery/pkg/apis/meta/v1.ObjectMeta"


def read_metadata(value: Any) -> tuple[Any, list[str]]:
    """Return metadata in normal form and the strict errors about it, their paths relative to it.

    Raises:
        ValueRefused: a value has the wrong type.
    """
    return read_as(value, struct_named(_META))


def coerce(value: Any, schema: Structural, path: str, unknown: list[str]) -> Any:
    """Return a value with the metadata of embedded resources pruned; paths of what was dropped go to `unknown`.

    Raises:
        ValueRefused: embedded metadata, or an embedded type, cannot be read.
    """
    if not schema.has_embedded:
        return value
    if isinstance(value, list) and schema.items is not None:
        return [coerce(item, schema.items, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    built = dict(value)
    for key, item in value.items():
        here = f"{path}.{key}" if path else key
        if schema.is_embedded and key in ("apiVersion", "kind") and not isinstance(item, str):
            raise ValueRefused(invalid(here, item, "must be a string").text())
        if schema.is_embedded and key == "metadata":
            built[key] = _coerced_metadata(item, here, unknown)
            continue
        below = schema.properties.get(key) or schema.additional
        if below is not None:
            built[key] = coerce(item, below, here, unknown)
    return built


def _coerced_metadata(value: Any, path: str, unknown: list[str]) -> Any:
    try:
        metadata, complaints = read_metadata(value)
    except ValueRefused as why:
        raise ValueRefused(invalid(path, value, str(why)).text()) from None
    unknown.extend(f"{path}.{text.partition(chr(34))[2].rstrip(chr(34))}" for text in complaints)
    return metadata


def embedded_problems(schema: Structural, value: Any, path: str = "") -> list[Problem]:
    """Return what is wrong with the type and metadata of embedded resources."""
    if not schema.has_embedded:
        return []
    found: list[Problem] = []
    if isinstance(value, dict):
        if schema.is_embedded:
            found += _resource_problems(value, path)
        for key in sorted(value):
            below = schema.properties.get(key)
            if below is not None:
                found += embedded_problems(below, value[key], f"{path}.{key}" if path else key)
            elif schema.additional is not None:
                found += embedded_problems(schema.additional, value[key], f"{path}[{key}]")
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            found += embedded_problems(schema.items, item, f"{path}[{index}]")
    return found


def _resource_problems(value: dict[str, Any], path: str) -> list[Problem]:
    place = f"{path}." if path else ""
    found = [required(f"{place}{field}") for field in ("apiVersion", "kind") if field not in value]
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(api_version, str):
        if not api_version:
            found.append(invalid(f"{place}apiVersion", api_version, "must not be empty"))
        elif api_version.count("/") > 1:
            text = f"unexpected GroupVersion string: {api_version}"
            found.append(invalid(f"{place}apiVersion", api_version, text))
    if isinstance(kind, str):
        complaints = names.is_dns1035_label(kind.lower())
        if not kind:
            found.append(invalid(f"{place}kind", kind, "must not be empty"))
        elif complaints:
            text = "may have mixed case, but should otherwise match: " + ",".join(complaints)
            found.append(invalid(f"{place}kind", kind, text))
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        named = metadata if metadata.get("name") else {**metadata, "name": "fakename"}
        is_namespaced = bool(named.get("namespace"))
        found += validate_object_meta(
            named, is_namespaced, name_is_path_segment, f"{place}metadata", has_free_finalizers=True
        )
    return found
