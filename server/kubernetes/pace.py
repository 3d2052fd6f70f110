"""How an episode's clock follows the wall clock: always, for a person who plays; while somebody watches, for a program.

Without a pace, time passes with each request, as with each command. A watch or a followed log is a way of waiting, so while
one is open time runs, many times faster than on the wall.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from env_core.rest.following import LogFollow
from env_core.rest.watching import Watch
from server.kubernetes.shifting import Shift
from server.play import Play
from server.refusals import Refusal
from server.sessions import Session

STREAM_SPEED = 20.0
"""Virtual seconds per second while somebody waits, in an episode without a pace."""
SPEED_MIN = 0.01
"""Slower, and reads would be free while no time passes."""
SPEED_MAX = 1_000.0
STREAMS_MAX = 256
"""Streams that one episode may have open."""
_TICK_S = 0.1
_TICK_MS_MAX = 30_000
"""The most that passes at once, so that a server that was busy does not jump."""

Stream = Watch | LogFollow


class Pacer:
    """Lets time pass in the episodes that need it."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._speeds: dict[str, float] = {}
        self._shifts: dict[str, Shift] = {}
        self._streams: Counter[int] = Counter()
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def set_speed(self, session: Session, speed: float, *, is_shifted: bool = False) -> None:
        """Let the episode's clock follow the wall clock; 0 gives the pace up.

        `is_shifted` shows the episode's times as if it had begun to be played now, by the wall clock.
        """
        self._shifts.pop(session.token, None)
        if speed > 0:
            self._speeds[session.token] = speed
            if is_shifted:
                self._shifts[session.token] = Shift(round(time.time() - session.environment.now_ms / 1000))
            self._run(session)
        else:
            self._speeds.pop(session.token, None)

    def shift_of(self, session: Session) -> Shift | None:
        """Return how the episode's times are shown, None for as they are."""
        return self._shifts.get(session.token)

    def is_paced(self, session: Session) -> bool:
        """Whether time passes by itself, so that requests let none pass."""
        return session.token in self._speeds

    @asynccontextmanager
    async def streaming(self, session: Session) -> AsyncIterator[None]:
        """Let time run while a stream is open.

        Raises:
            Refusal: 429 when the episode has too many open.
        """
        if self._streams[session.key] >= STREAMS_MAX:
            raise Refusal(
                429, "TOO_MANY_STREAMS", f"the episode has {STREAMS_MAX} streams open", retry_after_s=1
            )
        self._streams[session.key] += 1
        self._run(session)
        try:
            yield
        finally:
            self._streams[session.key] -= 1
            if not self._streams[session.key]:
                del self._streams[session.key]

    def stop(self) -> None:
        """Stop every clock."""
        for task in self._tasks.values():
            task.cancel()

    def _speed(self, session: Session) -> float:
        if session.token in self._speeds:
            return self._speeds[session.token]
        return STREAM_SPEED if self._streams.get(session.key) else 0.0

    def _run(self, session: Session) -> None:
        if session.key not in self._tasks:
            task = asyncio.create_task(self._passing(session))
            self._tasks[session.key] = task
            task.add_done_callback(lambda _: self._tasks.pop(session.key, None))

    async def _passing(self, session: Session) -> None:
        token = session.token
        last_s = time.monotonic()
        rest_ms = 0.0
        while self._play.table.is_open(session) and session.token == token and session.is_live:
            await asyncio.sleep(_TICK_S)
            speed = self._speed(session)
            if not speed:
                return
            now_s = time.monotonic()
            rest_ms = min(rest_ms + (now_s - last_s) * speed * 1000, _TICK_MS_MAX)
            last_s = now_s
            passed_ms, rest_ms = int(rest_ms), rest_ms - int(rest_ms)
            try:
                await self._play.elapse(session, passed_ms)
            except Refusal:
                return
            session.note_change()
        self._speeds.pop(token, None)
        self._shifts.pop(token, None)
