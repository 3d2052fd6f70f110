"""The peer of the WebSocket rows: an echo environment as OpenEnv's template makes it, its cap raised."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

SESSIONS_MAX = 64


class EchoAction(Action):
    """A message to send back."""

    message: str = Field(description="What to send back")


class EchoObservation(Observation):
    """The message, sent back."""

    echoed_message: str = Field(default="", description="What was sent")
    message_length: int = Field(default=0, description="How long it is")


class EchoEnvironment(Environment):
    """Synchronous reset and step, as in the template."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> EchoObservation:
        """Begin anew."""
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return EchoObservation(echoed_message="ready", reward=0.0)

    def step(self, action: EchoAction, timeout_s: float | None = None, **_: Any) -> EchoObservation:
        """Send the message back."""
        self._state.step_count += 1
        length = len(action.message)
        return EchoObservation(
            echoed_message=action.message,
            message_length=length,
            reward=min(length * 0.1, 1.0),
            metadata={"original_message": action.message, "step": self._state.step_count},
        )

    @property
    def state(self) -> State:
        """The public state."""
        return self._state


app = create_fastapi_app(
    env=EchoEnvironment,
    action_cls=EchoAction,
    observation_cls=EchoObservation,
    env_name="echo",
    max_concurrent_envs=SESSIONS_MAX,
)
