"""The simple way into TRL: a class whose method is the tool, for `GRPOTrainer(environment_factory=…)`.

TRL calls its environments one after another, so with a far server `training.rollouts` is many times as fast; it also never ends
a rollout because the incident is closed. Use this where simplicity counts. Rows need the columns suite, task and seed (and
options, if any), or the task in the prompt as `training.trl_rollouts` wants it. TRL repeats each row for its group, so the
rollouts of a group meet the same incident.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kubedrill.models import KubeObservation
from training import views
from training.remote import EpisodeRequest, RemoteEpisode, Unscorable
from training.replicas import Replicas
from training.rollouts import Settings
from training.trl_rollouts import request_in

T = TypeVar("T")


class _Loop:
    """An event loop in a thread of its own, for callers that cannot await."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the work returns."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="environments", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


_LOOP = _Loop()


class KubeTools:
    """One rollout's incident. Every public method but `reset` and `get_reward` is a tool, so there is just one."""

    def __init__(self, replicas: Replicas, settings: Settings) -> None:
        self._replicas = replicas
        self._settings = settings
        # TRL makes one instance to look at its methods, so the first connection is made by the first reset.
        self._episode: RemoteEpisode | None = None
        self._is_lost = False
        self._late_calls = 0

    def reset(
        self,
        prompt: Any = None,
        suite: str = "",
        task: str = "",
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        **_: Any,
    ) -> str:
        """Begin the row's incident and return the page, which TRL adds to the last user message.

        Raises:
            ValueError: if the row names no incident.
            EpisodeError: if there is no such suite, task or seed.
        """
        self._leave()
        given = {"suite": suite, "task": task, "seed": seed, "options": options}
        request = request_in(prompt if seed is None else [{"task": given}])
        self._is_lost = False
        self._late_calls = 0
        episode = RemoteEpisode(request, self._replicas, timeout_s=self._settings.timeout_s)
        self._episode = episode
        first = self._reliably(episode.begin())
        return "" if first is None else page(first)

    def run_command(self, command: str) -> str:
        """Run one line in the on-call shell: kubectl, curl and text filters.

        Args:
            command: The line to run.
        """
        episode = self._episode
        if episode is None or self._is_lost:
            raise ValueError("the cluster cannot be reached")
        if episode.is_done:
            self._late_calls += 1
            raise ValueError("the incident is closed")
        observation = self._reliably(episode.act(command))
        if observation is None:
            raise ValueError("the cluster cannot be reached")
        return views.said(observation, self._settings.view, self._settings.output_chars_max)

    def get_reward(self) -> float | None:
        """Return the sum of the step rewards; None if the incident was lost through no fault of the policy."""
        episode = self._episode
        if episode is not None and not self._is_lost and not episode.is_done and self._settings.closing:
            self._reliably(episode.act(self._settings.closing))
        return None if episode is None or self._is_lost else episode.reward

    @property
    def request(self) -> EpisodeRequest | None:
        """What is played."""
        return None if self._episode is None else self._episode.request

    @property
    def late_calls(self) -> int:
        """Calls after the end, which a reward function may punish: TRL lets a rollout go on when its incident is closed."""
        return self._late_calls

    def _reliably(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what the work returns; None if the episode is lost by it."""
        try:
            return _LOOP.run(work)
        except Unscorable:
            self._is_lost = True
            return None

    def _leave(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            _LOOP.run(episode.close())


def environment_factory(replicas: Replicas, settings: Settings | None = None) -> Callable[[], KubeTools]:
    """Return what GRPOTrainer takes. Of the settings, output_chars_max, timeout_s, closing and view count; TRL has its own budgets."""
    chosen = settings or Settings()
    return lambda: KubeTools(replicas, chosen)


def page(observation: KubeObservation) -> str:
    """Return what the agent reads first."""
    return f"{observation.incident_brief}\n{observation.recent_change_hint}\nYou have {observation.steps_max} steps."
