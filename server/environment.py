"""One OpenEnv environment around one episode of the simulator: translation, and no rule of its own."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata, ResetRequest
from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from env_core.dataplane.tunnel import Exchanged
from env_core.episode import Episode, InvalidInput, StepResult
from env_core.rest.message import HttpRequest
from env_core.suites import Called
from env_core.world import Output
from kubedrill.models import KubeAction, KubeObservation, KubeState
from server import tasks
from server.refusals import not_started
from server.rubric import RewardRubric

NAME = "kubedrill"
VERSION = "0.1.0"
DESCRIPTION = (
    "A gym of seeded Kubernetes incidents: a broken cluster, a page that tells the symptom, kubectl and curl to find the cause, "
    "and an executable verifier that decides whether the repair is durable."
)

_STATE_FIELDS = tuple(KubeState.model_fields)


class KubeResetRequest(ResetRequest):
    """What a reset takes. Fields that it does not know are ignored, as the stock server ignores them."""

    suite: str = Field(
        default="", max_length=255, description="The suite, with or without its version; may be left out."
    )
    task: str = Field(default="", max_length=255, description="The task; task_id is another spelling.")
    task_id: str = Field(default="", max_length=255, description="Another spelling of task.")
    hard_reset: bool = Field(
        default=False, description="Rebuild the cluster from nothing, where a backend tells the difference."
    )
    options: dict[str, Any] | None = Field(
        default=None, description="The suite's options, such as terminal_reward."
    )
    split: str = Field(default="", max_length=64, description="With index: an entry of the Task API.")
    index: int | None = Field(default=None, ge=0, description="With split: an entry of the Task API.")
    episode_token: str | None = Field(
        default=None,
        max_length=255,
        description="With episode_id, over a WebSocket: resume instead of beginning.",
    )

    @field_validator("seed", mode="before")
    @classmethod
    def _no_truth(cls, given: Any) -> Any:
        if isinstance(given, bool):
            raise PydanticCustomError("int_type", "Input should be a valid integer")
        return given

    def named(self) -> tuple[str, str, int | None]:
        """Return suite, task and seed, empty or None where the request leaves the choice to the server.

        Raises:
            InvalidInput: if two fields contradict each other, or split and index name nothing.
        """
        if self.task and self.task_id and self.task != self.task_id:
            raise InvalidInput("task_id", f"differs from task: {self.task_id!r}, {self.task!r}")
        if not self.split and self.index is None:
            return self.suite, self.task or self.task_id, self.seed
        try:
            entry = tasks.split_tasks(self.split)[self.index or 0]
        except ValueError as error:
            raise InvalidInput("split", str(error)) from None
        except IndexError:
            raise InvalidInput(
                "index", f"must be below {len(tasks.split_tasks(self.split))}, got {self.index}"
            ) from None
        return entry["suite"], entry["task"], entry["seed"] if self.seed is None else self.seed


@dataclass(slots=True, kw_only=True)
class Frame:
    """One answer, before it takes the form of a transport. Never changed; not frozen, as every step makes one."""

    observation: dict[str, Any]
    reward: float | None
    done: bool
    metadata: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """Return the payload of a WebSocket observation frame: the stock shape, metadata only when there is some."""
        payload = {"observation": self.observation, "reward": self.reward, "done": self.done}
        if self.metadata:
            payload["metadata"] = self.metadata
        return payload


class KubeEnvironment(Environment[KubeAction, KubeObservation, KubeState]):
    """An episode as OpenEnv sees it. It does not block: a step is pure computation."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_SINGLE_THREAD_EXECUTOR = True

    def __init__(self) -> None:
        super().__init__(rubric=RewardRubric())
        self.episode: Episode | None = None

    # What the server's own routes use: plain values, no model on the way.

    def begin(self, request: KubeResetRequest) -> Frame:
        """Begin an episode and return its first frame.

        Raises:
            UnknownName: if the suite or task does not exist.
            InvalidInput: if a field is out of range.
        """
        suite, task, seed = request.named()
        episode_id = request.episode_id or secrets.token_hex(16)
        self.episode, result = Episode.reset(
            suite=suite, task=task, seed=seed, episode_id=episode_id, options=request.options
        )
        observation = {"metadata": {}, "episode_id": episode_id, **result.observation}
        return Frame(observation=observation, reward=None, done=result.is_done)

    def act(self, command: str) -> Frame:
        """Carry out one command line and return its frame.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
            InvalidInput: if the command is too long.
        """
        return _step_frame(self._played().step(command))

    def call(self, request: HttpRequest, *, is_paced: bool) -> tuple[Called, Frame | None]:
        """Answer a request to the Kubernetes API, and return the frame of the step that it made, if any.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
        """
        called, result = self._played().call(request, is_paced=is_paced)
        return called, None if result is None else _step_frame(result)

    def run(self, request: HttpRequest, stdin: str, *, is_paced: bool) -> tuple[Output, Called, Frame | None]:
        """Carry out a command in a container.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
        """
        output, called, result = self._played().run(request, stdin, is_paced=is_paced)
        return output, called, None if result is None else _step_frame(result)

    def forward(
        self, request: HttpRequest, port: int, data: bytes, *, is_paced: bool
    ) -> tuple[Exchanged, Called, Frame | None]:
        """Send an HTTP request through a forwarded port.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
        """
        exchanged, called, result = self._played().forward(request, port, data, is_paced=is_paced)
        return exchanged, called, None if result is None else _step_frame(result)

    def elapse(self, duration_ms: int) -> Frame | None:
        """Let time pass by itself, and return the frame of the step that ended the episode meanwhile, if any.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
        """
        result = self._played().elapse(duration_ms)
        return None if result is None else _step_frame(result)

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the episode's clock.

        Raises:
            Refusal: if there is no episode.
        """
        return self._played().now_ms

    def _played(self) -> Episode:
        if self.episode is None:
            raise not_started()
        return self.episode

    def public_state(self) -> dict[str, Any]:
        """Return the fields of `KubeState` and no other, whatever a suite may add to its own."""
        if self.episode is None:
            return KubeState().model_dump()
        given = self.episode.state()
        return KubeState(**{name: given[name] for name in _STATE_FIELDS if name in given}).model_dump()

    def described_task(self) -> dict[str, Any] | None:
        """Return the public description of the task that is played; an unlisted task keeps its id to itself."""
        if self.episode is None:
            return None
        shown_id = "" if self.episode.task.is_listed else str(self.episode.state().get("task", ""))
        return tasks.described(self.episode.suite, self.episode.task, shown_id=shown_id)

    # The interface of OpenEnv.

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        suite: str = "",
        task: str = "",
        task_id: str = "",
        options: dict[str, Any] | None = None,
        **_: Any,
    ) -> KubeObservation:
        """Begin an episode.

        Raises:
            UnknownName: if the suite or task does not exist.
            InvalidInput: if a field is out of range.
        """
        self._reset_rubric()
        request = KubeResetRequest(
            seed=seed, episode_id=episode_id, suite=suite, task=task, task_id=task_id, options=options
        )
        return _modelled(self.begin(request))

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> KubeObservation:
        """Begin an episode, on the event loop."""
        return self.reset(seed=seed, episode_id=episode_id, **kwargs)

    def step(self, action: KubeAction, timeout_s: float | None = None, **_: Any) -> KubeObservation:
        """Carry out one action. `timeout_s` has no effect: a step is bounded by its own work.

        Raises:
            Refusal: if there is no episode.
            EpisodeOver: if it has ended.
        """
        observation = _modelled(self.act(action.command))
        self._apply_rubric(action, observation)
        return observation

    async def step_async(
        self, action: KubeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> KubeObservation:
        """Carry out one action, on the event loop."""
        return self.step(action, timeout_s, **kwargs)

    @property
    def state(self) -> KubeState:
        """The public state; without an episode, an empty one."""
        return KubeState(**self.public_state())

    def get_metadata(self) -> EnvironmentMetadata:
        """Return name, description and version."""
        return EnvironmentMetadata(name=NAME, description=DESCRIPTION, version=VERSION)

    def list_splits(self) -> list[dict[str, str]]:
        """Return the splits of the Task API."""
        return tasks.split_names()

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the entries of a split."""
        return list(tasks.split_tasks(split))

    def num_tasks(self, split: str) -> int:
        """Return how many entries a split has."""
        return len(tasks.split_tasks(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return one entry.

        Raises:
            IndexError: if there is none of that index.
        """
        if index < 0:
            raise IndexError(index)
        return tasks.split_tasks(split)[index]

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the entries from start, inclusive, to stop, exclusive."""
        return list(tasks.split_tasks(split)[start:stop])

    def close(self) -> None:
        """Let go of the episode."""
        self.episode = None


def _step_frame(result: StepResult) -> Frame:
    reward = result.reward
    assert reward is not None
    assert math.isfinite(reward)
    return Frame(
        observation={"metadata": {}, **result.observation},
        reward=float(reward),
        done=result.is_done,
        metadata={"reward_terms": dict(result.reward_terms)},
        info=result.info,
    )


def _modelled(frame: Frame) -> KubeObservation:
    fields = {
        key: value for key, value in frame.observation.items() if key not in ("metadata", "done", "reward")
    }
    return KubeObservation(**fields, reward=frame.reward, done=frame.done, metadata=frame.metadata)
