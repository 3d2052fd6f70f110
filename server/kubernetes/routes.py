"""The routes of each episode's Kubernetes API, guarded by the episode's token."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import orjson
from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from env_core.apiserver import errors
from env_core.rest.api import unauthorized
from env_core.rest.message import Headers, HttpResponse, Upgrade
from env_core.rest.rendering import status_response
from server.http import answer as json_answer
from server.http import refused
from server.kubernetes.access import authenticated, in_control, key_of, prefix_of
from server.kubernetes.channels import Channels
from server.kubernetes.entries import request_of
from server.kubernetes.kubeconfig import kubeconfig
from server.kubernetes.pace import SPEED_MAX, SPEED_MIN, Pacer, Stream
from server.play import Play
from server.refusals import Malformed, Refusal
from server.sessions import Session

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
HEADERS_MAX = 128
HEADER_BYTES_MAX = 65_536
WRITE_S_MAX = 30.0
"""A stream whose client takes nothing for so long is closed."""
_REASONS = {
    404: "NotFound",
    409: "Conflict",
    410: "Gone",
    413: "RequestEntityTooLarge",
    429: "TooManyRequests",
    431: "BadRequest",
    500: "InternalError",
    503: "ServiceUnavailable",
}


class KubernetesRoutes:
    """What an episode's kubeconfig leads to."""

    def __init__(self, play: Play, pacer: Pacer) -> None:
        self._play = play
        self._pacer = pacer

    async def kubeconfig(self, request: Request) -> Response:
        """Return the kubeconfig of the episode; its token must come with the request, and stays out of it."""
        session = in_control(self._play, request.scope)
        if session is None:
            return _sent(unauthorized())
        key = key_of(session)
        base = f"{str(request.base_url).rstrip('/')}/episodes/{session.alias}"
        text = kubeconfig(f"{base}/k8s" if request.url.scheme == "https" else f"{base}/tokens/{key}/k8s", key)
        return Response(text, media_type="application/yaml")

    async def pace(self, request: Request) -> Response:
        """Let the episode's clock follow the wall clock at a speed, or stop doing so with 0."""
        session = in_control(self._play, request.scope)
        if session is None:
            return _sent(unauthorized())
        try:
            body = orjson.loads(await request.body())
            speed, is_shifted = body["speed"], bool(body.get("is_shifted"))
            if isinstance(speed, bool) or not isinstance(speed, (int, float)):
                raise TypeError(speed)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
            speed, is_shifted = -1.0, False
        if speed != 0 and not SPEED_MIN <= speed <= SPEED_MAX:
            message = f"Input should be 0, or a number from {SPEED_MIN:g} to {SPEED_MAX:g}"
            return refused(Malformed([{"type": "value_error", "loc": ["body", "speed"], "msg": message}]))
        self._pacer.set_speed(session, speed, is_shifted=is_shifted)
        return json_answer({"speed": float(speed)})

    async def changes(self, request: Request) -> Response:
        """Return the steps after number `after`, oldest first, as far as they are kept."""
        session = in_control(self._play, request.scope)
        if session is None:
            return _sent(unauthorized())
        given = request.query_params.get("after", "0")
        after = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
        return json_answer({"changes": [each for each in session.changes if each["step"] > after]})

    async def api(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request to the episode's Kubernetes API."""
        request = Request(scope, receive)
        try:
            response = await self._answered(request, receive, send)
        except ClientDisconnect:
            return
        if response is not None:
            await response(scope, receive, send)

    async def _answered(self, request: Request, receive: Receive, send: Send) -> Response | None:
        scope = request.scope
        session = authenticated(self._play, scope)
        if session is None:
            return _sent(unauthorized())
        headers = scope["headers"]
        if (
            len(headers) > HEADERS_MAX
            or sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES_MAX
        ):
            return _refusal(Refusal(431, "HEADERS_TOO_LARGE", "the request has too many headers"))
        wanted = request_of(scope, prefix_of(scope), await request.body())
        shift = self._pacer.shift_of(session)
        if shift is not None:
            wanted = shift.request(wanted)
        try:
            answer = await self._play.call(session, wanted, is_paced=self._pacer.is_paced(session))
        except Refusal as refusal:
            return _refusal(refusal)
        if isinstance(answer, HttpResponse):
            return _sent(answer if shift is None else shift.answer(answer, wanted.target))
        if isinstance(answer, Upgrade):
            return _sent(status_response(errors.bad_request("this server upgrades to WebSocket only").status))
        try:
            async with self._pacer.streaming(session):
                await self._stream(session, wanted.target, answer, receive, send)
        except Refusal as refusal:
            return _refusal(refusal)
        return None

    async def _stream(
        self, session: Session, target: str, stream: Stream, receive: Receive, send: Send
    ) -> None:
        """Send what comes until the stream ends, the client goes away or does not read, or the episode is another."""
        episode = session.environment.episode
        head = {"type": "http.response.start", "status": 200, "headers": _encoded(stream.headers)}
        gone = asyncio.create_task(_gone(receive))
        try:
            await _sent_in_time(send, head)
            while session.environment.episode is episode and not gone.done():
                changed = session.changed()
                data = stream.poll()
                if data:
                    await self._play.remember(session)
                    shift = self._pacer.shift_of(session)
                    data = data if shift is None else shift.out(data, target)
                    body = {"type": "http.response.body", "body": data, "more_body": True}
                    await _sent_in_time(send, body)
                if stream.is_over or not session.is_live:
                    break
                waiting = asyncio.ensure_future(changed.wait())
                await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            if not gone.done():
                await _sent_in_time(send, {"type": "http.response.body", "body": b"", "more_body": False})
        except (TimeoutError, OSError):
            return
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone


def _encoded(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode("latin-1"), value.encode("utf-8").replace(b"\n", b" ").replace(b"\r", b" "))
        for name, value in headers
    ]


def _sent(answer: HttpResponse) -> Response:
    response = Response(answer.body, answer.code)
    response.raw_headers = [
        *_encoded(answer.headers),
        *(() if answer.code in (204, 304) else ((b"content-length", str(len(answer.body)).encode()),)),
    ]
    return response


def _refusal(refusal: Refusal) -> Response:
    details = {"retryAfterSeconds": refusal.retry_after_s} if refusal.retry_after_s else None
    reason = _REASONS.get(refusal.status, "BadRequest")
    return _sent(status_response(errors.status(refusal.status, reason, refusal.message, details)))


async def _sent_in_time(send: Send, message: dict[str, object]) -> None:
    await asyncio.wait_for(send(message), WRITE_S_MAX)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def register(app: FastAPI, play: Play, pacer: Pacer) -> None:
    """Add the routes of the episodes' Kubernetes APIs."""
    routes = KubernetesRoutes(play, pacer)
    channels = Channels(play, pacer)
    found: list[BaseRoute] = [
        Route("/episodes/{episode_id}/kubeconfig", routes.kubeconfig, methods=["GET"]),
        Route("/episodes/{episode_id}/pace", routes.pace, methods=["POST"]),
        Route("/episodes/{episode_id}/changes", routes.changes, methods=["GET"]),
    ]
    for where in ("/episodes/{episode_id}/k8s", "/episodes/{episode_id}/tokens/{token}/k8s"):
        found += [
            WebSocketRoute(f"{where}/{{path:path}}", channels.serve),
            _AnyMethod(where, routes),
            _AnyMethod(f"{where}/{{path:path}}", routes),
        ]
    app.router.routes.extend(found)


class _AnyMethod(Route):
    """A route for every method: which ones a path has, the API says."""

    def __init__(self, path: str, routes: KubernetesRoutes) -> None:
        super().__init__(path, _Endpoint(routes), include_in_schema=False)


class _Endpoint:
    """An ASGI application, as Starlette wants it for a route that streams by itself."""

    def __init__(self, routes: KubernetesRoutes) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._routes.api(scope, receive, send)
