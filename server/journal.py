"""Every reset and action on disk before its answer, so that a killed server can play its episodes again.

One append-only table in SQLite's WAL mode, one connection; what one turn of the event loop records is committed together.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import time
from dataclasses import dataclass
from typing import Any, Final

import orjson

from server.environment import Frame

COMPACT_ROWS: Final = 50_000
"""After so many rows more, those of ended episodes are deleted."""

COMMAND: Final = "command"
_BEGUN, _ACTED, _ENDED = "begun", "acted", "ended"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS log"
    " (id INTEGER PRIMARY KEY, episode INTEGER NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL)"
)
_APPEND = "INSERT INTO log (episode, kind, at, body) VALUES (?, ?, ?, ?)"
_COMPACT = "DELETE FROM log WHERE episode IN (SELECT episode FROM log WHERE kind = 'ended')"


@dataclass(frozen=True, slots=True)
class Action:
    """One recorded action, with the seal of its answer: a command line, or an entry of the Kubernetes API."""

    entry: dict[str, Any]
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What begins an episode again: feed it to a reset, then play the actions."""

    key: int
    episode_id: str
    token: str
    channel: str
    suite: str
    task: str
    seed: int
    options: dict[str, Any]
    actions: tuple[Action, ...] = ()
    is_done: bool = False
    idle_s: float = 0.0


def seal(frame: Frame) -> str:
    """Return a short hash of an answer; a replay that does not reproduce it is a bug."""
    return hashlib.sha256(orjson.dumps([frame.observation, frame.reward, frame.done])).hexdigest()[:16]


class UnreadableError(RuntimeError):
    """Raised at start for a file that is no journal of this server, or that cannot be opened; the message names it."""

    def __init__(self, path: str, why: Exception) -> None:
        super().__init__(
            f"{path} cannot be used as a journal ({why}); move it away, or name another file in KUBEDRILL_JOURNAL"
        )


class Journal:
    """The writer and, once at start, the reader. Use it from one thread."""

    def __init__(self, path: str, *, synchronous: str = "NORMAL") -> None:
        self._path = path
        try:
            self._base = sqlite3.connect(path, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute(f"PRAGMA synchronous={synchronous}")
            self._base.execute("PRAGMA wal_autocheckpoint=4000")
            self._base.execute(_SCHEMA)
            self._base.execute(_COMPACT)
            newest = self._base.execute("SELECT COALESCE(MAX(episode), 0) FROM log").fetchone()[0]
        except sqlite3.Error as error:
            raise UnreadableError(path, error) from error
        self._last_key = int(newest)
        self._keys: dict[int, int] = {}
        self._waiting: list[tuple[int, str, float, str]] = []
        self._flushed: asyncio.Future[None] | None = None
        self._rows = 0

    def recipes(self) -> list[Recipe]:
        """Return every episode on record, in the order of their beginning.

        Raises:
            UnreadableError: if a row is not what this server writes.
        """
        try:
            return self._recipes()
        except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
            raise UnreadableError(self._path, error) from error

    def _recipes(self) -> list[Recipe]:
        begun: dict[int, dict[str, Any]] = {}
        actions: dict[int, list[Action]] = {}
        last: dict[int, tuple[float, bool]] = {}
        for key, kind, at, body in self._base.execute("SELECT episode, kind, at, body FROM log ORDER BY id"):
            content = orjson.loads(body)
            if kind == _BEGUN:
                begun[key], actions[key], last[key] = content, [], (at, False)
            elif kind == _ACTED:
                sealed, is_done = content.pop("seal"), content.pop("done")
                actions[key].append(Action(content, sealed))
                last[key] = (at, is_done)
        now = time.time()
        return [
            Recipe(
                key=key,
                actions=tuple(actions[key]),
                is_done=last[key][1],
                idle_s=max(0.0, now - last[key][0]),
                **content,
            )
            for key, content in begun.items()
        ]

    def adopt(self, session_key: int, key: int) -> None:
        """Continue an episode on record under this session."""
        self._keys[session_key] = key

    async def begun(
        self,
        session_key: int,
        *,
        episode_id: str,
        token: str,
        channel: str,
        suite: str,
        task: str,
        seed: int,
        options: dict[str, Any],
    ) -> None:
        """Record a reset; returns when it is committed. The session's episode before it is forgotten."""
        self.forget(session_key)
        self._last_key += 1
        self._keys[session_key] = self._last_key
        content = {
            "episode_id": episode_id,
            "token": token,
            "channel": channel,
            "suite": suite,
            "task": task,
            "seed": seed,
            "options": options,
        }
        self._append(self._last_key, _BEGUN, content)
        await self._committed()

    async def acted(self, session_key: int, command: str, frame: Frame) -> None:
        """Record a command line; returns when it is committed."""
        await self.entered(session_key, {COMMAND: command}, seal(frame), is_done=frame.done)

    async def entered(self, session_key: int, entry: dict[str, Any], sealed: str, *, is_done: bool) -> None:
        """Record an action with the seal of its answer; returns when it is committed."""
        self._append(self._keys[session_key], _ACTED, {**entry, "seal": sealed, "done": is_done})
        await self._committed()

    def knows(self, session_key: int) -> bool:
        """Whether the session has an episode on record."""
        return session_key in self._keys

    def forget(self, session_key: int) -> None:
        """Drop the session's episode from the record, with the next commit."""
        key = self._keys.pop(session_key, None)
        if key is not None:
            self._append(key, _ENDED, {})

    def close(self) -> None:
        """Commit what waits and close the file."""
        self._flush()
        self._base.close()

    def _append(self, key: int, kind: str, content: dict[str, Any]) -> None:
        self._waiting.append((key, kind, time.time(), orjson.dumps(content).decode()))

    async def _committed(self) -> None:
        if self._flushed is None:
            loop = asyncio.get_running_loop()
            self._flushed = loop.create_future()
            loop.call_soon(self._flush)
        # Shared by all who wait for this commit: one that is cancelled must not cancel it for the others.
        await asyncio.shield(self._flushed)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        flushed, self._flushed = self._flushed, None
        try:
            self._write(waiting)
        except sqlite3.Error as error:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            if flushed is None:
                raise
            if not flushed.done():
                flushed.set_exception(error)
            return
        if flushed is not None and not flushed.done():
            flushed.set_result(None)

    def _write(self, rows: list[tuple[int, str, float, str]]) -> None:
        if not rows:
            return
        self._base.execute("BEGIN")
        self._base.executemany(_APPEND, rows)
        self._rows += len(rows)
        if self._rows >= COMPACT_ROWS:
            self._rows = 0
            self._base.execute(_COMPACT)
        self._base.execute("COMMIT")
