"""The edge that every request passes: who may come in, how large a body may be, and what is told when something breaks."""

from __future__ import annotations

import hmac
import logging
import secrets
from typing import Any
from urllib.parse import parse_qs

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.settings import Settings

_log = logging.getLogger("kubedrill.server")
_OPEN_PATHS = frozenset({"/health"})
_EPISODE_PATHS = "/episodes/"
"""Below it an episode's own token is asked for, by whoever serves it."""


class _TooLarge(Exception):
    """Raised while a body is read that exceeds the bound."""


class Edge:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = settings.token.encode()
        self._body_bytes_max = settings.body_bytes_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._token and not self._is_allowed(scope):
            await _refuse(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._http(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        path = scope.get("path", "")
        if path in _OPEN_PATHS or path.startswith(_EPISODE_PATHS):
            return True
        offered = b""
        for name, value in scope.get("headers", ()):
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                offered = value[7:].strip()
        if not offered and scope["type"] == "websocket":
            # A browser cannot set headers on a socket.
            offered = parse_qs(scope.get("query_string", b"")).get(b"token", [b""])[0]
        return hmac.compare_digest(offered, self._token)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        bound, has_started, read = self._body_bytes_max, False, 0
        for name, value in scope.get("headers", ()):
            if name == b"content-length" and value.isdigit() and int(value) > bound:
                await _answer(send, 413, "PAYLOAD_TOO_LARGE", f"the body exceeds {bound} bytes")
                return

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > bound:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if has_started:
                raise
            await _answer(send, 413, "PAYLOAD_TOO_LARGE", f"the body exceeds {bound} bytes")
        except Exception as error:
            error_id = secrets.token_hex(8)
            _log.error(
                orjson.dumps({"error_id": error_id, "path": scope.get("path", "")}).decode(), exc_info=error
            )
            if has_started:
                raise
            await _answer(send, 500, "EXECUTION_ERROR", f"internal error {error_id}", error_id=error_id)


async def _answer(
    send: Send, status: int, code: str, message: str, *headers: tuple[bytes, bytes], **extra: Any
) -> None:
    body = orjson.dumps({"detail": message, "code": code, **extra})
    standard = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*standard, *headers]})
    await send({"type": "http.response.body", "body": body})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        # Before the handshake is accepted a close becomes HTTP 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    await _answer(
        send,
        401,
        "UNAUTHORIZED",
        "send the server's token as Authorization: Bearer …",
        (b"www-authenticate", b"Bearer"),
    )
