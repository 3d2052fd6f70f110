"""The declaration of a suite: its tasks, and the incident that an episode drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from env_core.dataplane.tunnel import Exchanged
from env_core.rest.api import Answer
from env_core.rest.message import HttpRequest
from env_core.world import Object, Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task: frozen, public data. Nothing in it tells what is broken."""

    id: str
    difficulty: str
    name: str
    description: str
    default_seed: int
    steps_max: int
    is_listed: bool = True
    """Whether `/tasks` shows it among the suite's official tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOptions:
    """What a reset may ask for beyond suite, task and seed."""

    reward_mode: str = "kubedrill"
    """"kubedrill", or "seed" for the formula exactly as the seed document ships it."""
    terminal_reward: bool = False
    """Add, on the last step, the gain of the hidden final score over its value at reset."""
    max_output_chars: int = 0
    """Cut longer command outputs as a terminal tool would; 0 for the default bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one action led to."""

    observation: Object
    reward: float
    is_terminated: bool = False
    is_truncated: bool = False
    info: Object = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What a REST request led to: its answer, and the step that it made or completed, if it did."""

    answer: Answer
    is_action: bool
    """Whether it belongs to what was done, and to a replay; free reads (discovery) do not."""
    step: Step | None = None


class Incident(Protocol):
    """A world with something wrong in it, and the rules by which a suite scores what is done about it."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the incident's clock."""

    def observe(self) -> Object:
        """Return the initial observation."""

    def act(self, command: str) -> Step:
        """Carry out one command line."""

    def call(self, request: HttpRequest, *, is_paced: bool) -> Called:
        """Answer a REST request of the agent's own client.

        `is_paced` says that time passes by itself (`elapse`), so that the request lets none pass and reads are free.
        """

    def run(self, request: HttpRequest, stdin: str, *, is_paced: bool) -> tuple[Output, Called]:
        """Carry out a command in a container that `call` has answered with an `Upgrade`, with all of its input."""

    def forward(
        self, request: HttpRequest, port: int, data: bytes, *, is_paced: bool
    ) -> tuple[Exchanged, Called]:
        """Send an HTTP request through a port that `call` has answered with an `Upgrade`."""

    def elapse(self, duration_ms: int) -> Step | None:
        """Let time pass; returns a step if the incident ends meanwhile. Twice 500 ms is the same as once 1000."""

    def public_state(self) -> Object:
        """Return the suite's part of `/state`: safe to show at any time."""

    def score(self) -> float:
        """Return the final score in [0, 1] as it would be now, judged on a fork."""

    def digest(self) -> str:
        """Return the chained digest of everything that has happened."""

    def fork(self) -> Incident:
        """Return an independent copy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A named set of tasks with one way to begin and score them.

    `version` goes into the public id ("tron-v1"); bump it when anything learnable changes.
    """

    name: str
    version: int
    summary: str
    tasks: tuple[Task, ...]
    reward_range: tuple[float, float]
    begin: Callable[[Task, int, ResetOptions], Incident]
    reference: Callable[[Task, int], tuple[tuple[str, ...], ...]]
    """(task, seed) → honest repair scripts, at least two; for tests and demonstrations only."""
    decoys: Callable[[Task, int], tuple[tuple[str, ...], ...]]
    """(task, seed) → scripts that must not be accepted; for tests only."""

    seeds: Mapping[str, range] = field(default_factory=dict)
    """The seeds of each split ("train", "eval", "test"), which never meet; empty where any seed may be anything."""
    warm: Callable[[], None] = lambda: None
    """Build ahead what the first resets would otherwise wait for."""

    @property
    def id(self) -> str:
        """The versioned id."""
        return f"{self.name}-v{self.version}"
