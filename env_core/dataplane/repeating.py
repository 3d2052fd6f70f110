"""Probes that are answered as before, while nothing has changed: the same answer, and the same traces of it.

A kubelet asks the same question every few seconds for as long as a pod lives. What its answer depends on is the state of
the world; as long as nobody has written to it, going the whole way again (names, policies, services, what the asked server
asks in turn) brings the same. What such a way leaves behind is little: counts of requests, CPU time, and whose turn it is
among the endpoints of a service. That is done again; the rest is remembered.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, NamedTuple

from env_core.dataplane.serving import Usages
from env_core.programs import Reply, Run
from env_core.programs._model import END_OF_TIME_MS
from env_core.sim.table import Table

_WAYS_MAX: Final = 8
"""Ways that are kept of one question: they differ in whose turn it was."""


class Effect(NamedTuple):
    """What one request left in the counts of the container that served it."""

    run: Run
    after_ms: int
    """From the question to the moment when it was counted."""
    status: int
    cpu_ms: int
    memory_bytes: int


class Turn(NamedTuple):
    """Which of several endpoints had its turn."""

    key: tuple[str, str, int]
    number: int
    endpoints: int


class Way:
    """What is noted on the way of one question."""

    __slots__ = ("begun", "effects", "turns", "until_ms")

    def __init__(self) -> None:
        self.begun = 0
        """Exchanges; one that leaves no effect cannot be repeated."""
        self.effects: list[Effect] = []
        self.turns: list[Turn] = []
        self.until_ms = END_OF_TIME_MS

    def ends(self, at_ms: int) -> None:
        """Take note that something may come out otherwise from a moment on."""
        self.until_ms = min(self.until_ms, at_ms)

    def note(self, effect: Effect, until_ms: int) -> None:
        """Take note of how an exchange ended, and until when it would end the same way."""
        self.effects.append(effect)
        self.ends(until_ms)

    @property
    def is_repeatable(self) -> bool:
        """Whether each of the exchanges may be repeated."""
        return len(self.effects) == self.begun


class _Known(NamedTuple):
    way: Way
    reply: Reply
    work: int


class Repeats:
    """The ways that are known, as long as nothing changes. It belongs to one world: a fork begins with none."""

    __slots__ = ("_known", "_stamp", "_turns", "_usages")

    def __init__(self, turns: Table[Any, Any], usages: Usages) -> None:
        self._turns = turns
        self._usages = usages
        self._stamp: Hashable = None
        self._known: dict[Hashable, list[_Known]] = {}

    def again(self, stamp: Hashable, question: Hashable, at_ms: int) -> tuple[Reply, int] | None:
        """Answer a question as before, and do what that left behind; None when the whole way must be gone.

        Returns:
            The reply, and the units of work of the whole way.
        """
        if stamp != self._stamp:
            self._stamp = stamp
            self._known.clear()
            return None
        for known in self._known.get(question, ()):
            if at_ms + known.reply.latency_ms < known.way.until_ms and self._take_turns(known.way.turns):
                for run, after_ms, status, cpu_ms, memory_bytes in known.way.effects:
                    self._usages.add(run, at_ms + after_ms, status, cpu_ms, memory_bytes)
                return known.reply, known.work
        return None

    def _take_turns(self, turns: list[Turn]) -> bool:
        if not turns:
            return True
        now: dict[tuple[str, str, int], int] = {}
        for key, number, endpoints in turns:
            turn = now.get(key)
            turn = (self._turns.get(key) or 0) if turn is None else turn
            if turn % endpoints != number:
                return False
            now[key] = turn + 1
        for key, turn in now.items():
            self._turns[key] = turn
        return True

    def remember(self, stamp: Hashable, question: Hashable, way: Way, reply: Reply, work: int) -> None:
        """Keep a way that was gone, unless something changed on it."""
        if stamp == self._stamp and way.is_repeatable:
            known = self._known.setdefault(question, [])
            if len(known) < _WAYS_MAX:
                known.append(_Known(way, reply, work))
