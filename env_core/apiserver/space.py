"""What etcd takes: no request above its bound, and no more than its quota, of objects and of what they were before.

Parts of the cluster write freely: what they write is bounded by their own work, and a full etcd would stop them all.

Source: etcd's "System limits" (1.5 MiB a request; its quota is 2 GiB by default, here far less) and its client's texts in
api/v3rpc/rpctypes/error.go. The API server answers what is no API error with 500 and the text alone (k8s.io/apiserver
pkg/endpoints/handlers/responsewriters/status.go ErrorToAPIStatus). Unrecorded.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.apiserver import errors
from env_core.apiserver.request import Identity
from env_core.apiserver.store import LOG_MAX, ObjectRef, Store
from env_core.objects.jsonout import json_size
from env_core.world import Object

REQUEST_BYTES_MAX: Final = 3 * 512 * 1024
QUOTA_BYTES: Final = 32 * 1024 * 1024
_COMPACTION: Final = 64
"""Revisions between two looks at what is no longer kept."""


class _Stored(NamedTuple):
    revision: int
    ref: ObjectRef
    size: int


class Space:
    """What those who are no part of the cluster have stored, in bytes of JSON."""

    __slots__ = ("_compacted", "_stored", "_used")

    def __init__(self) -> None:
        self._stored: list[_Stored] = []
        self._used = 0
        self._compacted = 0

    def take(self, store: Store, identity: Identity, ref: ObjectRef, obj: Object) -> None:
        """Make room for an object that is about to be stored.

        Raises:
            StatusError: 500, in etcd's words, when there is none.
        """
        if identity.name.startswith("system:"):
            return
        size = json_size(obj)
        if size > REQUEST_BYTES_MAX:
            raise errors.StatusError(errors.status(500, "", "etcdserver: request is too large"))
        if self._used + size > QUOTA_BYTES and store.revision >= self._compacted + _COMPACTION:
            self._compact(store)
        if self._used + size > QUOTA_BYTES:
            raise errors.StatusError(errors.status(500, "", "etcdserver: mvcc: database space exceeded"))
        self._used += size
        self._stored.append(_Stored(store.revision + 1, ref, size))

    def _compact(self, store: Store) -> None:
        """Forget the versions that neither are the newest of an object nor can be watched any more."""
        newest = {entry.ref: entry.revision for entry in self._stored}
        oldest = store.revision - LOG_MAX
        self._stored = [
            entry
            for entry in self._stored
            if entry.revision > oldest
            or (newest[entry.ref] == entry.revision and store.get(*entry.ref) is not None)
        ]
        self._used = sum(entry.size for entry in self._stored)
        self._compacted = store.revision

    def fork(self) -> Space:
        """Return an independent copy."""
        copy = Space()
        copy._stored = self._stored.copy()
        copy._used = self._used
        copy._compacted = self._compacted
        return copy
