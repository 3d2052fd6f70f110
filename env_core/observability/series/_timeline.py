"""Which objects there were when, as far back as the store's log of changes goes."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

from env_core.apiserver.store import Store, WatchEvent
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

FOREVER_MS: Final = 1 << 62


class Version(NamedTuple):
    """An object as it was in [from, until)."""

    from_ms: int
    until_ms: int
    object: Object


class Timeline:
    """The versions of all objects that are still known."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._revisions = [revision for revision, _ in store.stamps()]
        self._times = [at_ms for _, at_ms in store.stamps()]
        self._changes: dict[str, list[WatchEvent]] = {}
        for event in store.kept():
            self._changes.setdefault(event.ref.resource, []).append(event)

    def _at_ms(self, revision: int) -> int:
        index = bisect_right(self._revisions, revision) - 1
        return self._times[index] if index >= 0 else 0

    def versions(self, resource: str) -> list[list[Version]]:
        """Return the versions of each object of a resource, by namespace and name, each oldest first.

        The oldest version that the log tells of, or the only one, counts from the object's creation.
        """
        found: dict[tuple[str, str], list[Version]] = {}
        for event in self._changes.get(resource, ()):
            key = event.ref.namespace, event.ref.name
            at_ms = self._at_ms(event.revision)
            rows = found.setdefault(key, [])
            if rows and rows[-1].until_ms == FOREVER_MS:
                rows[-1] = rows[-1]._replace(until_ms=at_ms)
            elif not rows and event.old is not None:
                rows.append(Version(_created_ms(event.old), at_ms, event.old))
            if event.type != "DELETED":
                rows.append(Version(at_ms, FOREVER_MS, event.object))
        for obj in self._store.list(resource):
            metadata = obj["metadata"]
            key = metadata.get("namespace", ""), metadata["name"]
            if key not in found:
                found[key] = [Version(_created_ms(obj), FOREVER_MS, obj)]
        return [found[key] for key in sorted(found)]


def _created_ms(obj: Object) -> int:
    created = obj["metadata"].get("creationTimestamp")
    return parse_ms(created) if created else 0
