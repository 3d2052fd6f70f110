"""The WebSocket protocol of OpenEnv at `/ws`: the stock frames and codes, over our own table of sessions.

Source: openenv 0.10.0, core/env_server/http_server.py and types.py; the deliberate differences are a resumable episode, validated
resets, the unwrapped action, and error frames that never carry an exception's text.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import orjson
from openenv.core.env_server.mcp_types import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    JsonRpcResponse,
    McpMethod,
    WSMCPMessage,
)
from openenv.core.env_server.types import WSCloseMessage, WSResetMessage, WSStateMessage, WSStepMessage
from pydantic import ValidationError
from starlette.types import Receive, Scope, Send

from env_core.episode import COMMAND_LENGTH_MAX
from kubedrill.models import KubeAction
from server.environment import Frame, KubeResetRequest
from server.play import Play
from server.refusals import Refusal, error_frame, expired, from_validation
from server.sessions import WEBSOCKET, Session
from server.sockets import AT_ONCE
from server.wire import encoded

_STEP_KEYS = {"type", "data"}


class _Closed(BaseException):
    """Raised to end the conversation, after the frame that says why, if any. Not an error, so no handler of errors sees it."""

    def __init__(self, frame: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.frame = frame


class WebSocketRoute:
    """The ASGI application at `/ws`."""

    def __init__(self, play: Play) -> None:
        self._play = play

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold one conversation."""
        await receive()
        await send({"type": "websocket.accept"})
        conversation = _Conversation(self._play, scope)
        try:
            conversation.open()
            if AT_ONCE in scope.get("extensions", ()):
                scope["extensions"][AT_ONCE](conversation.answer_at_once)
            while True:
                conversation.is_idle = True
                event = await receive()
                conversation.is_idle = False
                if event["type"] == "websocket.disconnect":
                    return
                text = event.get("text")
                answer = await conversation.answer(event.get("bytes") or b"" if text is None else text)
                await send({"type": "websocket.send", "text": encoded(answer).decode()})
        except _Closed as end:
            if end.frame is not None:
                await send({"type": "websocket.send", "text": encoded(end.frame).decode()})
            await send({"type": "websocket.close", "code": 1000})
        finally:
            conversation.leave()


class _Conversation:
    """One socket's side of things: at most one session at a time."""

    def __init__(self, play: Play, scope: Scope) -> None:
        self._play = play
        client = scope.get("client")
        self._peer = client[0] if client else ""
        self._query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        self._session: Session | None = None
        self._is_dismissed = False
        self.is_idle = False
        """Whether it waits for a message."""

    def open(self) -> None:
        """Take a slot, or take up the episode that the query names.

        Raises:
            _Closed: if there is no slot, or no such episode.
        """
        if "session_id" in self._query:
            raise _Closed(
                error_frame(
                    "SESSION_ERROR",
                    "Unknown session_id; this server's WebSocket sessions are named by episode_id and episode_token",
                )
            )
        try:
            if "episode_id" in self._query and "episode_token" in self._query:
                self._attach(self._query["episode_id"][0], self._query["episode_token"][0])
            else:
                self._take_slot()
        except Refusal as refusal:
            raise _Closed(self._play.counted(refusal).frame()) from None

    def leave(self) -> None:
        """Let go: a dismissed or empty session ends, a lost one waits for its client to come back."""
        session = self._session
        if session is None or session.holder is not self:
            return
        session.holder = None
        if self._is_dismissed or not session.episode_id:
            self._play.table.end(session, "its client closed it")

    def answer_at_once(self, raw: bytes) -> bytes | None:
        """Return the answer to a well-formed step that waits for nothing; else None, with nothing done."""
        if not self.is_idle:
            return None
        try:
            message = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return None
        if type(message) is not dict or message.get("type") != "step" or message.keys() != _STEP_KEYS:
            return None
        command = _plain_command(message["data"])
        if command is None:
            return None
        try:
            frame = self._play.step_at_once(self._held(), command)
        except Refusal as refusal:
            return encoded(refusal.frame())
        except Exception as error:
            return encoded(self._play.unexpected(error).frame())
        return None if frame is None else encoded(_observation(frame))

    async def answer(self, raw: str | bytes) -> dict[str, Any]:
        """Return the answer to one message.

        Raises:
            _Closed: if the conversation is over.
        """
        try:
            message = orjson.loads(raw)
        except orjson.JSONDecodeError:
            # The standard parser takes a little more (NaN, lone surrogates), and its words are the stock server's.
            try:
                message = json.loads(raw)
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                self._play.metrics.errors["INVALID_JSON"] += 1
                return error_frame("INVALID_JSON", f"Invalid JSON: {error}")
            except (RecursionError, ValueError):
                self._play.metrics.errors["INVALID_JSON"] += 1
                return error_frame("INVALID_JSON", "Invalid JSON: nested too deep or a number too long")
        if not isinstance(message, dict):
            raise _Closed(error_frame("SESSION_ERROR", "a message must be a JSON object"))
        try:
            if message.get("type") == "step" and message.keys() == _STEP_KEYS:
                return _observation(await self._play.step(self._held(), _command(message)))
            return await self._dispatched(message)
        except ValidationError as error:
            self._play.metrics.errors["VALIDATION_ERROR"] += 1
            return from_validation(error).frame()
        except Refusal as refusal:
            return refusal.frame()
        except Exception as error:
            return self._play.unexpected(error).frame()

    async def _dispatched(self, message: dict[str, Any]) -> dict[str, Any]:
        kind = message.get("type", "")
        if kind == "reset":
            request = KubeResetRequest.model_validate(WSResetMessage(**message).data)
            return await self._reset(request)
        if kind == "step":
            return _observation(
                await self._play.step(self._held(), _command(WSStepMessage(**message).model_dump()))
            )
        if kind == "state":
            WSStateMessage(**message)
            return {"type": "state", "data": self._play.state(self._held())}
        if kind == "close":
            WSCloseMessage(**message)
            self._is_dismissed = True
            raise _Closed
        if kind == "mcp":
            return {"type": "mcp", "data": _mcp(WSMCPMessage(**message).data, self._held()).model_dump()}
        self._play.metrics.errors["UNKNOWN_TYPE"] += 1
        return error_frame("UNKNOWN_TYPE", f"Unknown message type: {kind}")

    async def _reset(self, request: KubeResetRequest) -> dict[str, Any]:
        if request.episode_token is not None:
            try:
                self._attach(request.episode_id or "", request.episode_token)
            except Refusal as refusal:
                raise self._play.counted(refusal) from None
            return _observation(self._play.latest(self._held()))
        session = self._session
        if session is None or session.holder is not self or not self._play.table.is_open(session):
            try:
                session = self._take_slot()
            except Refusal as refusal:
                raise self._play.counted(refusal) from None
        return _observation(await self._play.reset(session, request), token=session.token)

    def _take_slot(self) -> Session:
        session = self._play.table.open(WEBSOCKET, self._peer)
        session.holder = self
        self._session = session
        return session

    def _attach(self, episode_id: str, token: str) -> None:
        session = self._play.table.by_token(episode_id, token)
        if session is self._session:
            return
        self.leave()
        # The newest connection wins: the one before it may be half open and never notice.
        session.holder = self
        self._session = session

    def _held(self) -> Session:
        session = self._session
        assert session is not None
        if not self._play.table.is_open(session):
            raise self._play.counted(expired("it was idle for too long"))
        if session.holder is not self:
            raise self._play.counted(
                Refusal(409, "EPISODE_TAKEN", "another connection has resumed this episode")
            )
        return session


def _command(message: dict[str, Any]) -> str:
    fields = message["data"]
    command = _plain_command(fields)
    return KubeAction.model_validate(WSStepMessage(data=fields).data).command if command is None else command


def _plain_command(fields: Any) -> str | None:
    """Return the command of an action that needs no validation."""
    if type(fields) is dict and len(fields) == 1:
        command = fields.get("command")
        if type(command) is str and command.isascii() and len(command) <= COMMAND_LENGTH_MAX:
            return command
    return None


def _observation(frame: Frame, *, token: str = "") -> dict[str, Any]:
    payload = frame.wire()
    if token:
        payload["metadata"] = {"episode_token": token, **frame.metadata}
    return {"type": "observation", "data": payload}


def _mcp(given: dict[str, Any], session: Session) -> JsonRpcResponse:
    try:
        request = JsonRpcRequest(**given)
    except (ValidationError, TypeError):
        return JsonRpcResponse.error_response(JsonRpcErrorCode.INVALID_REQUEST, "Invalid request")
    if not isinstance(request.params, dict):
        return JsonRpcResponse.error_response(
            JsonRpcErrorCode.INVALID_PARAMS, "Params must be an object", request_id=request.id
        )
    if request.method == "openenv/session/create":
        return JsonRpcResponse.success(result={"session_id": session.episode_id}, request_id=request.id)
    if request.method == McpMethod.TOOLS_CALL and not request.params.get("name"):
        return JsonRpcResponse.error_response(
            JsonRpcErrorCode.INVALID_PARAMS, "Missing 'name' in params", request_id=request.id
        )
    if request.method in (McpMethod.TOOLS_LIST, McpMethod.TOOLS_CALL):
        return JsonRpcResponse.error_response(
            JsonRpcErrorCode.INTERNAL_ERROR, "Environment does not support MCP", request_id=request.id
        )
    return JsonRpcResponse.error_response(
        JsonRpcErrorCode.METHOD_NOT_FOUND, f"Method not found: {request.method}", request_id=request.id
    )
