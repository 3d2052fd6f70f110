"""Reset, step, state: one agent's dealings with one incident, from the first page to the verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from env_core.dataplane.tunnel import Exchanged
from env_core.rest.message import HttpRequest
from env_core.suites import Called, Incident, ResetOptions, Step, Suite, Task, all_suites
from env_core.world import Object, Output

DEFAULT_SUITE = "tron"
DEFAULT_TASK = "easy"
SEED_MAX = 2**63 - 1
EPISODE_ID_LENGTH_MAX = 255
COMMAND_LENGTH_MAX = 65_536


class UnknownName(LookupError):
    """Raised for a suite or task that does not exist; `valid` lists what does."""

    def __init__(self, what: str, given: str, valid: tuple[str, ...]) -> None:
        super().__init__(f"unknown {what} {given!r}; valid: {', '.join(valid)}")
        self.what = what
        self.given = given
        self.valid = valid


class InvalidInput(ValueError):
    """Raised for an argument out of range; `field` names it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.field = name


class EpisodeOver(RuntimeError):
    """Raised for a step after the end; nothing changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The answer to a reset or a step. `reward` is finite on steps and None on reset."""

    observation: Object
    reward: float | None
    is_terminated: bool
    is_truncated: bool
    info: Object = field(default_factory=dict)
    reward_terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether the episode is over."""
        return self.is_terminated or self.is_truncated


def suites() -> tuple[Suite, ...]:
    """Return every suite, sorted by name."""
    return tuple(all_suites().values())


def tasks(suite: str = "") -> tuple[tuple[Suite, Task], ...]:
    """Return the listed tasks of one suite, or of all.

    Raises:
        UnknownName: if there is no such suite.
    """
    chosen = suites() if not suite else (_suite(suite),)
    return tuple((entry, task) for entry in chosen for task in entry.tasks if task.is_listed)


def _suite(name: str) -> Suite:
    for suite in suites():
        if name in (suite.name, suite.id):
            return suite
    raise UnknownName("suite", name, tuple(suite.id for suite in suites()))


def warm() -> None:
    """Build ahead what the first resets would otherwise wait for, in every suite."""
    for suite in suites():
        suite.warm()


def find_task(suite: str = "", task: str = "") -> tuple[Suite, Task]:
    """Return the suite and task that a reset names; both may be left out.

    Task ids are unique over all suites, so a task alone names its suite.

    Raises:
        UnknownName: if either does not exist.
    """
    if not suite and not task:
        suite, task = DEFAULT_SUITE, DEFAULT_TASK
    chosen = (_suite(suite),) if suite else suites()
    if not task:
        return chosen[0], chosen[0].tasks[0]
    for entry in chosen:
        for candidate in entry.tasks:
            if candidate.id == task:
                return entry, candidate
    valid = tuple(candidate.id for entry in chosen for candidate in entry.tasks if candidate.is_listed)
    raise UnknownName("task", task, valid)


def reset_options(given: Mapping[str, Any]) -> ResetOptions:
    """Validate the options of a reset.

    Raises:
        InvalidInput: for an unknown option or a value out of range.
    """
    known = {"reward_mode", "terminal_reward", "max_output_chars"}
    for name in given:
        if name not in known:
            raise InvalidInput(f"options.{name}", f"unknown option; known: {', '.join(sorted(known))}")
    mode = given.get("reward_mode", "kubedrill")
    if mode not in ("kubedrill", "seed"):
        raise InvalidInput("options.reward_mode", f"must be kubedrill or seed, got {mode!r}")
    terminal = given.get("terminal_reward", False)
    if not isinstance(terminal, bool):
        raise InvalidInput("options.terminal_reward", f"must be true or false, got {terminal!r}")
    chars = given.get("max_output_chars", 0)
    if isinstance(chars, bool) or not isinstance(chars, int) or not 0 <= chars <= 1_000_000:
        raise InvalidInput("options.max_output_chars", f"must be an integer from 0 to 1000000, got {chars!r}")
    if 0 < chars < 200:
        raise InvalidInput("options.max_output_chars", f"must be 0 or at least 200, got {chars}")
    return ResetOptions(reward_mode=mode, terminal_reward=terminal, max_output_chars=chars)


class Episode:
    """One episode. Make it with `Episode.reset`; then `step` until the result says it is done."""

    __slots__ = (
        "_digest",
        "_incident",
        "cumulative_reward",
        "episode_id",
        "is_done",
        "options",
        "seed",
        "step_count",
        "suite",
        "task",
    )

    def __init__(
        self, suite: Suite, task: Task, seed: int, episode_id: str, options: ResetOptions, incident: Incident
    ) -> None:
        self.suite = suite
        self.task = task
        self.seed = seed
        self.episode_id = episode_id
        self.options = options
        self.step_count = 0
        self.cumulative_reward = 0.0
        self.is_done = False
        self._incident = incident
        self._digest = ""

    @classmethod
    def reset(
        cls,
        *,
        suite: str = "",
        task: str = "",
        seed: int | None = None,
        episode_id: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Episode, StepResult]:
        """Begin an episode and return it with its first observation.

        The same suite, task, seed and options begin the same world, byte for byte.

        Raises:
            UnknownName: if the suite or task does not exist.
            InvalidInput: if the seed, the episode id or an option is out of range.
        """
        if seed is not None and (
            isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= SEED_MAX
        ):
            raise InvalidInput("seed", f"must be an integer from 0 to {SEED_MAX}, got {seed!r}")
        if len(episode_id) > EPISODE_ID_LENGTH_MAX:
            raise InvalidInput(
                "episode_id", f"must have at most {EPISODE_ID_LENGTH_MAX} characters, got {len(episode_id)}"
            )
        chosen_suite, chosen_task = find_task(suite, task)
        chosen_seed = chosen_task.default_seed if seed is None else seed
        chosen_options = reset_options(options or {})
        incident = chosen_suite.begin(chosen_task, chosen_seed, chosen_options)
        episode = cls(chosen_suite, chosen_task, chosen_seed, episode_id, chosen_options, incident)
        observation = incident.observe()
        episode._extend(observation)
        return episode, StepResult(
            observation=observation, reward=None, is_terminated=False, is_truncated=False
        )

    def step(self, command: str) -> StepResult:
        """Carry out one command line and return what it led to.

        Raises:
            EpisodeOver: if the episode has ended.
            InvalidInput: if the command is too long.
        """
        self._check_live()
        if len(command) > COMMAND_LENGTH_MAX:
            raise InvalidInput(
                "command", f"must have at most {COMMAND_LENGTH_MAX} characters, got {len(command)}"
            )
        try:
            command.encode()
        except UnicodeEncodeError:
            raise InvalidInput("command", "must be Unicode text without lone surrogates") from None
        step = self._incident.act(command)
        self._extend([command, step.observation, step.reward])
        return self._counted(step)

    def _check_live(self) -> None:
        if self.is_done:
            raise EpisodeOver("the episode has ended; reset to begin another")

    def _counted(self, step: Step) -> StepResult:
        self.step_count += 1
        self.cumulative_reward = round(self.cumulative_reward + step.reward, 6)
        self.is_done = step.is_terminated or step.is_truncated
        return StepResult(
            observation=step.observation,
            reward=step.reward,
            is_terminated=step.is_terminated,
            is_truncated=step.is_truncated,
            info=step.info,
            reward_terms=step.terms,
        )

    def call(self, request: HttpRequest, *, is_paced: bool = False) -> tuple[Called, StepResult | None]:
        """Answer a REST request of the agent's own client, and return what it led to with the step that it made, if any.

        Raises:
            EpisodeOver: if the episode has ended.
        """
        self._check_live()
        called = self._incident.call(request, is_paced=is_paced)
        if called.is_action:
            self._extend([request.method, request.target, is_paced])
        return called, None if called.step is None else self._counted(called.step)

    def run(
        self, request: HttpRequest, stdin: str, *, is_paced: bool = False
    ) -> tuple[Output, Called, StepResult | None]:
        """Carry out a command in a container, after `call` has answered the request with an `Upgrade`.

        Raises:
            EpisodeOver: if the episode has ended.
        """
        self._check_live()
        output, called = self._incident.run(request, stdin, is_paced=is_paced)
        self._extend([request.method, request.target, is_paced, output.exit_code])
        return output, called, None if called.step is None else self._counted(called.step)

    def forward(
        self, request: HttpRequest, port: int, data: bytes, *, is_paced: bool = False
    ) -> tuple[Exchanged, Called, StepResult | None]:
        """Send an HTTP request through a forwarded port, after `call` has answered the request with an `Upgrade`.

        Raises:
            EpisodeOver: if the episode has ended.
        """
        self._check_live()
        exchanged, called = self._incident.forward(request, port, data, is_paced=is_paced)
        self._extend([request.method, request.target, is_paced, port, len(exchanged.answer)])
        return exchanged, called, None if called.step is None else self._counted(called.step)

    def elapse(self, duration_ms: int) -> StepResult | None:
        """Let time pass by itself; returns a step if the episode ends meanwhile.

        How the time is cut into calls makes no difference, nor does it show in the digest of the answers.

        Raises:
            EpisodeOver: if the episode has ended.
        """
        self._check_live()
        step = self._incident.elapse(duration_ms)
        return None if step is None else self._counted(step)

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the incident's clock."""
        return self._incident.now_ms

    def state(self) -> Object:
        """Return the public state: nothing in it tells what is broken while the episode runs."""
        return {
            "episode_id": self.episode_id,
            "step_count": self.step_count,
            "suite": self.suite.id,
            "seed": self.seed,
            "cumulative_reward": self.cumulative_reward,
            "done": self.is_done,
            **self._incident.public_state(),
        }

    def score(self) -> float:
        """Return the final score in [0, 1] as it would be now, judged on a fork."""
        return self._incident.score()

    def digest(self) -> str:
        """Return the chained digest of the world and of every answer so far."""
        return hashlib.sha256((self._digest + self._incident.digest()).encode()).hexdigest()

    def fork(self) -> Episode:
        """Return an independent copy that continues from here."""
        copy = Episode(self.suite, self.task, self.seed, self.episode_id, self.options, self._incident.fork())
        copy.step_count = self.step_count
        copy.cumulative_reward = self.cumulative_reward
        copy.is_done = self.is_done
        copy._digest = self._digest
        return copy

    def _extend(self, said: object) -> None:
        text = orjson.dumps(said)
        self._digest = hashlib.sha256(self._digest.encode() + text).hexdigest()
