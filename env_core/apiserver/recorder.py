"""Events as client-go records them: aggregation of similar ones, a spam filter, counts.

Source: client-go tools/record (events_cache.go) and tools/events; what it does is in
tests/golden/kubelet/timelines.jsonl.gz and tests/golden/l2/flows (FINDINGS: 25 events per source, object and
type, then one per 300 s; from the 10th distinct message on `(combined from similar events): …`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.sim.loop import EventLoop
from env_core.sim.state import State
from env_core.sim.table import Table
from env_core.sim.timefmt import rfc3339, rfc3339_micro
from env_core.world import Object

SIMILAR_MAX = 10
SIMILAR_WINDOW_MS = 600_000
SPAM_BURST = 25
SPAM_REFILL_MS = 300_000
COMBINED = "(combined from similar events): "


class _Similar(NamedTuple):
    messages: tuple[str, ...]
    last_ms: int


class _Bucket(NamedTuple):
    tokens: float
    last_ms: int


class _Seen(NamedTuple):
    name: str
    times: int
    first: str


class EventRecorder:
    """Writes events about objects, as one component (and, for kubelets, one host)."""

    __slots__ = ("_api", "_component", "_host", "_loop", "_seen", "_similar", "_spam", "clock")

    def __init__(self, api: ApiClient, state: State, loop: EventLoop, *, component: str, host: str) -> None:
        self._api = api
        self._loop = loop
        self.clock: Callable[[], int] = lambda: loop.now_ms
        """What time the component takes it to be."""
        self._component = component
        self._host = host
        self._similar = state.table("events/similar", is_quiet=True)
        self._spam = state.table("events/spam", is_quiet=True)
        self._seen = state.table("events/seen", is_quiet=True)

    def event(self, about: Object, kind: str, reason: str, message: str, field_path: str = "") -> None:
        """Record a core/v1 style event. `kind` is Normal or Warning; `about` any object, or a reference."""
        reference = reference_to(about, field_path)
        now_ms = self._loop.now_ms
        source = (self._component, self._host, reference.get("uid") or reference["name"], reference["kind"])
        message, local = self._aggregated((*source, kind, reason), message, now_ms)
        # The spam filter comes last upstream, after the count has gone up; the order shows in counts.
        key = (*source, field_path, kind, reason, local)
        seen: _Seen | None = self._seen.get(key)
        clock_ms = self.clock()
        stamp = rfc3339(clock_ms)
        namespace = reference.get("namespace") or "default"
        if seen is None:
            seen = _Seen(f"{reference['name']}.{_suffix(clock_ms, self._seen)}", 1, stamp)
        else:
            seen = _Seen(seen.name, seen.times + 1, seen.first)
        self._seen[key] = seen
        if not self._may_pass((*source, kind), now_ms):
            return
        if seen.times > 1:
            patch = {"count": seen.times, "lastTimestamp": stamp, "message": message}
            try:
                self._api.patch("events", namespace, seen.name, patch, STRATEGIC_PATCH)
                return
            except StatusError as error:
                if error.code != 404:
                    self._drop(error)
                    return
        self._create(
            namespace,
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": seen.name, "namespace": namespace},
                "involvedObject": reference,
                "reason": reason,
                "message": message,
                "source": {"component": self._component, "host": self._host}
                if self._host
                else {"component": self._component},
                "firstTimestamp": seen.first,
                "lastTimestamp": stamp,
                "count": seen.times,
                "type": kind,
                "eventTime": None,
                # Events that stand for several have no reporter (probe-varying-output).
                "reportingComponent": "" if local == COMBINED else self._component,
                "reportingInstance": "" if local == COMBINED else self._host,
            },
        )

    def event_v1(
        self, about: Object, kind: str, reason: str, action: str, note: str, related: Object | None = None
    ) -> None:
        """Record an events.k8s.io/v1 style event (the scheduler's): no count, but a series when it repeats."""
        reference = reference_to(about, "")
        # The same happening on the same version of the object is a series; the note does not count.
        identity = (reference.get("uid") or reference["name"], reference.get("resourceVersion", ""))
        key = ("v1", self._component, action, reason, kind, *identity)
        namespace = reference.get("namespace") or "default"
        clock_ms = self.clock()
        stamp = rfc3339_micro(clock_ms)
        seen: _Seen | None = self._seen.get(key)
        if seen is not None:
            self._seen[key] = _Seen(seen.name, seen.times + 1, seen.first)
            if seen.times > 1:
                return  # Upstream counts on in memory and writes the series again only much later.
            patch = {"series": {"count": 2, "lastObservedTime": stamp}}
            try:
                self._api.patch("events", namespace, seen.name, patch, STRATEGIC_PATCH)
                return
            except StatusError as error:
                if error.code != 404:
                    self._drop(error)
                    return
        seen = _Seen(f"{reference['name']}.{_suffix(clock_ms, self._seen)}", 1, stamp)
        self._seen[key] = seen
        body: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": seen.name, "namespace": namespace},
            "involvedObject": reference,
            "reason": reason,
            "message": note,
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": kind,
            "eventTime": stamp,
            "action": action,
            "reportingComponent": self._component,
            "reportingInstance": f"{self._component}-control-plane",
        }
        if related is not None:
            body["related"] = reference_to(related, "")
        self._create(namespace, body)

    def _create(self, namespace: str, body: Object) -> None:
        try:
            self._api.create("events", namespace, body)
        except StatusError as error:
            self._drop(error)

    @staticmethod
    def _drop(error: StatusError) -> None:
        # A recorder gives up on refusals that will not change (a namespace that is going away), as upstream does.
        if error.code not in (403, 404, 409, 422):
            raise error

    def _aggregated(self, group: tuple[str, ...], message: str, now_ms: int) -> tuple[str, str]:
        similar: _Similar | None = self._similar.get(group)
        if similar is None or now_ms - similar.last_ms > SIMILAR_WINDOW_MS:
            similar = _Similar((), now_ms)
        messages = similar.messages if message in similar.messages else (*similar.messages, message)
        if len(messages) < SIMILAR_MAX:
            self._similar[group] = _Similar(messages, now_ms)
            return message, message
        self._similar[group] = _Similar(messages[: SIMILAR_MAX - 1], now_ms)
        return COMBINED + message, COMBINED

    def _may_pass(self, key: tuple[str, ...], now_ms: int) -> bool:
        bucket: _Bucket | None = self._spam.get(key)
        tokens = (
            SPAM_BURST
            if bucket is None
            else min(SPAM_BURST, bucket.tokens + (now_ms - bucket.last_ms) / SPAM_REFILL_MS)
        )
        self._spam[key] = _Bucket(tokens - 1 if tokens >= 1 else tokens, now_ms)
        return tokens >= 1


def _suffix(now_ms: int, seen: Table[Any, Any]) -> str:
    # Upstream names events after the nanosecond; a millisecond clock adds the recorder's own count to stay unique.
    return f"{now_ms * 1_000_000 + len(seen):x}"


def reference_to(about: Object, field_path: str) -> Object:
    """Return the ObjectReference of an object (a reference is returned with its field path set)."""
    metadata = about.get("metadata")
    if metadata is None:
        reference = dict(about)
    else:
        reference = {"kind": about["kind"], "name": metadata["name"], "apiVersion": about["apiVersion"]}
        for key in ("namespace", "uid", "resourceVersion"):
            if metadata.get(key):
                reference[key] = metadata[key]
    if field_path:
        reference["fieldPath"] = field_path
    return reference
