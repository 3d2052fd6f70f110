"""Pods that wait for a node: ready, backing off, or set aside until something changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from env_core.sim.table import Table

ACTIVE = "active"
BACKOFF = "backoff"
UNSCHEDULABLE = "unschedulable"
BINDING = "binding"
"""Has a node, but its claims are not bound yet."""

BACKOFF_FIRST_MS = 1_000
BACKOFF_MAX_MS = 10_000
FLUSH_MS = 300_000
"""A pod that was set aside is tried again after so long, whatever happened."""

Key = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """One waiting pod. `since_ms` is when it entered its state, `ready_ms` when its back-off ends."""

    uid: str
    priority: int
    state: str
    since_ms: int
    attempts: int = 0
    ready_ms: int = 0
    plugins: tuple[str, ...] = ()
    """Who rejected it."""
    nominated: str = ""
    """The node that preemption is clearing for it."""
    node: str = ""
    """The node that it is being bound to."""


def backoff_ms(attempts: int) -> int:
    """Return how long a pod waits after its attempt number `attempts` failed: 1 s, doubling up to 10 s.

    Source: k8s.io/kubernetes pkg/scheduler/backend/queue (podInitialBackoffSeconds, podMaxBackoffSeconds).

    Raises:
        ValueError: if `attempts` is not positive.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be positive, got {attempts}")
    return min(BACKOFF_FIRST_MS << min(attempts - 1, 10), BACKOFF_MAX_MS)


class Queue:
    """The scheduling queue, in copy-on-write tables; insertion order breaks ties."""

    __slots__ = ("_aside", "_promised", "_rows")

    def __init__(
        self, rows: Table[Key, Queued], aside: Table[Key, Queued], promised: Table[Key, Queued]
    ) -> None:
        self._rows = rows
        self._aside = aside
        self._promised = promised

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def get(self, key: Key) -> Queued | None:
        """Return the entry of a pod."""
        return self._rows.get(key)

    def aside(self) -> list[tuple[Key, Queued]]:
        """Return the pods that wait for a change: those set aside and those that wait for their volumes."""
        return self._aside.items() if len(self._aside) else []

    def promised(self) -> list[tuple[Key, Queued]]:
        """Return the pods that have a node in prospect: nominated to it, or being bound to it."""
        return self._promised.items() if len(self._promised) else []

    def add(self, key: Key, uid: str, priority: int, now_ms: int, nominated: str = "") -> None:
        """Make a pod ready."""
        self.put(key, Queued(uid=uid, priority=priority, state=ACTIVE, since_ms=now_ms, nominated=nominated))

    def put(self, key: Key, entry: Queued) -> None:
        """Replace an entry."""
        self._rows[key] = entry
        if entry.state in (UNSCHEDULABLE, BINDING):
            self._aside[key] = entry
        else:
            self._aside.pop(key)
        if entry.nominated or entry.node:
            self._promised[key] = entry
        else:
            self._promised.pop(key)

    def remove(self, key: Key) -> None:
        """Forget a pod."""
        self._rows.pop(key)
        self._aside.pop(key)
        self._promised.pop(key)

    def set_aside(self, key: Key, entry: Queued, plugins: tuple[str, ...], now_ms: int) -> None:
        """Note a failed attempt."""
        attempts = entry.attempts + 1
        failed = replace(
            entry,
            state=UNSCHEDULABLE,
            since_ms=now_ms,
            attempts=attempts,
            ready_ms=now_ms + backoff_ms(attempts),
            plugins=plugins,
            node="",
        )
        self.put(key, failed)

    def move(self, key: Key, now_ms: int) -> None:
        """Give a pod that was set aside another chance: at once, or when its back-off ends."""
        entry = self._rows.get(key)
        if entry is not None and entry.state == UNSCHEDULABLE:
            state = ACTIVE if entry.ready_ms <= now_ms else BACKOFF
            self.put(key, replace(entry, state=state, since_ms=max(now_ms, entry.ready_ms)))

    def next(self, now_ms: int) -> tuple[Key | None, int | None]:
        """Return the pod to schedule now (by priority, then age), and when another is due (None: only on events)."""
        best: Key | None = None
        best_rank: tuple[int, int] | None = None
        others_ms: int | None = None
        for key, entry in self._rows.items():
            due_ms = due(entry)
            if due_ms is None:
                continue
            if due_ms <= now_ms:
                rank = (-entry.priority, entry.since_ms)
                if best_rank is None or rank < best_rank:
                    if best is not None:
                        others_ms = now_ms
                    best, best_rank = key, rank
                else:
                    others_ms = now_ms
            elif others_ms is None or due_ms < others_ms:
                others_ms = due_ms
        return best, others_ms


def due(entry: Queued) -> int | None:
    """Return when a pod may be tried again by itself, in milliseconds; None if only a change can help."""
    if entry.state == ACTIVE:
        return 0
    if entry.state == BACKOFF:
        return entry.ready_ms
    if entry.state == UNSCHEDULABLE:
        return entry.since_ms + FLUSH_MS
    return None
