"""Writes the derived tables beside it from the recordings: types, resources, columns.

Run `python -m env_core.apiserver.data._generate` from a checkout; the results are committed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parents[2] / "tests" / "golden"

OMITEMPTY, INLINE, OMITZERO = 1, 2, 4
_FLAGS = (("omitempty", OMITEMPTY), ("inline", INLINE), ("omitzero", OMITZERO))
_ROW = ("go", "json", "type", "omitempty", "inline", "omitzero")
_SHORT = {
    "patchStrategy": "ps",
    "patchMergeKey": "mk",
    "listType": "lt",
    "listMapKeys": "lk",
    "mapType": "mt",
    "enum": "enum",
    "openapiDefault": "default",
}
_QUANTITY = "apimachinery/pkg/api/resource.Quantity"


def _read(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.load(file)


def type_code(type_: Any) -> Any:
    """Return a field type as a compact list: ["*", e], ["[]", e], ["{}", key, e, name?], ["s", ref], ["n", kind, name].

    Go reflection names no map or slice type; the two that the API has (ResourceList, ExtraValue) are known
    by their shape.
    """
    if isinstance(type_, str):
        return type_
    kind = type_["k"]
    if kind == "ptr":
        return ["*", type_code(type_["e"])]
    if kind == "list":
        return ["[]", type_code(type_["e"])]
    if kind == "map":
        key, element = type_code(type_["key"]), type_code(type_["e"])
        if key == "api/core/v1.ResourceName" and element == ["s", _QUANTITY]:
            return ["{}", key, element, "api/core/v1.ResourceList"]
        return ["{}", key, element]
    if kind == "struct":
        return ["s", type_["ref"]]
    return ["n", kind, type_["named"]]


def field_row(field: dict[str, Any]) -> list[Any]:
    """Return [json name, Go name, type, flags, extras?] of one field."""
    flags = sum(bit for name, bit in _FLAGS if field.get(name))
    row: list[Any] = [field.get("json", ""), field["go"], type_code(field["type"]), flags]
    extras: dict[str, Any] = {}
    for name, value in field.items():
        if name in _ROW:
            continue
        if name == "pb":
            extras["pb"] = [value["num"], value["wire"], value["label"]]
        else:
            extras[_SHORT.get(name, name)] = value
    if extras:
        row.append(extras)
    return row


def types_table() -> dict[str, Any]:
    """Return {kinds, types} from tests/golden/l0/types."""
    source = _read(GOLDEN / "l0" / "types.json.gz")
    types = {}
    for name, type_ in source["types"].items():
        entry: list[Any] = [[field_row(field) for field in type_["fields"] or ()]]
        more = {
            key: type_[key] for key in ("required", "ext", "openapiType", "openapiFormat") if key in type_
        }
        if more:
            entry.append(more)
        types[name] = entry
    return {"kinds": source["kinds"], "types": types}


def storage_hashes() -> dict[tuple[str, str], str]:
    """Return the storage version hash of each (group version, plural) of the old discovery documents."""
    hashes = {}
    for path in sorted((GOLDEN / "l2" / "facts" / "discovery").glob("legacy_*.json.gz")):
        document = _read(path)
        for resource in document.get("resources") or ():
            if "storageVersionHash" in resource:
                hashes[document["groupVersion"], resource["name"]] = resource["storageVersionHash"]
    return hashes


def resources_table() -> list[dict[str, Any]]:
    """Return the resources of the aggregated discovery documents, in their order."""
    rows: list[dict[str, Any]] = []
    hashes = storage_hashes()
    for file in ("aggregated_api", "aggregated_apis"):
        document = _read(GOLDEN / "l2" / "facts" / "discovery" / f"{file}.json.gz")
        document = document.get("body", document)
        for group in document["items"]:
            for version in group["versions"]:
                name, resources = group["metadata"].get("name", ""), version["resources"]
                for resource in resources:
                    row = _resource(name, version["version"], resource)
                    group_version = f"{name}/{version['version']}" if name else version["version"]
                    stored = hashes.get((group_version, row["plural"]))
                    rows.append(row | {"hash": stored} if stored else row)
    return rows


def _resource(group: str, version: str, resource: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "group": group,
        "version": version,
        "plural": resource["resource"],
        "kind": resource["responseKind"]["kind"],
        "singular": resource["singularResource"],
        "namespaced": resource["scope"] == "Namespaced",
        "verbs": resource["verbs"],
    }
    for name in ("shortNames", "categories"):
        if resource.get(name):
            row[name] = resource[name]
    subresources = [_subresource(subresource) for subresource in resource.get("subresources", ())]
    if subresources:
        row["subresources"] = subresources
    return row


def _subresource(subresource: dict[str, Any]) -> dict[str, Any]:
    kind = subresource["responseKind"]
    return {
        "name": subresource["subresource"],
        "group": kind.get("group", ""),
        "version": kind.get("version", ""),
        "kind": kind["kind"],
        "verbs": subresource["verbs"],
    }


def columns_table() -> dict[str, Any]:
    """Return the printer columns of every kind, without descriptions."""
    source = _read(GOLDEN / "l0" / "printer_columns.json.gz")
    return {
        kind: [{key: value for key, value in column.items() if key != "description"} for column in columns]
        for kind, columns in source.items()
    }


def packed(table: Any) -> bytes:
    """Return a table as deterministic gzip'd compact JSON."""
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return gzip.compress(text.encode(), 9, mtime=0)


TABLES = {"types": types_table, "resources": resources_table, "columns": columns_table}


def main() -> None:
    """Write every table."""
    for name, build in TABLES.items():
        (HERE / f"{name}.json.gz").write_bytes(packed(build()))


if __name__ == "__main__":
    main()
