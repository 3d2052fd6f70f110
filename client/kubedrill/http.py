"""The plain HTTP client: three calls, one episode, nothing to install on the other side but a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import httpx

from kubedrill.models import KubeObservation, KubeState, Reward, StepInfo, TaskInfo


class HttpError(RuntimeError):
    """Raised for an answer that is an error. `status` is the HTTP status, `code` the server's word for it."""

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResult:
    """The answer to a reset or a step."""

    observation: KubeObservation
    reward: Reward | None
    done: bool
    task: TaskInfo | None = None
    info: StepInfo | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class KubeHttpClient:
    """One episode over HTTP. `reset` begins it; `step` and `state` name it by its id."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=base_url.rstrip("/"), headers=headers, timeout=timeout_s, transport=transport
        )
        self.episode_id: str | None = None
        self.episode_token: str | None = None
        """What grading the episode and beginning it anew by its id take."""

    def __enter__(self) -> KubeHttpClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The episode lives on until the server's idle limit."""
        self._http.close()

    def reset(
        self,
        task_id: str | None = None,
        seed: int | None = None,
        hard_reset: bool = False,
        *,
        task: str | None = None,
        suite: str | None = None,
        episode_id: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> HttpResult:
        """Begin an episode; `task` and `task_id` are the same.

        Raises:
            HttpError: for an unknown task or suite (404), a bad field (422) or a full server (503).
        """
        given = {
            "task": task,
            "task_id": task_id,
            "seed": seed,
            "suite": suite,
            "episode_id": episode_id,
            "options": options,
            "hard_reset": hard_reset or None,
        }
        is_own = episode_id is not None and episode_id == self.episode_id
        headers = {"X-Episode-Token": self.episode_token} if is_own and self.episode_token else {}
        body = {key: value for key, value in given.items() if value is not None}
        result = self._result(self._call("POST", "/reset", body, headers=headers))
        self.episode_id = result.observation.episode_id
        self.episode_token = result.metadata.get("episode_token")
        return result

    def step(self, command: str) -> HttpResult:
        """Carry out one command line.

        Raises:
            HttpError: if there is no episode (409), or it is over (410).
        """
        return self._result(self._call("POST", "/step", {"command": command}))

    def state(self) -> KubeState:
        """Return the public state of the episode.

        Raises:
            HttpError: if there is no episode (409).
        """
        return KubeState(**self._call("GET", "/state"))

    def tasks(self) -> list[TaskInfo]:
        """Return the listed tasks."""
        return [TaskInfo(**entry) for entry in self._call("GET", "/tasks")["tasks"]]

    def grade(self, episode_id: str | None = None, episode_token: str = "") -> float:
        """Return the reported score of an episode, this client's own by default; strictly between 0 and 1.

        Raises:
            HttpError: if the server does not know the episode, or the token is not its own.
        """
        is_own = episode_id is None or episode_id == self.episode_id
        token = episode_token or (self.episode_token if is_own else None) or ""
        headers = {"X-Episode-Id": episode_id or self.episode_id or "", "X-Episode-Token": token}
        return float(self._call("POST", "/grader", {}, headers=headers)["score"])

    def is_healthy(self) -> bool:
        """Whether the server answers and says that it is well."""
        try:
            return self._http.get("/health").is_success
        except httpx.TransportError:
            return False

    def _call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        if headers is None:
            headers = {"X-Episode-Id": self.episode_id} if self.episode_id else {}
        response = self._http.request(method, path, json=body, headers=headers)
        if response.is_success:
            answer: dict[str, Any] = response.json()
            return answer
        try:
            error = response.json()
        except ValueError:
            error = {}
        detail = error.get("detail", response.text) if isinstance(error, dict) else response.text
        code = str(error.get("code", "")) if isinstance(error, dict) else ""
        after = response.headers.get("Retry-After")
        raise HttpError(
            response.status_code, code or "ERROR", str(detail), retry_after_s=float(after) if after else None
        )

    @staticmethod
    def _result(answer: dict[str, Any]) -> HttpResult:
        metadata = answer.get("metadata") or {}
        reward, is_done = answer.get("reward"), bool(answer.get("done"))
        fields = {
            key: value
            for key, value in answer["observation"].items()
            if key not in ("metadata", "done", "reward")
        }
        return HttpResult(
            observation=KubeObservation(**fields, reward=reward, done=is_done),
            reward=None if reward is None else Reward(value=reward, terms=metadata.get("reward_terms", {})),
            done=is_done,
            task=TaskInfo(**answer["task"]) if answer.get("task") else None,
            info=StepInfo(**answer["info"]) if answer.get("info") else None,
            metadata=metadata,
        )


def graded(base_url: str, episode_id: str, episode_token: str, *, token: str | None = None) -> float:
    """Return what the server's grader gives an episode as it stands, also one that is played over a WebSocket.

    Raises:
        HttpError: if the server does not know the episode.
    """
    url = base_url.replace("ws://", "http://", 1).replace("wss://", "https://", 1)
    with KubeHttpClient(url, token=token) as client:
        return client.grade(episode_id, episode_token)
