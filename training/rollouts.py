"""Batches of multi-turn episodes over many replicas, for a policy that generates many turns at once.

The batch is dealt into parts that take turns: while one part generates, the environments of the others step. The order of the
calls to the policy depends on the episodes alone, never on who answers first, so that a seeded policy samples the same again.
What the policy sampled is kept as it was sampled: turns are joined as token ids and never tokenised anew.
For TRL's GRPOTrainer: `training.trl_rollouts`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from kubedrill.models import KubeObservation
from training import views
from training.remote import EpisodeRequest, RemoteEpisode, Unscorable
from training.replicas import Replicas

__all__ = [
    "Action",
    "Batch",
    "Dialect",
    "EpisodeRequest",
    "EpisodeResult",
    "Policy",
    "Settings",
    "Turn",
    "roll",
    "run",
]

ENDS = ("done", "budget", "steps", "text", "unscorable")


@dataclass(frozen=True)
class Turn:
    """What the policy sampled for one turn, its end token included."""

    token_ids: list[int]
    logprobs: list[float]
    """Of the distribution that was sampled from, temperature and all."""
    is_cut: bool = False
    """Whether the turn ran out of tokens before its end."""


@dataclass(frozen=True)
class Action:
    """What a turn asks for."""

    command: str


@dataclass
class EpisodeResult:
    """One episode as the policy lived it. The three lists over the completion have the same length."""

    prompt_ids: list[int] = field(default_factory=list)
    completion_ids: list[int] = field(default_factory=list)
    env_mask: list[int] = field(default_factory=list)
    """1 for a token of the policy, 0 for one of the environment."""
    logprobs: list[float] = field(default_factory=list)
    """0.0 on tokens of the environment."""
    reward: float | None = None
    """The sum of the step rewards; None if the episode is unscorable, which is not a reward of 0."""
    score: float | None = None
    """The verdict's score in [0, 1]; None if the environment has given none."""
    actions: list[str] = field(default_factory=list)
    turns: int = 0
    tool_errors: int = 0
    """Commands that ended with an exit code other than 0."""
    ended: str = ""
    """`done`: by the environment. `budget`: by the number of tokens. `steps`: by the number of turns. `text`: by a turn
    without an action. `unscorable`: by a failure that is not the policy's."""
    seconds_env: float = 0.0
    """How long the environment was waited for."""
    seconds_model: float = 0.0
    """How long the policy took for the batches that this episode was in."""
    rewards: list[float] = field(default_factory=list)
    """The reward of each action, for credit by turns."""
    replays: int = 0
    """How often the episode was played again elsewhere because its replica was lost."""


class Policy(Protocol):
    """A model that samples."""

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context, of at most so many tokens. Called from one thread, never twice at a time."""


class Dialect(Protocol):
    """How an episode is written in tokens."""

    eos: int
    """The token that ends a turn."""

    def prompt_ids(self, request: EpisodeRequest, observation: KubeObservation) -> list[int]:
        """Return the context of the first turn."""

    def parse(self, token_ids: list[int]) -> Action | None:
        """Return what a turn asks for; None if it asks for nothing that can be done."""

    def reply_ids(self, observation: KubeObservation) -> list[int]:
        """Return the tokens between the end of a turn and the next turn: the result, and the start of a new turn."""


@dataclass(frozen=True)
class Settings:
    """How episodes are played."""

    turns_max: int = 12
    completion_tokens_max: int = 1_024
    """Tokens of an episode after its prompt: all turns and all results."""
    turn_tokens_max: int = 256
    output_chars_max: int = 2_000
    """Characters of a result; a longer one loses its middle."""
    halves: int = 2
    """Parts of the batch. With 2, one half's environments step while the other generates."""
    timeout_s: float = 60.0
    """Time after which a replica that has not answered counts as dead, and a batch without any replica gives up."""
    closing: str = ""
    """A command, such as `submit`, that ends an episode which the policy has left; the verdict's reward counts. Empty: none."""
    view: str = "output"
    """What of a step's observation the policy reads, one of `views.VIEWS`; the dialect finds it in `output`."""


class Batch(list[EpisodeResult]):
    """The results in the order of the requests, and what the batch cost."""

    def __init__(self, results: Sequence[EpisodeResult], metrics: dict[str, float]) -> None:
        super().__init__(results)
        self.metrics = metrics


class _Row:
    """One episode under way."""

    def __init__(
        self, request: EpisodeRequest, replicas: Replicas, dialect: Dialect, settings: Settings
    ) -> None:
        self.result = EpisodeResult()
        self.episode = RemoteEpisode(request, replicas, timeout_s=settings.timeout_s)
        self.first: KubeObservation | None = None
        self._dialect = dialect
        self._settings = settings
        self._verdict: asyncio.Future[None] | None = None

    @property
    def is_live(self) -> bool:
        return not self.result.ended

    @property
    def room(self) -> int:
        return self._settings.completion_tokens_max - len(self.result.completion_ids)

    @property
    def context(self) -> list[int]:
        return self.result.prompt_ids + self.result.completion_ids

    async def begin(self) -> None:
        try:
            self.first = await self.episode.begin()
        except Unscorable:
            self.fail()
            return
        self.result.prompt_ids = list(self._dialect.prompt_ids(self.episode.request, self.first))
        if self.episode.is_done:
            self._end("done")

    def fail(self) -> None:
        self.result.ended = "unscorable"

    async def take(self, turn: Turn, seconds: float) -> None:
        """Take in a turn and let the environment answer it."""
        result = self.result
        limit = min(self.room, self._settings.turn_tokens_max)
        token_ids = turn.token_ids[:limit]
        self._add(token_ids, 1, turn.logprobs[:limit])
        result.turns += 1
        result.seconds_model += seconds
        if turn.is_cut or len(turn.token_ids) > limit:
            self._end("budget")
        elif (action := self._dialect.parse(token_ids)) is None:
            self._end("text")
        else:
            try:
                await self._answer(action.command)
            except Unscorable:
                self.fail()

    async def _answer(self, command: str) -> None:
        observation = await self.episode.act(command)
        self.result.rewards.append(float(observation.reward or 0.0))
        self.result.tool_errors += observation.exit_code != 0
        if self.episode.is_done:
            self._end("done")
        elif self.result.turns >= self._settings.turns_max:
            self._end("steps")
        else:
            said = views.said(observation, self._settings.view, self._settings.output_chars_max)
            reply = self._dialect.reply_ids(observation.model_copy(update={"output": said}))
            # A result that is broken off would leave a context that no engine makes; rather none at all.
            if len(reply) < self.room:
                self._add(reply, 0, [0.0] * len(reply))
            else:
                self._end("budget")

    def _add(self, token_ids: Sequence[int], mask: int, logprobs: Sequence[float]) -> None:
        result = self.result
        result.completion_ids += token_ids
        result.env_mask += [mask] * len(token_ids)
        result.logprobs += logprobs

    def _end(self, how: str) -> None:
        self.result.ended = how
        # The rest of the part need not wait for the verdict.
        self._verdict = asyncio.ensure_future(self._judged())

    async def _judged(self) -> None:
        episode, result = self.episode, self.result
        try:
            if not episode.is_done and self._settings.closing:
                await episode.act(self._settings.closing)
            if episode.is_done:
                result.score = await episode.score()
        except Unscorable:
            self.fail()
        else:
            result.reward = episode.reward

    async def finish(self) -> None:
        """Wait for the verdict."""
        if self._verdict is not None:
            await self._verdict

    async def close(self) -> None:
        """Let go of the environment, whatever goes on."""
        if self._verdict is not None:
            self._verdict.cancel()
        self.result.actions = list(self.episode.actions)
        self.result.seconds_env = self.episode.seconds
        self.result.replays = self.episode.replays
        await self.episode.close()


async def roll(
    requests: Sequence[EpisodeRequest],
    policy: Policy,
    dialect: Dialect,
    replicas: Replicas,
    settings: Settings | None = None,
) -> Batch:
    """Play one episode for each request, all at the same time, and return them in the order of the requests.

    Raises:
        EpisodeError: if a request names a suite, task, seed or option that does not exist.
    """
    chosen = settings or Settings()
    rows = [_Row(request, replicas, dialect, chosen) for request in requests]
    failures_before = replicas.failures
    started_s = time.monotonic()
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="policy") as thread:
            generated_s = await _played(rows, policy, chosen, thread)
    finally:
        await asyncio.gather(*(row.close() for row in rows))
    results = [row.result for row in rows]
    seconds = time.monotonic() - started_s
    return Batch(results, _metrics(results, seconds, generated_s, replicas.failures - failures_before))


def run(
    requests: Sequence[EpisodeRequest],
    policy: Policy,
    dialect: Dialect,
    replicas: Replicas,
    settings: Settings | None = None,
) -> Batch:
    """Do what `roll` does, for code that cannot await."""
    return asyncio.run(roll(requests, policy, dialect, replicas, settings))


async def _played(rows: list[_Row], policy: Policy, settings: Settings, thread: ThreadPoolExecutor) -> float:
    """Play the rows to their ends and return the seconds for which the policy was at work."""
    loop = asyncio.get_running_loop()
    parts = [part for start in range(settings.halves) if (part := rows[start :: settings.halves])]
    stepping: list[asyncio.Future[Any]] = [asyncio.gather(*(row.begin() for row in part)) for part in parts]
    seen: dict[str, KubeObservation] = {}
    generated_s = 0.0
    try:
        while any(row.is_live for row in rows):
            for index, part in enumerate(parts):
                await stepping[index]
                _compare_first(part, seen)
                live = [row for row in part if row.is_live]
                if not live:
                    continue
                tokens_max = min(settings.turn_tokens_max, max(row.room for row in live))
                contexts = [row.context for row in live]
                started_s = time.monotonic()
                turns = await loop.run_in_executor(thread, policy.generate, contexts, tokens_max)
                seconds = time.monotonic() - started_s
                generated_s += seconds
                stepping[index] = asyncio.gather(
                    *(row.take(turn, seconds) for row, turn in zip(live, turns, strict=True))
                )
        await asyncio.gather(*(row.finish() for row in rows))
    finally:
        for future in stepping:
            future.cancel()
        await asyncio.gather(*stepping, return_exceptions=True)
    return generated_s


def _compare_first(rows: Sequence[_Row], seen: dict[str, KubeObservation]) -> None:
    """Leave out rows whose incident differs from that of an equal request: their replica runs another version."""
    for row in rows:
        if row.first is not None:
            request = row.episode.request
            key = json.dumps([request.suite, request.task, request.seed, request.options], sort_keys=True)
            if seen.setdefault(key, row.first) != row.first:
                row.fail()
            row.first = None


def _metrics(
    results: Sequence[EpisodeResult], seconds: float, generated_s: float, failures: int
) -> dict[str, float]:
    count = max(1, len(results))
    steps = sum(len(result.actions) for result in results)
    scored = [result for result in results if result.reward is not None]
    verdicts = [result.score or 0.0 for result in scored]
    figures: dict[str, float] = {
        "rollout/seconds": seconds,
        "rollout/seconds_model": generated_s,
        # What the policy had to wait for: environments that overlap with generation cost nothing.
        "env/wait_share": max(0.0, 1.0 - generated_s / seconds),
        "env/steps_per_s": steps / seconds,
        "env/step_latency_ms": 1_000 * sum(result.seconds_env for result in results) / max(1, steps + count),
        "env/failures": failures,
        "env/replays": sum(result.replays for result in results),
        "env/unscorable_frac": 1 - len(scored) / count,
        "episode/turns": sum(result.turns for result in results) / count,
        "episode/tool_errors": sum(result.tool_errors for result in results) / count,
        "episode/return": sum(result.reward or 0.0 for result in scored) / max(1, len(scored)),
        "episode/score": sum(verdicts) / max(1, len(scored)),
    }
    for how in ENDS:
        figures[f"episode/stop_{how}"] = sum(result.ended == how for result in results) / count
    return figures
