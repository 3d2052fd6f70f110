"""Server-side apply: a configuration merged into the live object on behalf of one of its managers.

Source: structured-merge-diff merge/update.go (Apply, prune); k8s.io/apimachinery
pkg/util/managedfields/internal (structuredmerge.go, lastappliedmanager.go, skipnonapplied.go, conflict.go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from env_core.apiserver.managedfields.fieldset import (
    EMPTY,
    FieldSet,
    difference,
    has_path,
    intersection,
    paths_of,
    union,
    without,
)
from env_core.apiserver.managedfields.managers import (
    UPDATE,
    Held,
    Managed,
    Manager,
    lose,
    stripped,
    updated,
)
from env_core.apiserver.managedfields.mergetypes import MergeType
from env_core.apiserver.managedfields.merging import merged
from env_core.apiserver.managedfields.paths import Path, path_text
from env_core.apiserver.managedfields.walking import (
    Comparison,
    compare,
    fields_of,
    with_named_fields,
    without_fields,
)
from env_core.objects import gojson
from env_core.objects.problems import quoted
from env_core.objects.yamlin import DEPTH_MAX, bracket_depth
from env_core.world import Object

BEFORE_FIRST_APPLY: Final = "before-first-apply"
KUBECTL: Final = "kubectl"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


class Conflict(NamedTuple):
    """A field that another manager holds and that the configuration would change."""

    manager: Manager
    path: Path


class ConflictError(Exception):
    """The configuration changes fields of others. `conflicts` are in the order of managers, then paths."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        super().__init__(_message(conflicts))
        self.conflicts = conflicts

    @property
    def causes(self) -> list[Object]:
        """The causes that go into the Status."""
        return [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {manager_text(conflict.manager)}",
                "field": path_text(conflict.path),
            }
            for conflict in self.conflicts
        ]


def manager_text(manager: Manager) -> str:
    """Return a manager as conflicts name it."""
    text = quoted(manager.name)
    if manager.subresource:
        text += f" with subresource {quoted(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == UPDATE else text


def _message(conflicts: list[Conflict]) -> str:
    if len(conflicts) == 1:
        only = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {manager_text(only.manager)}: {path_text(only.path)}"
    lines: list[str] = []
    previous: Manager | None = None
    for manager, path in conflicts:
        if manager != previous:
            lines.append(f"conflicts with {manager_text(manager)}:")
            previous = manager
        lines.append(f"- {path_text(path)}")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Application:
    """One apply: a configuration in a version, by a manager. `ignored` are top-level elements that it may not set."""

    kind: MergeType
    config: Object
    manager: Manager
    api_version: str
    ignored: tuple[str, ...] = ()
    is_forced: bool = False


class Applied(NamedTuple):
    """The merged object, None when it is as it was, and the managers after the apply."""

    object: Object | None
    managed: Managed


def apply(application: Application, live: Object, managed: Managed, time: str) -> Applied:
    """Merge a configuration into the live object.

    What the manager applied before and does not apply now goes, unless somebody else holds it. `kubectl` takes over
    what client-side apply set, as far as it still is as it was.

    Raises:
        ConflictError: when it would change what others hold, unless it is forced.
    """
    try:
        return _applied(application, live, managed, time, is_forced=application.is_forced)
    except ConflictError as error:
        if application.manager.name != KUBECTL:
            raise
        allowed = _last_applied(application, live)
        left = [conflict for conflict in error.conflicts if not has_path(allowed, conflict.path)]
        if left:
            raise ConflictError(left) from None
        return _applied(application, live, managed, time, is_forced=True)


def adopted(
    kind: MergeType, empty: Object, live: Object, api_version: str, ignored: tuple[str, ...], time: str
) -> Managed:
    """Return the managers of an object that was never tracked, as the first apply finds it.

    `empty` is the object of its kind that has nothing set.
    """
    change = visible(compare(kind, empty, live), ignored)
    return updated({}, change, Manager(BEFORE_FIRST_APPLY, UPDATE, api_version), api_version, time)


def visible(change: Comparison, ignored: tuple[str, ...]) -> Comparison:
    """Return a comparison without the elements that a request may not set."""
    return Comparison(*(without(fields, *ignored) for fields in change)) if ignored else change


def _applied(
    application: Application, live: Object, managed: Managed, time: str, *, is_forced: bool
) -> Applied:
    kind, manager = application.kind, application.manager
    result = merged(kind, live, application.config)
    before = managed.get(manager)
    fields = without(fields_of(kind, application.config), *application.ignored)
    mine = Held(fields, application.api_version, before.time if before else "")
    everyone = {**managed, manager: mine}
    if before is not None and before.fields:
        result = _pruned(kind, result, before.fields, everyone)
    change = visible(compare(kind, live, result), application.ignored)
    others = {other: held for other, held in everyone.items() if other != manager}
    if not is_forced:
        conflicts = _conflicts(others, change)
        if conflicts:
            raise ConflictError(conflicts)
    after = lose(others, change)
    is_changed = result != live
    own = stripped(fields)
    if own:
        after[manager] = mine._replace(fields=own, time=time if is_changed else mine.time)
    return Applied(result if is_changed else None, after)


def _conflicts(others: Managed, change: Comparison) -> list[Conflict]:
    taken = union(change.modified, change.added)
    return [
        Conflict(other, path)
        for other in sorted(others, key=lambda each: each.identifier)
        for path in paths_of(intersection(others[other].fields, taken))
    ]


def _pruned(kind: MergeType, result: Any, before: FieldSet, everyone: Managed) -> Any:
    """Return the merged object without what the manager gave up and nobody else holds."""
    last = with_named_fields(kind, before)
    pruned = without_fields(kind, result, last)
    held: FieldSet = EMPTY
    for each in everyone.values():
        held = union(held, each.fields)
    there = with_named_fields(kind, fields_of(kind, result))
    kept = union(with_named_fields(kind, fields_of(kind, pruned)), with_named_fields(kind, held))
    pruned = without_fields(kind, result, difference(there, kept))
    gone = difference(there, with_named_fields(kind, fields_of(kind, pruned)))
    return without_fields(kind, result, intersection(gone, last))


def _last_applied(application: Application, live: Object) -> FieldSet:
    """Return the fields that client-side apply set and that nobody has changed since."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED) or ""
    try:
        last = gojson.loads(text) if text and bracket_depth(text) <= DEPTH_MAX else None
    except ValueError:
        return EMPTY
    if not isinstance(last, dict) or last.get("apiVersion") != application.api_version:
        return EMPTY
    fields = fields_of(application.kind, last)
    for changed in compare(application.kind, last, live):
        fields = difference(fields, changed)
    return fields
