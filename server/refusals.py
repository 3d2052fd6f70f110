"""What the server says no to: one exception with an HTTP status, a code, and what the caller can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from env_core.episode import EpisodeOver, InvalidInput, UnknownName


class Refusal(Exception):
    """A request that is not carried out. Nothing has changed.

    `extra` goes into the answer as it is, so it must be safe to show.
    """

    def __init__(
        self, status: int, code: str, message: str, *, retry_after_s: int | None = None, **extra: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """Return the JSON of an HTTP answer."""
        return {"detail": self.message, "code": self.code, **self._more()}

    def frame(self) -> dict[str, Any]:
        """Return the WebSocket error frame."""
        return error_frame(self.code, self.message, status=self.status, **self._more())

    def _more(self) -> dict[str, Any]:
        return (
            self.extra if self.retry_after_s is None else {**self.extra, "retry_after_s": self.retry_after_s}
        )


class Malformed(Refusal):
    """A request whose fields do not fit: 422 over HTTP with pydantic's list, `VALIDATION_ERROR` over a socket."""

    def __init__(self, errors: Sequence[Any]) -> None:
        super().__init__(422, "VALIDATION_ERROR", "Invalid message")
        self.errors = list(errors)

    def body(self) -> dict[str, Any]:
        """Return the JSON of an HTTP answer, as FastAPI shapes it."""
        return {"detail": self.errors}

    def frame(self) -> dict[str, Any]:
        """Return the WebSocket error frame, as the stock server shapes it."""
        return error_frame(self.code, self.message, errors=self.errors)


def error_frame(code: str, message: str, **extra: Any) -> dict[str, Any]:
    """Return an error frame of the OpenEnv WebSocket protocol."""
    return {"type": "error", "data": {"message": message, "code": code, **extra}}


def from_validation(error: ValidationError, *, prefix: tuple[str, ...] = ()) -> Malformed:
    """Return the refusal for a model that did not validate; `prefix` says where the model came from."""
    errors: list[Any] = []
    for entry in error.errors(include_url=not prefix):
        shown: dict[str, Any] = dict(entry)
        shown["loc"] = [*prefix, *entry["loc"]]
        if "ctx" in shown:
            shown["ctx"] = {
                key: value if isinstance(value, (int, float, str)) else str(value)
                for key, value in shown["ctx"].items()
            }
        errors.append(shown)
    return Malformed(errors)


def from_simulator(
    error: UnknownName | InvalidInput | EpisodeOver, *, prefix: tuple[str, ...] = ()
) -> Refusal:
    """Return the refusal for one of the simulator's own."""
    if isinstance(error, UnknownName):
        return Refusal(404, f"UNKNOWN_{error.what.upper()}", str(error), valid=list(error.valid))
    if isinstance(error, InvalidInput):
        return Malformed(
            [{"type": "value_error", "loc": [*prefix, *error.field.split(".")], "msg": str(error)}]
        )
    return ended()


def ended() -> Refusal:
    """Return the refusal of a step after the end."""
    return Refusal(410, "EPISODE_ENDED", "the episode has ended; reset to begin another")


def expired(why: str) -> Refusal:
    """Return the refusal for an episode that the server has ended."""
    return Refusal(410, "EPISODE_EXPIRED", f"the episode has been ended: {why}; reset to begin another")


def not_started() -> Refusal:
    """Return the refusal of a step before any reset."""
    return Refusal(409, "EPISODE_NOT_STARTED", "no episode has been started; reset first")


def failed(error_id: str) -> Refusal:
    """Return the refusal for a failure of our own; the log has the rest under the same id."""
    return Refusal(
        500,
        "EXECUTION_ERROR",
        f"internal error {error_id}; the episode has ended and must not be scored",
        error_id=error_id,
        unscorable=True,
    )
