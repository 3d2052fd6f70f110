"""One episode on whichever replica lives: played again elsewhere, by seed and actions, when its replica dies.

The simulator is deterministic, so what has been seen must come again to the letter; if it does not, the episode is unscorable.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from websockets.exceptions import WebSocketException

from kubedrill.client import EpisodeError, KubeEnv
from kubedrill.models import COMMAND_LENGTH_MAX, KubeObservation
from training.replicas import Replica, Replicas

LOSSES_MAX = 4
"""An episode that loses its replica more often than this may be what kills it."""
RETRY_S = 0.1

_LOST = frozenset({"EPISODE_NOT_STARTED", "EPISODE_EXPIRED"})
"""The replica answers, but not for this episode any more: it was restarted behind our back, or ran short of slots."""
_FULL = frozenset({"CAPACITY_REACHED", "TOO_MANY_EPISODES"})

T = TypeVar("T")


class Unscorable(RuntimeError):
    """Raised when an episode can get no reward through no fault of the policy."""


@dataclass(frozen=True)
class EpisodeRequest:
    """Which incident to play. Equal requests are the same incident, wherever they are played."""

    suite: str
    task: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict)


class RemoteEpisode:
    """An episode over a WebSocket. Use it from one event loop."""

    def __init__(self, request: EpisodeRequest, replicas: Replicas, *, timeout_s: float) -> None:
        self.request = request
        self.actions: list[str] = []
        self.reward = 0.0
        """The sum of the rewards so far."""
        self.is_done = False
        self.losses = 0
        """How often its replica was lost."""
        self.replays = 0
        """How often it was brought elsewhere to where it was."""
        self.seconds = 0.0
        """How long the environment has been waited for."""
        self._replicas = replicas
        self._timeout_s = timeout_s
        self._seen: list[KubeObservation] = []
        self._env: KubeEnv | None = None
        self._replica: Replica | None = None
        self._closing: set[asyncio.Task[Any]] = set()

    async def begin(self) -> KubeObservation:
        """Begin the episode and return its first observation.

        Raises:
            Unscorable: if no replica will play it.
            EpisodeError: if no server would: the suite, task, seed or options are wrong.
        """

        async def nothing(_: KubeEnv) -> None:
            return None

        await self._reliably(nothing)
        return self._seen[0]

    async def act(self, command: str) -> KubeObservation:
        """Carry out a command and return what it led to. One that no server would take is refused here, at no cost.

        Raises:
            Unscorable: if no replica will, or the episode came out differently when played again.
        """
        if len(command) > COMMAND_LENGTH_MAX:
            said = f"error: a command has at most {COMMAND_LENGTH_MAX} characters"
            return self._seen[-1].model_copy(update={"output": said, "exit_code": 2, "reward": 0.0})

        async def step(env: KubeEnv) -> KubeObservation:
            return _comparable((await env.step(command)).observation)

        observation = await self._reliably(step)
        self.actions.append(command)
        self._seen.append(observation)
        self.reward += float(observation.reward or 0.0)
        self.is_done = observation.done
        return observation

    async def score(self) -> float | None:
        """Return the verdict's score in [0, 1]; None while the episode goes on.

        Raises:
            Unscorable: if no replica will tell.
        """

        async def state(env: KubeEnv) -> float | None:
            return (await env.state()).oracle_score

        return await self._reliably(state)

    async def close(self) -> None:
        """Let go of the episode and its replica."""
        env, self._env = self._env, None
        if self._replica is not None:
            self._replicas.release(self._replica)
            self._replica = None
        if env is not None:
            await env.close()

    async def _reliably(self, operation: Callable[[KubeEnv], Awaitable[T]]) -> T:
        started_s = time.monotonic()
        try:
            while True:
                try:
                    if self._env is None:
                        await self._attach()
                    assert self._env is not None
                    result = await operation(self._env)
                    if self._replicas.latency_s:
                        await asyncio.sleep(self._replicas.latency_s)
                    return result
                except EpisodeError as error:
                    if error.is_unscorable:
                        raise Unscorable(str(error)) from error
                    if error.code not in _LOST:
                        raise
                except (OSError, WebSocketException, EOFError):
                    # A time-out is an OSError as well; so is a refused connection.
                    if self._replica is not None:
                        self._replicas.report(self._replica)
                self._lose()
                self.losses += 1
                if self.losses > LOSSES_MAX:
                    raise Unscorable(f"{self.request} has lost its replica {self.losses} times")
        finally:
            self.seconds += time.monotonic() - started_s

    def _lose(self) -> None:
        """Leave the replica without waiting for its goodbye, which may never come."""
        env, self._env = self._env, None
        if self._replica is not None:
            self._replicas.release(self._replica)
            self._replica = None
        if env is not None:
            task = asyncio.ensure_future(_closed(env))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _attach(self) -> None:
        """Find a replica with a free slot and bring the episode there to where it was."""
        ends_at_s = time.monotonic() + self._timeout_s
        full: set[Replica] = set()
        while True:
            replica = self._replicas.acquire(full)
            if replica is None:
                if time.monotonic() > ends_at_s:
                    raise Unscorable(f"no replica has taken {self.request} in {self._timeout_s:g} s")
                full.clear()
                await asyncio.sleep(RETRY_S)
                continue
            self._replica = replica
            headers = {"Authorization": f"Bearer {self._replicas.token}"} if self._replicas.token else None
            self._env = KubeEnv(base_url=replica.url, headers=headers, message_timeout_s=self._timeout_s)
            try:
                await self._play(self._env)
                return
            except EpisodeError as error:
                if error.code not in _FULL:
                    raise
            full.add(replica)
            self._lose()

    async def _play(self, env: KubeEnv) -> None:
        request = self.request
        fields = {"suite": request.suite, "task": request.task, "seed": request.seed}
        begun = await env.reset(**fields, options=request.options or None)
        first = _comparable(begun.observation)
        if not self._seen:
            self._seen.append(first)
            self.is_done = first.done
            return
        self.replays += 1
        again = [first, *[_comparable((await env.step(command)).observation) for command in self.actions]]
        if again != self._seen:
            where = next(index for index, pair in enumerate(zip(again, self._seen)) if pair[0] != pair[1])
            raise Unscorable(f"{request} came out differently at step {where} when it was played again")


def _comparable(observation: KubeObservation) -> KubeObservation:
    """Return the observation without what is the server's own: ids."""
    return observation.model_copy(update={"episode_id": None})


async def _closed(env: KubeEnv) -> None:
    with contextlib.suppress(OSError, WebSocketException):
        await env.close()
