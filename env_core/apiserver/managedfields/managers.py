"""The managers of an object's fields: what each holds, what an update changes about that, their form in the metadata.

Source: k8s.io/apimachinery pkg/util/managedfields/internal (managedfields.go, managedfieldsupdater.go, stripmeta.go,
capmanagers.go, skipnonapplied.go); structured-merge-diff merge/update.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from env_core.apiserver.managedfields.fieldset import (
    EMPTY,
    FieldSet,
    difference,
    from_fields_v1,
    set_of,
    to_fields_v1,
    union,
)
from env_core.apiserver.managedfields.walking import Comparison
from env_core.objects.jsonout import quote
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

APPLY: Final = "Apply"
UPDATE: Final = "Update"
UPDATE_MANAGERS_MAX: Final = 10
ANCIENT: Final = "ancient-changes"
UNKNOWN: Final = "unknown"

_STRIPPED: Final = set_of(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
            "resourceVersion",
        )
    ),
)  # fmt: skip
"""What nobody manages."""


class Manager(NamedTuple):
    """Who holds fields. The API version tells updaters apart; appliers have the same entry in all versions."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    @property
    def identifier(self) -> str:
        """The JSON text by which managers are told apart, and sorted in messages."""
        parts = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version, "subresource": self.subresource}  # fmt: skip
        return "{" + ",".join(f"{quote(key)}:{quote(value)}" for key, value in parts.items() if value) + "}"


def manager_of(name: str, operation: str, api_version: str, subresource: str) -> Manager:
    """Return the manager of a request."""
    return Manager(name or UNKNOWN, operation, "" if operation == APPLY else api_version, subresource)


class Held(NamedTuple):
    """What a manager holds: a set of fields in an API version, since when."""

    fields: FieldSet
    api_version: str
    time: str = ""


Managed = Mapping[Manager, Held]
"""All managers of an object. Never changed once it is made."""


def stripped(fields: FieldSet) -> FieldSet:
    """Return the set without what nobody manages."""
    return difference(fields, _STRIPPED)


def lose(managed: Managed, change: Comparison) -> dict[Manager, Held]:
    """Return the managers after a change by somebody else: what was changed or removed is no longer theirs."""
    taken = union(change.modified, change.added)
    left: dict[Manager, Held] = {}
    for manager, held in managed.items():
        fields = difference(difference(held.fields, taken), change.removed)
        if fields:
            left[manager] = held if fields is held.fields else held._replace(fields=fields)
    return left


def updated(managed: Managed, change: Comparison, manager: Manager, api_version: str, time: str) -> Managed:
    """Return the managers after `manager` changed an object by an update."""
    left = lose(managed, change)
    fields = stripped(union(change.modified, change.added))
    if fields:
        before = left.get(manager)
        left[manager] = Held(union(fields, before.fields) if before else fields, api_version, time)
    return capped(left)


def capped(managed: dict[Manager, Held]) -> Managed:
    """Return the managers with the oldest updates merged into one entry, when there are too many updaters."""
    updaters = [manager for manager in managed if manager.operation != APPLY]
    count = len(updaters)
    if count <= UPDATE_MANAGERS_MAX:
        return managed
    first: dict[str, Manager] = {}
    for manager in sorted(updaters, key=lambda each: (_seconds(managed[each].time), each.identifier)):
        if count <= UPDATE_MANAGERS_MAX:
            break
        held = managed[manager]
        version = held.api_version
        bucket = Manager(ANCIENT, UPDATE, version)
        if version not in first:
            first[version] = manager
            continue
        if bucket not in managed:
            managed[bucket] = managed.pop(first[version])
        del managed[manager]
        # The newer of the times, as the entries come in the order of time.
        managed[bucket] = Held(union(held.fields, managed[bucket].fields), version, held.time)
        count -= 1
    return managed


def _seconds(time: str) -> int:
    return parse_ms(time) // 1000 if time else 0


def encoded(managed: Managed) -> list[Object]:
    """Return the metadata's managedFields: appliers before updaters, then by time, name, version, subresource."""
    rows = sorted(
        managed.items(),
        key=lambda row: (
            row[0].operation, _seconds(row[1].time), row[0].name, row[1].api_version, row[0].subresource,
        ),
    )  # fmt: skip
    return [_entry(manager, held) for manager, held in rows]


def _entry(manager: Manager, held: Held) -> Object:
    entry: Object = {"manager": manager.name, "operation": manager.operation, "apiVersion": held.api_version}
    if held.time:
        entry["time"] = held.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = to_fields_v1(held.fields)
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def decoded(entries: Sequence[Any]) -> Managed:
    """Return the managers that a metadata's managedFields name.

    Raises:
        ValueError: for entries that are none.
    """
    managed: dict[Manager, Held] = {}
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        version = entry.get("apiVersion") or ""
        if not version:
            raise ValueError("apiVersion must not be empty")
        if entry.get("fieldsType") != "FieldsV1":
            raise ValueError("fieldsType must be FieldsV1")
        manager = Manager(
            entry.get("manager") or "",
            entry["operation"],
            "" if entry["operation"] == APPLY else version,
            entry.get("subresource") or "",
        )
        fields = from_fields_v1(entry.get("fieldsV1") or EMPTY)
        managed[manager] = Held(fields, version, entry.get("time") or "")
    return managed


def same_fields(left: Managed, right: Managed) -> bool:
    """Whether the same managers hold the same fields; since when does not count."""
    return left.keys() == right.keys() and all(
        held.fields == right[manager].fields and held.api_version == right[manager].api_version
        for manager, held in left.items()
    )


def is_reset(entries: Any) -> bool:
    """Whether a client asks to forget all managers: an empty list, or one empty entry."""
    return entries in ([], [{}])


def decoded_or_none(entries: Any) -> Managed:
    """Return the managers that a metadata's managedFields name, none at all when they are wrong."""
    try:
        return decoded(entries or ())
    except ValueError:
        return {}
