"""Objects as server-side Tables and as their metadata alone.

Source: k8s.io/apiserver pkg/endpoints/handlers/response.go; tests/golden/l2/facts/tables.json.gz, watches.jsonl.gz.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from env_core.apiserver.kind import Column, Kind
from env_core.apiserver.typed import in_type_order, metadata_in_type_order
from env_core.rest.negotiation import Form
from env_core.world import Object

_DEFAULT_COLUMNS = (
    Column("Name", lambda obj, _now: obj["metadata"].get("name", ""), format="name"),
    Column("Created At", lambda obj, _now: obj["metadata"].get("creationTimestamp") or "", type="date"),
)
INCLUDES = ("", "None", "Metadata", "Object")
# Why a row counts as finished; kubectl leaves such rows out of nothing, but dims them. Source: pkg/printers/internalversion.
_COMPLETED = {
    "Succeeded": [
        {
            "type": "Completed",
            "status": "True",
            "reason": "Succeeded",
            "message": "The pod has completed successfully.",
        }
    ],
    "Failed": [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}],
}


@lru_cache(maxsize=256)
def _definitions(kind: Kind) -> tuple[Object, ...]:
    return tuple(
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": "",
            "priority": column.priority,
        }
        for column in kind.columns or _DEFAULT_COLUMNS
    )


def table(
    kind: Kind,
    form: Form,
    items: list[Object],
    metadata: Object,
    now_ms: int,
    *,
    include: str = "",
    is_list: bool = False,
    has_columns: bool = True,
) -> Object:
    """Return the Table of objects.

    Args:
        kind: of the objects.
        form: Table in the version that the client wants.
        items: the objects.
        metadata: of the list, or of what stands for it.
        now_ms: the server's clock, for ages.
        include: what comes along in each row: "None", "Metadata" (the default) or "Object".
        is_list: whether the objects are those of a list, and not one that was asked for.
        has_columns: False for the events of a watch after the first.
    """
    columns = kind.columns_of_list(items) if is_list and kind.columns_of_list else kind.columns
    cells = [column.cell for column in columns or _DEFAULT_COLUMNS]
    is_pods = kind.resource == "pods"
    rows = []
    for item in items if kind.row_order is None else sorted(items, key=kind.row_order):
        row: Object = {"cells": [cell(item, now_ms) for cell in cells]}
        if is_pods:
            conditions = _COMPLETED.get((item.get("status") or {}).get("phase", ""))
            if conditions:
                row["conditions"] = conditions
        row["object"] = _included(item, form, include)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": form.api_version,
        "metadata": metadata,
        "columnDefinitions": _definitions(kind) if has_columns else None,
        "rows": rows,
    }


def _included(item: Object, form: Form, include: str) -> Any:
    if include == "None":
        return None
    if include != "Object":
        return partial(item, form)
    return in_type_order(item)


def partial(item: Object, form: Form) -> Object:
    """Return the metadata of an object as an object of its own."""
    metadata = metadata_in_type_order(item["metadata"])
    return {"kind": "PartialObjectMetadata", "apiVersion": form.api_version, "metadata": metadata}
