"""`/reset`, `/step` and `/state` with memory: the stock shapes, over the table of episodes keyed by `episode_id`.

Source: OpenEnv 0.10.0 for bodies and 422 answers; SEEDS GN-03, GN-04, GN-08, GN-10 for what goes beyond them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from openenv.core.env_server.types import ResetRequest, ResetResponse, StepRequest, StepResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from kubedrill.models import KubeAction, KubeState
from server.environment import Frame, KubeResetRequest
from server.play import Play
from server.refusals import Malformed, Refusal, from_validation
from server.sessions import HTTP, Session
from server.wire import encoded

EPISODE_HEADER = "X-Episode-Id"
TOKEN_HEADER = "X-Episode-Token"
_CONTROLS = frozenset({"episode_id", "timeout_s", "request_id"})
_JOBS_MAX = 1_024
_BODY = ("body",)

Handler = Callable[[Request], Awaitable[Response]]


class StepControls(BaseModel):
    """The fields of a step that are not the action's."""

    model_config = ConfigDict(extra="ignore")

    timeout_s: float | None = Field(default=None, gt=0)
    request_id: str | None = Field(default=None, max_length=255)
    episode_id: str | None = Field(default=None, max_length=255)


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(encoded(content), status, headers, media_type="application/json")


def refused(refusal: Refusal) -> Response:
    """Return the response for a refusal."""
    headers = {} if refusal.retry_after_s is None else {"Retry-After": str(refusal.retry_after_s)}
    return answer(refusal.body(), refusal.status, headers)


def with_refusals(handler: Handler) -> Handler:
    """Return the handler with refusals and validation errors turned into responses."""

    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except ValidationError as error:
            return refused(from_validation(error, prefix=_BODY))
        except ClientDisconnect:
            # Nobody is there to read it; without it the log gets a traceback for each lost client.
            return Response(status_code=499)

    guarded.__name__ = handler.__name__
    guarded.__doc__ = handler.__doc__
    return guarded


async def json_body(request: Request, *, default: Any = None) -> dict[str, Any]:
    """Return the body as an object.

    Raises:
        Malformed: if it is something else; the errors are FastAPI's.
    """
    raw = await request.body()
    if not raw:
        if default is None:
            raise Malformed([{"type": "missing", "loc": ["body"], "msg": "Field required", "input": None}])
        given = default
    elif not _is_json(request.headers.get("content-type", "")):
        given = raw.decode("utf-8", "replace")
    else:
        try:
            given = orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise Malformed([_json_error(raw)]) from None
    if not isinstance(given, dict):
        message = "Input should be a valid dictionary or object to extract fields from"
        raise Malformed([{"type": "model_attributes_type", "loc": ["body"], "msg": message, "input": given}])
    return given


def _is_json(content_type: str) -> bool:
    kind = content_type.split(";", 1)[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _json_error(raw: bytes) -> dict[str, Any]:
    try:
        json.loads(raw)
        where, why = 0, "not valid UTF-8 JSON"
    except json.JSONDecodeError as error:
        where, why = error.pos, error.msg
    except UnicodeDecodeError:
        where, why = 0, "not valid UTF-8"
    except (RecursionError, ValueError):
        where, why = 0, "nested too deep or a number too long"
    return {
        "type": "json_invalid",
        "loc": ["body", where],
        "msg": "JSON decode error",
        "input": {},
        "ctx": {"error": why},
    }


def named_episode(request: Request, body: dict[str, Any] | None = None) -> str:
    """Return the episode id that the request names in header, query or body; empty if it names none.

    Raises:
        Malformed: if two places disagree.
    """
    body_id = (body or {}).get("episode_id")
    given = {
        value
        for value in (
            request.headers.get(EPISODE_HEADER),
            request.query_params.get("episode_id"),
            body_id if isinstance(body_id, str) else None,
        )
        if value
    }
    if len(given) > 1:
        raise Malformed(
            [
                {
                    "type": "value_error",
                    "loc": ["body", "episode_id"],
                    "msg": "header, query and body name different episodes",
                }
            ]
        )
    return given.pop() if given else ""


def offered_token(request: Request, body: dict[str, Any] | None = None) -> str:
    """Return the episode token that the request carries in header, query or body, "" for none."""
    in_body = (body or {}).get("episode_token")
    return (
        request.headers.get(TOKEN_HEADER, "")
        or request.query_params.get("episode_token", "")
        or (in_body if isinstance(in_body, str) else "")
    )


def peer_of(request: Request) -> str:
    """Return the address that the request comes from."""
    return request.client.host if request.client else ""


class EpisodeRoutes:
    """The stateful control routes."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._jobs: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._running: set[asyncio.Task[None]] = set()

    def session_of(
        self, request: Request, body: dict[str, Any] | None = None, *, needs_token: bool = False
    ) -> Session:
        """Return the session that the request means; with `needs_token`, one that is named only with its token.

        Raises:
            Refusal: if there is none, or it cannot be told which.
        """
        episode_id = named_episode(request, body)
        token = offered_token(request, body)
        table = self._play.table
        try:
            if needs_token and episode_id:
                return table.by_token(episode_id, token)
            return table.over_http(episode_id, token, peer_of(request))
        except Refusal as refusal:
            raise self._play.counted(refusal) from None

    async def reset(self, request: Request) -> Response:
        """Begin an episode; the answer names it."""
        body = await json_body(request, default={})
        return await self._begun(body, request)

    async def step(self, request: Request) -> Response:
        """Carry out one action in the episode that the request names, or in the only live one."""
        body = await json_body(request)
        StepControls.model_validate(body)
        command = _command(body)
        session = self.session_of(request, body)
        frame = await self._play.step(session, command, prefix=_BODY)
        return answer(
            {**_stock(frame), "info": frame.info}, headers={EPISODE_HEADER: _safe(session.episode_id)}
        )

    async def state(self, request: Request) -> Response:
        """Return the public state of the episode that the request names, or of the only live one."""
        session = self.session_of(request)
        return answer(self._play.state(session), headers={EPISODE_HEADER: _safe(session.episode_id)})

    async def reset_async(self, request: Request) -> Response:
        """Begin an episode in the background and return a job to ask about."""
        body = await json_body(request, default={})
        job_id = secrets.token_hex(16)
        self._jobs[job_id] = {"job_id": job_id, "status": "running"}
        while len(self._jobs) > _JOBS_MAX:
            self._jobs.popitem(last=False)
        task = asyncio.create_task(self._job(job_id, body, request))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return answer(self._jobs[job_id], 202)

    async def reset_job(self, request: Request) -> Response:
        """Return how a background reset stands."""
        job = self._jobs.get(request.path_params["job_id"])
        if job is None:
            raise self._play.counted(
                Refusal(404, "UNKNOWN_JOB", "no such job; use the job_id that reset_async returned")
            )
        return answer(job)

    async def _job(self, job_id: str, body: dict[str, Any], request: Request) -> None:
        response = await with_refusals(lambda _: self._begun(body, request))(request)
        content = orjson.loads(bytes(response.body))
        if response.status_code == 200:
            self._jobs[job_id] = {"job_id": job_id, "status": "completed", "result": content}
        else:
            self._jobs[job_id] = {
                "job_id": job_id,
                "status": "failed",
                "status_code": response.status_code,
                "error": content,
            }

    async def _begun(self, body: dict[str, Any], request: Request) -> Response:
        wanted = KubeResetRequest.model_validate(body)
        episode_id = (
            wanted.episode_id or request.headers.get(EPISODE_HEADER) or request.query_params.get("episode_id")
        )
        wanted = KubeResetRequest.model_validate({**body, "episode_id": episode_id})
        table = self._play.table
        session = table.http_session(wanted.episode_id or "")
        if session is not None and session.is_live and not session.has_token(offered_token(request, body)):
            raise self._play.counted(_in_use())
        is_new = session is None
        if session is None:
            try:
                session = table.open(HTTP, peer_of(request))
            except Refusal as refusal:
                raise self._play.counted(refusal) from None
        try:
            frame = await self._play.reset(session, wanted, prefix=_BODY)
        except Refusal:
            if is_new:
                table.end(session, "its reset was refused")
            raise
        content = _stock(frame)
        content["metadata"] = {"episode_token": session.token, **frame.metadata}
        content["task"] = session.environment.described_task()
        return answer(content, headers={EPISODE_HEADER: _safe(session.episode_id)})


def _in_use() -> Refusal:
    return Refusal(
        409,
        "EPISODE_IN_USE",
        "an episode with this episode_id is live; send its token as X-Episode-Token to begin it anew, or another episode_id",
    )


def _stock(frame: Frame) -> dict[str, Any]:
    return {
        "observation": frame.observation,
        "reward": frame.reward,
        "done": frame.done,
        "metadata": frame.metadata or None,
    }


def _safe(episode_id: str) -> str:
    # A header takes Latin-1 without control characters; an id that does not fit is in the body anyway.
    return "".join(character if " " <= character <= "~" else "?" for character in episode_id)


def _command(body: dict[str, Any]) -> str:
    if "action" in body:
        fields = body["action"]
        if not isinstance(fields, dict):
            raise Malformed(
                [
                    {
                        "type": "dict_type",
                        "loc": ["body", "action"],
                        "msg": "Input should be a valid dictionary",
                        "input": fields,
                    }
                ]
            )
    else:
        fields = {key: value for key, value in body.items() if key not in _CONTROLS}
        if not fields:
            raise Malformed(
                [{"type": "missing", "loc": ["body", "action"], "msg": "Field required", "input": body}]
            )
    try:
        return KubeAction.model_validate(fields).command
    except ValidationError as error:
        # Relative to the action, as the stock server says it.
        raise from_validation(error) from None


def register(app: FastAPI, routes: EpisodeRoutes) -> None:
    """Add the control routes, with the schemas that the stock routes publish."""
    control, state = "Environment Control", "State Management"
    _add(app, "/reset", "POST", routes.reset, control, "Begin an episode", KubeResetRequest, ResetResponse)
    _add(app, "/step", "POST", routes.step, control, "Carry out one action", StepRequest, StepResponse)
    _add(app, "/state", "GET", routes.state, state, "Public state of the episode", None, KubeState)
    _add(
        app,
        "/reset_async",
        "POST",
        routes.reset_async,
        control,
        "Begin an episode in the background",
        ResetRequest,
        None,
    )
    _add(
        app,
        "/reset_async/{job_id}",
        "GET",
        routes.reset_job,
        control,
        "How a background reset stands",
        None,
        None,
    )


def _add(
    app: FastAPI,
    path: str,
    method: str,
    handler: Handler,
    tag: str,
    summary: str,
    takes: type[BaseModel] | None,
    gives: type[BaseModel] | None,
) -> None:
    extra: dict[str, Any] = {}
    if takes is not None:
        schema = takes.model_json_schema()
        extra = {
            "requestBody": {"content": {"application/json": {"schema": schema}}, "required": path == "/step"}
        }
    responses: dict[int | str, dict[str, Any]] = {}
    if gives is not None:
        responses[200] = {"model": gives}
    guarded = with_refusals(handler)
    # The plain route answers: it comes first, and costs a third less. FastAPI's own documents it.
    app.router.routes.append(Route(path, guarded, methods=[method]))
    app.add_api_route(
        path,
        guarded,
        methods=[method],
        tags=[tag],
        summary=summary,
        responses=responses,
        openapi_extra=extra,
        response_model=None,
        name=handler.__name__,
    )
