"""The WebSocket client: one socket, one episode at a time; async, or `.sync()` for code that cannot await."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from websockets.exceptions import ConnectionClosed

from kubedrill.models import KubeAction, KubeObservation, KubeState, Reward


class EpisodeError(RuntimeError):
    """Raised for an error frame. `code` says what kind; an internal failure carries an opaque `error_id`.

    After `EXECUTION_ERROR` the episode is unscorable: drop the sample, never count it as reward 0.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.code = str(error.get("code", "UNKNOWN"))
        self.error = dict(error)
        self.error_id = error.get("error_id")
        super().__init__(f"Server error: {error.get('message', 'Unknown error')} (code: {self.code})")

    @property
    def is_unscorable(self) -> bool:
        """Whether the episode ended through a failure of the server's own."""
        return self.code == "EXECUTION_ERROR"


class KubeEnv(EnvClient[KubeAction | str, KubeObservation, KubeState]):
    """The environment behind a URL.

    `reset` takes `suite`, `task` (or `task_id`), `seed`, `episode_id` and `options`; `step` takes a `KubeAction` or the command line itself.

        async with KubeEnv(base_url="http://localhost:8000") as env:
            result = await env.reset(task="easy", seed=11)
            result = await env.step("kubectl get pods -A")

    `from_docker_image` and `from_env` come from the base class, as does `.sync()`.
    """

    episode_id: str | None = None
    """The episode of this socket, known after a reset."""
    episode_token: str | None = None
    """What resumes the episode after a lost connection. Never show it to the agent."""

    async def _send_and_receive(self, message: dict[str, Any]) -> dict[str, Any]:
        # The base class flattens an error frame into a text; callers need the code to tell a lost episode from a bad command.
        # A refused socket gets an error frame before it is closed; that is still in the queue.
        with suppress(ConnectionClosed):
            await self._send(message)
        response: dict[str, Any] = await self._receive()
        if response.get("type") == "error":
            raise EpisodeError(response.get("data") or {})
        return response

    def _step_payload(self, action: KubeAction | str) -> dict[str, Any]:
        if isinstance(action, str):
            return {"command": action}
        return action.model_dump(exclude={"metadata"}, exclude_none=True)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[KubeObservation]:
        metadata = payload.get("metadata") or {}
        fields = {
            key: value
            for key, value in payload["observation"].items()
            if key not in ("metadata", "done", "reward")
        }
        reward, is_done = payload.get("reward"), bool(payload.get("done", False))
        public = {key: value for key, value in metadata.items() if key != "episode_token"}
        observation = KubeObservation(**fields, reward=reward, done=is_done, metadata=public)
        if observation.episode_id is not None:
            self.episode_id = observation.episode_id
            self.episode_token = metadata.get("episode_token", self.episode_token)
        return StepResult(observation=observation, reward=reward, done=is_done, metadata=metadata)

    def _parse_state(self, payload: dict[str, Any]) -> KubeState:
        return KubeState(**payload)

    def resume(self, episode_id: str | None = None, episode_token: str | None = None) -> Any:
        """Take up an episode again on a new socket and return its latest result. Awaitable, as `reset` is.

        Raises:
            EpisodeError: if the episode is unknown, over, or the token is not its own.
        """
        return self.reset(
            episode_id=episode_id or self.episode_id, episode_token=episode_token or self.episode_token
        )


def reward_of(result: StepResult[KubeObservation]) -> Reward:
    """Return the typed reward of a step.

    Raises:
        ValueError: if the result is that of a reset, which has no reward.
    """
    if result.reward is None:
        raise ValueError("a reset has no reward")
    return Reward(value=float(result.reward), terms=(result.metadata or {}).get("reward_terms", {}))


# OpenEnv's AutoEnv derives these names from the distribution `openenv-kubedrill`; nothing else uses them.
KubedrillEnv = KubeEnv
KubedrillAction = KubeAction
KubedrillObservation = KubeObservation
