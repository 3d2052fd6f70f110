"""Watches: what has happened since a version, event by event, in the form that the client wants.

A watch is a cursor in the store's log. Whoever serves it polls it; nothing happens in between, and nothing wakes it.

Source: k8s.io/apiserver pkg/endpoints/handlers/watch.go and pkg/storage/cacher; tests/golden/l2/facts/watches.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterator

from env_core.apiserver import errors, paging, reading
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import Write, with_managed_fields
from env_core.apiserver.request import ApiRequest
from env_core.apiserver.schema import schema_for
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import WatchEvent
from env_core.apiserver.typed import in_type_order, zero_value
from env_core.rest.conversion import reader
from env_core.rest.message import Headers
from env_core.rest.negotiation import Form
from env_core.rest.rendering import json_bytes
from env_core.rest.tables import partial, table
from env_core.world import Object

INITIAL_END = "k8s.io/initial-events-end"
BOOKMARK_MS = 60_000
"""How often a watch with bookmarks gets one, on the cluster's clock."""
LAST_BOOKMARK_MS = 2_000
"""How long before its end a watch gets its last bookmark."""
TIMER_MS = 1_000
TIMEOUT_S = 1_800
"""How long a watch lasts that does not say; a real server draws from 30 to 60 minutes."""


class Watch:
    """One open watch."""

    __slots__ = (
        "_bookmark_at_ms",
        "_convert",
        "_end_ms",
        "_form",
        "_has_bookmarks",
        "_has_columns",
        "_include",
        "_kind",
        "_matches",
        "_queue",
        "_request",
        "_revision",
        "_server",
        "_stored",
        "headers",
        "is_over",
    )

    def __init__(
        self,
        server: ApiServer,
        request: ApiRequest,
        kind: Kind,
        form: Form,
        *,
        headers: Headers,
        include: str = "",
        has_bookmarks: bool = False,
        sends_initial: bool | None = None,
        timeout_s: int = 0,
    ) -> None:
        """Open a watch.

        Raises:
            StatusError: for selectors and versions that are none.
        """
        options = request.options
        self.headers = headers
        self.is_over = False
        self._end_ms = server.loop.now_ms + (timeout_s or TIMEOUT_S) * 1000
        self._server = server
        self._request = request
        self._kind = kind
        self._form = form
        self._include = include
        self._has_bookmarks = has_bookmarks
        self._has_columns = False
        stored = None if kind.conversion is None else server.registry.by_resource(kind.conversion.resource)
        self._stored = stored or kind
        """The kind that the objects are stored as."""
        self._convert = reader(kind)
        self._bookmark_at_ms = self._next_bookmark_ms()
        self._matches = reading.matcher(kind, options.label_selector, options.field_selector)
        version = paging.version_of(options.resource_version)
        self._queue: list[bytes] = []
        self._revision = version
        if sends_initial or (sends_initial is None and version == 0):
            self._begin(is_marked=bool(sends_initial) and has_bookmarks)
        elif version == 0:
            self._revision = server.store.revision

    @property
    def namespace(self) -> str:
        """The namespace that is watched, "" for all."""
        return self._request.namespace if self._kind.is_namespaced else ""

    def poll(self) -> bytes:
        """Return the events since the last call as JSON lines, b"" when there are none.

        At the end of its time, on the cluster's clock, a watch is over.
        """
        queued, self._queue = self._queue, []
        if not self.is_over:
            queued.extend(self._new())
        return b"".join(queued)

    def _begin(self, *, is_marked: bool) -> None:
        store = self._server.store
        self._revision = store.revision
        options = self._request.options
        for item in reading.narrowed(self._server, self._stored, self.namespace, options.field_selector):
            if self._matches is None or self._matches(item):
                metadata = item["metadata"]
                where = (self._stored.resource, metadata.get("namespace", ""), metadata["name"])
                self._queue.append(self._line("ADDED", item, store.written(*where)))
        if is_marked:
            self._queue.append(self._bookmark({INITIAL_END: "true"}))
            self._bookmark_at_ms = self._server.loop.now_ms + TIMER_MS

    def _new(self) -> Iterator[bytes]:
        store = self._server.store
        now_ms = self._server.loop.now_ms
        if self._revision < store.revision:
            events = store.events_since(self._revision)
            if events is None:
                self.is_over = True
                yield self._error(
                    errors.gone("The resourceVersion for the provided watch is too old.").status
                )
                return
            self._revision = store.revision
            for event in events:
                line = self._seen(event)
                if line is not None:
                    yield line
        if self._has_bookmarks and now_ms >= self._bookmark_at_ms:
            self._bookmark_at_ms = self._next_bookmark_ms()
            yield self._bookmark({})
        if now_ms >= self._end_ms:
            self.is_over = True

    def _next_bookmark_ms(self) -> int:
        now_ms = self._server.loop.now_ms
        last_ms = self._end_ms - LAST_BOOKMARK_MS
        if now_ms < last_ms:
            return min(now_ms + BOOKMARK_MS, last_ms)
        # The cacher's timer goes once a second and is late by up to that, so the last one comes twice.
        return last_ms + TIMER_MS if now_ms < last_ms + TIMER_MS else self._end_ms + TIMER_MS

    def _seen(self, event: WatchEvent) -> bytes | None:
        """Return an event as the watch's selectors show it: what stops to match is deleted, what starts to is added."""
        ref = event.ref
        if ref.resource != self._stored.resource or (self.namespace and ref.namespace != self.namespace):
            return None
        matches = self._matches
        if matches is None:
            return self._line(event.type, event.object, event.written)
        is_now = event.type != "DELETED" and matches(event.object)
        was = event.old is not None and matches(event.old)
        if is_now:
            return self._line("MODIFIED" if was else "ADDED", event.object, event.written)
        if not was:
            return None
        if event.type == "DELETED":
            return self._line("DELETED", event.object, event.written)
        # What a selector no longer matches is shown as it was, with the version of the change.
        assert event.old is not None
        version = event.object["metadata"]["resourceVersion"]
        last = {**event.old, "metadata": {**event.old["metadata"], "resourceVersion": version}}
        return self._line("DELETED", last, event.written)

    def _line(self, event_type: str, obj: Object, written: Write | None) -> bytes:
        try:
            viewed = self._server.view(self._stored, obj)
        except errors.StatusError as error:  # of a conversion webhook
            self.is_over = True
            return self._error(error.status)
        obj = with_managed_fields(viewed, written)
        if self._convert is not None:
            obj = self._convert(obj)
        form = self._form
        if form.kind == "Table":
            version = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            shown = table(
                self._kind,
                form,
                [obj],
                version,
                self._server.loop.now_ms,
                include=self._include,
                has_columns=not self._has_columns,
            )
            self._has_columns = True
        elif form.kind:
            shown = partial(obj, form)
        else:
            shown = in_type_order(obj)
        return json_bytes({"type": event_type, "object": shown}) + b"\n"

    def _bookmark(self, annotations: Object) -> bytes:
        metadata: Object = {"resourceVersion": str(self._revision)}
        if annotations:
            metadata["annotations"] = annotations
        kind = self._kind
        form = self._form
        if form.kind == "Table":
            shown: Object = table(
                kind, form, [], {"resourceVersion": str(self._revision)}, 0, has_columns=False
            )
            if annotations:
                bare = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}
                row = {"cells": [None for _ in kind.columns], "object": partial(bare, form)}
                shown = {**shown, "rows": [row]}
        elif form.kind:
            shown = {"kind": "PartialObjectMetadata", "apiVersion": form.api_version, "metadata": metadata}
        else:
            struct = schema_for(kind.group, kind.version, kind.kind)
            zero = zero_value(struct) if struct is not None else {}
            shown = {"kind": kind.kind, "apiVersion": kind.api_version, **zero, "metadata": metadata}
        return json_bytes({"type": "BOOKMARK", "object": shown}) + b"\n"

    @staticmethod
    def _error(status: Object) -> bytes:
        return json_bytes({"type": "ERROR", "object": in_type_order(status)}) + b"\n"
