"""Resets, steps and states over the table: what every transport shares, with the one place where our own failures are caught."""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Coroutine
from time import perf_counter
from typing import Any

import orjson

from env_core.dataplane.tunnel import Exchanged
from env_core.episode import Episode, EpisodeOver, InvalidInput, UnknownName
from env_core.rest.api import Answer
from env_core.rest.message import HttpRequest
from env_core.world import Output
from server.deadline import DeadlineExceeded, deadline
from server.environment import Frame, KubeResetRequest
from server.journal import Journal
from server.kubernetes import entries
from server.metrics import Metrics
from server.refusals import Refusal, ended, failed, from_simulator, not_started
from server.replaying import replayed
from server.sessions import Session, SessionTable
from server.settings import Settings

_log = logging.getLogger("kubedrill.server")


class Play:
    """The server's dealings with episodes, whatever the transport."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.table = SessionTable(settings, on_end=self._ended)
        self.metrics = Metrics(self.table, settings.episodes_max)
        self.journal: Journal | None = None

    def start(self) -> None:
        """Open the journal and take up the episodes on record; they are played again when somebody comes for them."""
        if not self.settings.journal:
            return
        self.journal = Journal(self.settings.journal, synchronous=self.settings.journal_synchronous)
        for recipe in self.journal.recipes():
            session = self.table.restore(
                recipe.channel,
                episode_id=recipe.episode_id,
                token=recipe.token,
                recipe=recipe,
                is_done=recipe.is_done,
                steps=len(recipe.actions),
            )
            session.touched_s -= recipe.idle_s
            self.journal.adopt(session.key, recipe.key)
        self.table.sweep()

    def stop(self) -> None:
        """Close the journal. What is on record stays there."""
        if self.journal is not None:
            self.journal.close()
            self.journal = None

    async def reset(
        self, session: Session, request: KubeResetRequest, *, prefix: tuple[str, ...] = ()
    ) -> Frame:
        """Begin an episode in this session, in place of the one before. A refused reset leaves that one alone.

        Raises:
            Refusal: for an unknown name, a field out of range, a backend that is not there, or a failure of our own.
        """
        self._check_backend()
        async with session.lock:
            started = perf_counter()
            before = session.environment.episode
            try:
                with deadline(self.settings.step_s_max):
                    frame = session.environment.begin(request)
            except (UnknownName, InvalidInput) as error:
                session.environment.episode = before
                raise self.counted(from_simulator(error, prefix=prefix)) from None
            except (Exception, DeadlineExceeded) as error:
                session.environment.episode = None
                raise self._failed(session, "reset", error) from error
            episode = session.environment.episode
            assert episode is not None
            self.table.bind(session, episode.episode_id)
            session.is_done = frame.done
            session.recipe = None
            session.latest = frame
            self.table.touch(session)
            self.metrics.resets += 1
            self.metrics.reset.note(perf_counter() - started)
            if self.journal is not None:
                record = self.journal.begun(
                    session.key,
                    episode_id=session.episode_id,
                    token=session.token,
                    channel=session.channel,
                    suite=episode.suite.id,
                    task=episode.task.id,
                    seed=episode.seed,
                    options=request.options or {},
                )
                await self._recorded(session, record)
            self._told("reset", session, frame)
            return frame

    async def step(self, session: Session, command: str, *, prefix: tuple[str, ...] = ()) -> Frame:
        """Carry out one command line.

        Raises:
            Refusal: before a reset (409), after the end (410), for a command that is too long (422), or a failure of our own (500).
        """
        async with session.lock:
            frame = self._acted(session, command, prefix)
            await self._remembered(session)
            self._stepped(session, frame)
            if self.journal is not None:
                await self._recorded(session, self.journal.acted(session.key, command, frame))
            session.note_change()
            return frame

    def step_at_once(self, session: Session, command: str) -> Frame | None:
        """Carry out one command line if nothing has to be waited for; else return None, with nothing done.

        Raises:
            Refusal: as `step` does.
        """
        if self.journal is not None or session.lock.locked():
            return None
        frame = self._acted(session, command)
        session.elapsed_ms = 0
        self._stepped(session, frame)
        session.note_change()
        return frame

    def _acted(self, session: Session, command: str, prefix: tuple[str, ...] = ()) -> Frame:
        self._check_playable(session)
        started = perf_counter()
        try:
            with deadline(self.settings.step_s_max):
                frame = session.environment.act(command)
        except (EpisodeOver, InvalidInput) as error:
            raise self.counted(from_simulator(error, prefix=prefix)) from None
        except (Exception, DeadlineExceeded) as error:
            raise self._failed(session, "step", error) from error
        self.metrics.step.note(perf_counter() - started)
        self.table.touch(session)
        return frame

    async def call(self, session: Session, request: HttpRequest, *, is_paced: bool = False) -> Answer:
        """Answer a request to the episode's Kubernetes API.

        Raises:
            Refusal: before a reset (409), after the end (410), or a failure of our own (500).
        """
        async with session.lock:
            self._check_playable(session)
            started = perf_counter()
            try:
                with deadline(self.settings.step_s_max):
                    called, frame = session.environment.call(request, is_paced=is_paced)
            except (Exception, DeadlineExceeded) as error:
                raise self._failed(session, "call", error) from error
            self.metrics.call.note(perf_counter() - started)
            if called.is_action:
                entry = entries.entry_of(request, is_paced=is_paced)
                await self._entered(session, entry, entries.seal_of(called.answer), frame)
            return called.answer

    async def run(
        self, session: Session, request: HttpRequest, stdin: str, *, is_paced: bool = False
    ) -> tuple[Output, Answer]:
        """Carry out a command in a container, with all of its input.

        Raises:
            Refusal: before a reset (409), after the end (410), or a failure of our own (500).
        """
        async with session.lock:
            self._check_playable(session)
            try:
                with deadline(self.settings.step_s_max):
                    output, called, frame = session.environment.run(request, stdin, is_paced=is_paced)
            except (Exception, DeadlineExceeded) as error:
                raise self._failed(session, "run", error) from error
            entry = entries.entry_of(request, is_paced=is_paced, stdin=stdin)
            await self._entered(session, entry, entries.seal_of(called.answer, output), frame)
            return output, called.answer

    async def forward(
        self, session: Session, request: HttpRequest, port: int, data: bytes, *, is_paced: bool = False
    ) -> Exchanged:
        """Send an HTTP request through a forwarded port.

        Raises:
            Refusal: before a reset (409), after the end (410), or a failure of our own (500).
        """
        async with session.lock:
            self._check_playable(session)
            try:
                with deadline(self.settings.step_s_max):
                    exchanged, called, frame = session.environment.forward(
                        request, port, data, is_paced=is_paced
                    )
            except (Exception, DeadlineExceeded) as error:
                raise self._failed(session, "forward", error) from error
            entry = entries.forwarded(request, port, data, is_paced=is_paced)
            await self._entered(session, entry, entries.seal_of(called.answer, exchanged), frame)
            return exchanged

    async def elapse(self, session: Session, duration_ms: int) -> None:
        """Let time pass by itself. It is recorded with the next action, or by `remember`.

        Raises:
            Refusal: before a reset (409), after the end (410), or a failure of our own (500).
        """
        async with session.lock:
            self._check_playable(session)
            try:
                with deadline(self.settings.step_s_max):
                    frame = session.environment.elapse(duration_ms)
            except (Exception, DeadlineExceeded) as error:
                raise self._failed(session, "elapse", error) from error
            session.elapsed_ms += duration_ms
            if frame is not None:
                self._stepped(session, frame)
                await self._remembered(session)

    async def remember(self, session: Session) -> None:
        """Record the time that has passed by itself, before anybody is told what it led to."""
        if session.elapsed_ms:
            async with session.lock:
                await self._remembered(session)

    async def _remembered(self, session: Session) -> None:
        elapsed_ms, session.elapsed_ms = session.elapsed_ms, 0
        if elapsed_ms and self.journal is not None and self.journal.knows(session.key):
            entry = {entries.ELAPSE: elapsed_ms}
            record = self.journal.entered(session.key, entry, "", is_done=session.is_done)
            await self._recorded(session, record)

    async def _entered(
        self, session: Session, entry: dict[str, Any], sealed: str, frame: Frame | None
    ) -> None:
        self.table.touch(session)
        await self._remembered(session)
        if frame is not None:
            self._stepped(session, frame)
        if self.journal is not None:
            await self._recorded(
                session, self.journal.entered(session.key, entry, sealed, is_done=session.is_done)
            )
        session.note_change()

    def _stepped(self, session: Session, frame: Frame) -> None:
        session.took(frame)
        if frame.done:
            self.metrics.episodes_done += 1
        self._told("step", session, frame)

    def state(self, session: Session) -> dict[str, Any]:
        """Return the public state.

        Raises:
            Refusal: if a failure of ours has ended the episode.
        """
        self._revive(session)
        if session.error_id:
            raise self.counted(failed(session.error_id))
        self.table.touch(session)
        return session.environment.public_state()

    def latest(self, session: Session) -> Frame:
        """Return the answer that was given last, for a client that comes back.

        Raises:
            Refusal: if there is no episode, or a failure of ours has ended it.
        """
        self._revive(session)
        if session.error_id:
            raise self.counted(failed(session.error_id))
        if session.latest is None:
            raise self.counted(not_started())
        self.table.touch(session)
        return session.latest

    def score(self, session: Session) -> float:
        """Return the true score of the episode, in [0, 1], as it would be now.

        Raises:
            Refusal: if there is no episode, or a failure of ours.
        """
        self._revive(session)
        if session.error_id:
            raise self.counted(failed(session.error_id))
        episode = session.environment.episode
        if episode is None:
            raise self.counted(not_started())
        try:
            with deadline(self.settings.step_s_max):
                return episode.score()
        except (Exception, DeadlineExceeded) as error:
            raise self._failed(session, "score", error) from error

    def unexpected(self, error: Exception) -> Refusal:
        """Log a failure outside any episode and return what may be told of it."""
        error_id = secrets.token_hex(8)
        _log.error(orjson.dumps({"error_id": error_id, "during": "request"}).decode(), exc_info=error)
        return self.counted(Refusal(500, "EXECUTION_ERROR", f"internal error {error_id}", error_id=error_id))

    def counted(self, refusal: Refusal) -> Refusal:
        """Count a refusal and return it."""
        self.metrics.errors[refusal.code] += 1
        return refusal

    def _check_backend(self) -> None:
        backend = self.settings.backend
        if backend != "sim":
            raise self.counted(
                Refusal(
                    503,
                    "BACKEND_UNAVAILABLE",
                    f"the backend {backend!r} has no cluster to work on; set KUBEDRILL_BACKEND=sim for the simulator, which needs none",
                    retry_after_s=30,
                )
            )

    def _check_playable(self, session: Session) -> None:
        if not session.episode_id:
            raise self.counted(not_started())
        if session.error_id:
            raise self.counted(failed(session.error_id))
        if session.is_done:
            raise self.counted(ended())
        self._revive(session)
        if session.error_id:
            raise self.counted(failed(session.error_id))

    def _revive(self, session: Session) -> None:
        recipe = session.recipe
        if recipe is None:
            return
        session.recipe = None
        try:
            session.latest = replayed(session.environment, recipe)
        except Exception as error:
            self._failed(session, "replay", error)

    def _told(self, what: str, session: Session, frame: Frame) -> None:
        episode = session.environment.episode
        if self.settings.log != "steps" or episode is None:
            return
        record = {
            "event": what,
            "episode_id": session.episode_id,
            **_place_of(episode),
            "reward": frame.reward,
            "done": frame.done,
            "digest": episode.digest(),
        }
        _log.info(orjson.dumps(record).decode())

    async def _recorded(self, session: Session, record: Coroutine[Any, Any, None]) -> None:
        """Wait until the record is on disk: what could not be kept is not answered."""
        try:
            await record
        except sqlite3.Error as error:
            raise self._failed(session, "record", error) from error

    def _failed(self, session: Session, what: str, error: BaseException) -> Refusal:
        session.error_id = secrets.token_hex(8)
        episode = session.environment.episode
        record: dict[str, Any] = {"error_id": session.error_id, "during": what}
        record["episode_id"] = session.episode_id
        if episode is not None:
            record |= _place_of(episode)
            try:
                record["digest"] = episode.digest()
            except Exception as digest_error:
                record["digest"] = f"none: {type(digest_error).__name__}"
        _log.error(orjson.dumps(record).decode(), exc_info=error)
        return self.counted(failed(session.error_id))

    def _ended(self, session: Session) -> None:
        if self.journal is not None:
            self.journal.forget(session.key)


def _place_of(episode: Episode) -> dict[str, Any]:
    """Return what it takes to play an episode up to here again, for the log."""
    return {
        "suite": episode.suite.id,
        "task": episode.task.id,
        "seed": episode.seed,
        "step": episode.step_count,
    }
