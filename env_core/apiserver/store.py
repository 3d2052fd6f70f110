"""The object store: copy-on-write buckets, indexes, a bounded watch log; it forks in microseconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from env_core.apiserver.managedfields.history import Write
from env_core.world import Object, Objects

LOG_MAX = 2048
"""Watch events kept; a watch from before the oldest kept one is told 410 Gone."""
_OWN_LOG_MAX = 32
"""Of these, how many a fork copies at most; it shares the older ones."""
FIRST_REVISION = 100
"""The revision of an empty store."""


class ObjectRef(NamedTuple):
    """Where an object lies. `resource` is the group-qualified plural."""

    resource: str
    namespace: str
    name: str


class WatchEvent(NamedTuple):
    """One change. For DELETED, `object` is the last state, with the revision of the deletion.

    `written` tells who manages the object's fields.
    """

    revision: int
    type: str
    ref: ObjectRef
    object: Object
    old: Object | None
    written: Write | None = None


Stamp = tuple[int, int]
"""A revision, and when it was written (milliseconds since the epoch)."""
Subscriber = Callable[[WatchEvent], None]


def _revision_of(event: WatchEvent) -> int:
    return event.revision


def _directory(namespace: str) -> str:
    """Return what a namespace's keys begin with: "shop-db/" sorts before "shop/"."""
    return f"{namespace}/"


def _owner_uids(obj: Object) -> list[str]:
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences", ())]


def _node_of(obj: Object) -> list[str]:
    node = obj["spec"].get("nodeName")
    return [node] if node else []


def _involved_uid(obj: Object) -> list[str]:
    uid = obj["involvedObject"].get("uid")
    return [uid] if uid else []


def _service_of(obj: Object) -> list[str]:
    metadata = obj["metadata"]
    service = metadata.get("labels", {}).get("kubernetes.io/service-name")
    return [f"{metadata['namespace']}/{service}"] if service else []


OWNER = "owner"
_INDEXES: dict[str, tuple[tuple[str, Callable[[Object], list[str]]], ...]] = {
    "pods": (("node", _node_of),),
    "events": (("involved", _involved_uid),),
    "endpointslices.discovery.k8s.io": (("service", _service_of),),
}


class Store:
    """Every object of one cluster, by resource, namespace and name.

    Objects go in and come out by reference and are never mutated: a write puts a new object. Revisions
    rise by one with each write and are the objects' resourceVersions.
    """

    __slots__ = (
        "_buckets", "_index", "_last", "_log", "_old_log", "_old_stamps", "_owned", "_stamps", "_writes", "revision",
        "subscriber",
    )  # fmt: skip

    def __init__(self) -> None:
        self.revision = FIRST_REVISION
        self.subscriber: Subscriber | None = None
        self._buckets: dict[str, dict[str, dict[str, Object]]] = {}
        self._writes: dict[str, dict[str, dict[str, Write]]] = {}
        self._index: dict[str, dict[str, tuple[ObjectRef, ...]]] = {}
        self._old_log: tuple[WatchEvent, ...] = ()
        """The older changes, which forks share."""
        self._log: list[WatchEvent] = []
        self._old_stamps: tuple[Stamp, ...] = ()
        self._stamps: list[Stamp] = []
        self._owned: set[tuple[str, str]] = set()
        self._last: dict[str, int] = {}

    # Reading

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return the object, or None."""
        spaces = self._buckets.get(resource)
        if spaces is None:
            return None
        names = spaces.get(namespace)
        return None if names is None else names.get(name)

    def written(self, resource: str, namespace: str, name: str) -> Write | None:
        """Return the newest node of an object's history, None for one that nobody was seen to write."""
        spaces = self._writes.get(resource)
        names = None if spaces is None else spaces.get(namespace)
        return None if names is None else names.get(name)

    def list(self, resource: str, namespace: str = "") -> Objects:
        """Return the objects sorted by key, "namespace/name"; those of all namespaces for ""."""
        spaces = self._buckets.get(resource)
        if not spaces:
            return []
        if namespace:
            names = spaces.get(namespace)
            return [names[name] for name in sorted(names)] if names else []
        ordered = sorted(spaces, key=_directory) if len(spaces) > 1 else spaces
        return [spaces[space][name] for space in ordered for name in sorted(spaces[space])]

    def count(self, resource: str, namespace: str = "") -> int:
        """Return how many objects `list` would return."""
        spaces = self._buckets.get(resource, {})
        if namespace:
            return len(spaces.get(namespace, ()))
        return sum(map(len, spaces.values()))

    def resources(self) -> tuple[str, ...]:
        """Return the group-qualified plurals that have objects, sorted."""
        return tuple(sorted(resource for resource, spaces in self._buckets.items() if any(spaces.values())))

    def indexed(self, index: str, value: str) -> Objects:
        """Return the objects under `value` of an index, in the order in which they were added.

        Indexes: "owner" (uid of any owner, over all resources), "node" (pods by node name), "involved"
        (events by the uid of what they are about), "service" (endpoint slices by "namespace/service").
        """
        rows = self._index.get(index)
        if rows is None:
            return []
        return [self._buckets[ref.resource][ref.namespace][ref.name] for ref in rows.get(value, ())]

    def refs(self, index: str, value: str) -> tuple[ObjectRef, ...]:
        """Return the references under `value` of an index."""
        return self._index.get(index, {}).get(value, ())

    def owned(self, uid: str, resource: str = "") -> Objects:
        """Return the objects that name `uid` as an owner, of one resource if given."""
        refs = self._index.get(OWNER, {}).get(uid, ())
        buckets = self._buckets
        return [
            buckets[ref.resource][ref.namespace][ref.name]
            for ref in refs
            if not resource or ref.resource == resource
        ]

    def everything(self) -> Iterator[tuple[ObjectRef, Object]]:
        """Yield every object in a fixed order (resource, namespace, name)."""
        for resource in sorted(self._buckets):
            for obj in self.list(resource):
                metadata = obj["metadata"]
                yield ObjectRef(resource, metadata.get("namespace", ""), metadata["name"]), obj

    def last_write(self, resource: str) -> int:
        """Return the revision of the newest write to a resource, 0 if there was none."""
        return self._last.get(resource, 0)

    def newest_write(self, resources: tuple[str, ...]) -> int:
        """Return the revision of the newest write to any of the resources, 0 if there was none."""
        last = self._last
        return max([last.get(resource, 0) for resource in resources])

    def events_since(self, revision: int) -> tuple[WatchEvent, ...] | None:
        """Return the changes after `revision`, or None when some of them are no longer kept."""
        own = self._log
        if own and own[0].revision <= revision + 1:
            return tuple(own[bisect_right(own, revision, key=_revision_of) :])
        log = (*self._old_log, *own)
        # Before its first revision the store was empty, so nothing is missing from there.
        if log and log[0].revision > max(revision, FIRST_REVISION) + 1:
            return None
        return log[bisect_right(log, revision, key=_revision_of) :]

    def kept(self) -> tuple[WatchEvent, ...]:
        """Return all changes that are still kept, oldest first."""
        return (*self._old_log, *self._log)

    def stamp(self, at_ms: int) -> None:
        """Say that the newest write, and those up to the next stamp, are of this time."""
        stamps = self._stamps
        if stamps and stamps[-1][1] == at_ms:
            return
        stamps.append((self.revision, at_ms))
        if len(stamps) + len(self._old_stamps) > LOG_MAX:
            self._old_stamps = (*self._old_stamps, *stamps)[LOG_MAX // 2 :]
            self._stamps = []

    def stamps(self) -> tuple[Stamp, ...]:
        """Return the stamps that are still kept, oldest first."""
        return (*self._old_stamps, *self._stamps)

    # Writing

    def put(self, resource: str, obj: Object, written: Write | None = None) -> Object:
        """Store `obj` (a new version or a new object) and return it with its resourceVersion.

        `written` says who wrote it; without it the managers of its fields stay as they are.
        """
        self.revision += 1
        sent = obj
        metadata = obj["metadata"]
        obj = {**obj, "metadata": {**metadata, "resourceVersion": str(self.revision)}}
        ref = ObjectRef(resource, metadata.get("namespace", ""), metadata["name"])
        names, writes = self._writable(ref)
        old = names.get(ref.name)
        names[ref.name] = obj
        before = writes.get(ref.name)
        if written is None:
            written = before
        else:
            if written.sent is sent:
                written.sent = obj  # so that only one of them is kept
            written.follow(before, old)
            writes[ref.name] = written
        self._reindex(ref, old, obj)
        kind = "ADDED" if old is None else "MODIFIED"
        self._announce(WatchEvent(self.revision, kind, ref, obj, old, written))
        return obj

    def preload(self, resource: str, objects: Iterable[Object]) -> None:
        """Hold objects as if they had always been there: under the first revision, announced to nobody.

        Only for resources that no index covers and objects that nobody owns.
        """
        for obj in objects:
            metadata = obj["metadata"]
            ref = ObjectRef(resource, metadata.get("namespace", ""), metadata["name"])
            self._writable(ref)[0][ref.name] = {**obj, "metadata": {**metadata, "resourceVersion": "1"}}

    def remove(self, resource: str, namespace: str, name: str) -> Object | None:
        """Delete the object and return its last state with the deletion's resourceVersion."""
        ref = ObjectRef(resource, namespace, name)
        if self.get(resource, namespace, name) is None:
            return None
        names, writes = self._writable(ref)
        old = names.pop(name)
        written = writes.pop(name, None)
        self.revision += 1
        self._reindex(ref, old, None)
        last = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.revision)}}
        self._announce(WatchEvent(self.revision, "DELETED", ref, last, old, written))
        return last

    def _writable(self, ref: ObjectRef) -> tuple[dict[str, Object], dict[str, Write]]:
        """Return the objects and the histories of a namespace, for writing."""
        key = (ref.resource, ref.namespace)
        if key in self._owned:
            return self._buckets[ref.resource][ref.namespace], self._writes[ref.resource][ref.namespace]
        if (ref.resource, "*") not in self._owned:
            self._buckets[ref.resource] = dict(self._buckets.get(ref.resource, {}))
            self._writes[ref.resource] = dict(self._writes.get(ref.resource, {}))
            self._owned.add((ref.resource, "*"))
        spaces, histories = self._buckets[ref.resource], self._writes[ref.resource]
        names = spaces[ref.namespace] = dict(spaces.get(ref.namespace, {}))
        writes = histories[ref.namespace] = dict(histories.get(ref.namespace, {}))
        self._owned.add(key)
        return names, writes

    def _reindex(self, ref: ObjectRef, old: Object | None, new: Object | None) -> None:
        before = _owner_uids(old) if old is not None else []
        after = _owner_uids(new) if new is not None else []
        if before != after:
            self._move(OWNER, ref, before, after)
        for index, values_of in _INDEXES.get(ref.resource, ()):
            before = values_of(old) if old is not None else []
            after = values_of(new) if new is not None else []
            if before != after:
                self._move(index, ref, before, after)

    def _move(self, index: str, ref: ObjectRef, before: Sequence[str], after: Sequence[str]) -> None:
        if ("index", index) not in self._owned:
            self._index[index] = dict(self._index.get(index, {}))
            self._owned.add(("index", index))
        rows = self._index[index]
        for value in before:
            if value not in after:
                rest = tuple(kept for kept in rows[value] if kept != ref)
                if rest:
                    rows[value] = rest
                else:
                    del rows[value]
        for value in after:
            if value not in before:
                rows[value] = (*rows.get(value, ()), ref)

    def _announce(self, event: WatchEvent) -> None:
        self._last[event.ref.resource] = event.revision
        self._log.append(event)
        if len(self._log) + len(self._old_log) > LOG_MAX:
            self._old_log = (*self._old_log, *self._log)[LOG_MAX // 2 :]
            self._log = []
        if self.subscriber is not None:
            self.subscriber(event)

    def fork(self) -> Store:
        """Return a store with the same objects and log; neither sees the other's later writes."""
        copy = Store()
        copy.revision = self.revision
        copy._buckets = dict(self._buckets)
        copy._writes = dict(self._writes)
        copy._index = dict(self._index)
        if len(self._log) > _OWN_LOG_MAX:
            self._old_log = (*self._old_log, *self._log)
            self._log = []
        if len(self._stamps) > _OWN_LOG_MAX:
            self._old_stamps = (*self._old_stamps, *self._stamps)
            self._stamps = []
        copy._old_log = self._old_log
        copy._log = self._log.copy()
        copy._old_stamps = self._old_stamps
        copy._stamps = self._stamps.copy()
        copy._last = self._last.copy()
        self._owned = set()
        return copy


def dump(store: Store) -> dict[str, Any]:
    """Return every object as one JSON-shaped value, for comparisons in tests."""
    return {f"{ref.resource}/{ref.namespace}/{ref.name}": obj for ref, obj in store.everything()}
