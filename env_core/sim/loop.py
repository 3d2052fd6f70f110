"""The clock and the agenda: the only place where time moves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Final, NamedTuple

from env_core.sim.work import Work

_ENTRY_WORK: Final = 80
"""Units of work that handling an entry counts as, besides what it asks of the API."""
Handler = Callable[[Hashable], None]


class LivelockError(RuntimeError):
    """Raised when an advance handles more entries than its bound: components fight, which is our bug."""


class Entry(NamedTuple):
    """One due thing. Ordered by time, then priority, then the order of scheduling."""

    at_ms: int
    priority: int
    seq: int
    handler: str
    key: Hashable
    is_wake: bool


class EventLoop:
    """An agenda of plain data over one integer clock (milliseconds since the Unix epoch).

    Handlers are found by name at dispatch, so that a fork copies entries and binds its own handlers.
    """

    __slots__ = ("_agenda", "_handlers", "_live", "_seq", "handled", "now_ms", "work")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.handled = 0
        self.work = Work()
        """What everything on this clock draws from."""
        self._agenda: list[Entry] = []
        self._seq = 0
        self._handlers: dict[str, Handler] = {}
        self._live: dict[tuple[str, Hashable], Entry] = {}

    def bind(self, handler: str, function: Handler) -> None:
        """Say what runs for entries of `handler`."""
        self._handlers[handler] = function

    def schedule(self, at_ms: int, handler: str, key: Hashable, priority: int = 0) -> None:
        """Add an entry that always fires.

        Raises:
            ValueError: if `at_ms` lies in the past.
        """
        heappush(self._agenda, self._entry(at_ms, handler, key, priority, is_wake=False))

    def wake(self, at_ms: int, handler: str, key: Hashable, priority: int = 0) -> None:
        """Ask that `handler` runs for `key` at `at_ms` or earlier; at most one wake is live per key.

        An earlier wish replaces a later one; a later one is dropped, as a level-triggered handler
        looks at everything when it runs and asks again if it must.
        """
        live = self._live.get((handler, key))
        if live is not None and live.at_ms <= at_ms:
            return
        entry = self._entry(at_ms, handler, key, priority, is_wake=True)
        self._live[(handler, key)] = entry
        heappush(self._agenda, entry)

    def _entry(self, at_ms: int, handler: str, key: Hashable, priority: int, *, is_wake: bool) -> Entry:
        if at_ms < self.now_ms:
            raise ValueError(f"cannot schedule {handler} {key!r} at {at_ms}, before now ({self.now_ms})")
        self._seq += 1
        return Entry(at_ms, priority, self._seq, handler, key, is_wake)

    def cancel(self, handler: str, key: Hashable) -> None:
        """Forget the live wake of `key`, if any."""
        self._live.pop((handler, key), None)

    def due_ms(self, handler: str, key: Hashable) -> int | None:
        """Return when the live wake of `key` is due, or None."""
        live = self._live.get((handler, key))
        return None if live is None else live.at_ms

    def next_ms(self) -> int | None:
        """Return when the next entry is due, or None when nothing is."""
        return self._agenda[0].at_ms if self._agenda else None

    def run_until(self, until_ms: int, events_max: int = 200_000) -> bool:
        """Handle everything due up to and including `until_ms`, in order; then it is `until_ms`.

        When the work that may be done is done, time stands where it is, and the answer is False.

        Raises:
            LivelockError: after `events_max` entries.
        """
        budget = events_max
        work = self.work
        while self._agenda and self._agenda[0].at_ms <= until_ms:
            if work.is_spent:
                return False
            if budget <= 0:
                raise LivelockError(
                    f"more than {events_max} events before {until_ms}; next {self._agenda[0]}"
                )
            budget -= 1
            self.step()
        self.now_ms = max(self.now_ms, until_ms)
        return True

    def step(self) -> Entry | None:
        """Handle the next entry, whenever it is due, and return it; None when nothing is left."""
        if not self._agenda:
            return None
        entry = heappop(self._agenda)
        if entry.is_wake:
            if self._live.get((entry.handler, entry.key)) is not entry:
                return entry  # an earlier wake replaced it, or it was cancelled
            del self._live[(entry.handler, entry.key)]
        self.now_ms = max(self.now_ms, entry.at_ms)
        self.handled += 1
        self.work.done += _ENTRY_WORK
        self._handlers[entry.handler](entry.key)
        return entry

    @contextmanager
    def as_of(self, at_ms: int) -> Iterator[None]:
        """Set the clock back for work that was put off: nothing that it reads may have changed since `at_ms`."""
        now_ms = self.now_ms
        self.now_ms = at_ms
        try:
            yield
        finally:
            self.now_ms = now_ms

    def fork(self) -> EventLoop:
        """Return a copy of the clock and the agenda, with no handlers bound."""
        copy = EventLoop(self.now_ms)
        copy._agenda = self._agenda.copy()
        copy._seq = self._seq
        copy._live = self._live.copy()
        return copy
