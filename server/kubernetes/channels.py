"""exec and attach over WebSocket: `v5.channel.k8s.io` and its elders, with one byte of channel before each message.

Source: k8s.io/apimachinery pkg/util/remotecommand; k8s.io/apiserver pkg/util/wsstream;
https://kubernetes.io/docs/reference/using-api/api-concepts (streaming).
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from env_core.rest.api import Answer, unauthorized
from env_core.rest.message import HttpRequest, HttpResponse, Upgrade
from env_core.world import Output
from server.kubernetes.access import authenticated, prefix_of
from server.kubernetes.entries import request_of, text_of
from server.kubernetes.forwarding import Forwarder
from server.kubernetes.interactive import LineEditor, ShellSession, is_interactive
from server.kubernetes.pace import Pacer
from server.kubernetes.portchannels import PROTOCOL as PORT_CHANNELS
from server.kubernetes.portchannels import PortChannels, refusal_of
from server.kubernetes.portforward import PROTOCOL as TUNNEL
from server.kubernetes.portforward import Tunnel
from server.play import Play
from server.refusals import Refusal
from server.sessions import Session

PROTOCOLS = (
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v3.channel.k8s.io",
    "v2.channel.k8s.io",
    "channel.k8s.io",
)
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
STDIN_BYTES_MAX = 1 << 20
IDLE_S_MAX = 300.0
"""A connection on which nothing comes for so long is closed."""
QUIET_S = 0.5
"""Older protocols cannot say that the input has ended: it has when nothing more comes for so long."""
_CHUNK = 32_768
_SUCCESS = {"metadata": {}, "status": "Success"}


class Channels:
    """Serves the WebSockets of containers."""

    def __init__(self, play: Play, pacer: Pacer) -> None:
        self._play = play
        self._pacer = pacer

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection."""
        session = authenticated(self._play, socket.scope)
        if session is None:
            await _denied(socket, unauthorized())
            return
        request = _with_upgrade(request_of(socket.scope, prefix_of(socket.scope), method="GET"))
        try:
            answer = await self._play.call(session, request, is_paced=self._pacer.is_paced(session))
            if not isinstance(answer, Upgrade):
                await _denied(socket, answer if isinstance(answer, HttpResponse) else None)
                return
            await self._connected(session, socket, request, answer)
        except Refusal as refusal:
            await _failed(socket, refusal)
        except (WebSocketDisconnect, TimeoutError, OSError):
            return

    async def _connected(
        self, session: Session, socket: WebSocket, request: HttpRequest, upgrade: Upgrade
    ) -> None:
        offered = socket.scope.get("subprotocols") or []
        if upgrade.kind == "portforward":
            async with self._pacer.streaming(session):
                await self._forward(session, socket, request, upgrade)
            return
        protocol = next((name for name in PROTOCOLS if name in offered), None)
        if offered and protocol is None:
            await _denied(socket, None)
            return
        is_new = protocol == PROTOCOLS[0]
        if upgrade.kind == "attach":
            await socket.accept(subprotocol=protocol)
            async with self._pacer.streaming(session):
                await self._attached(socket)
            return
        command = upgrade.request.exec.command if upgrade.request.exec is not None else ()
        if "stdin" not in upgrade.streams:
            # A command that cannot be run is refused before there is a connection.
            output, answer = await self._run(session, request, "")
            if not isinstance(answer, Upgrade):
                await _denied(socket, answer if isinstance(answer, HttpResponse) else None)
                return
            await socket.accept(subprotocol=protocol)
            await _told(socket, output, command)
        elif is_interactive(command):
            await socket.accept(subprotocol=protocol)
            async with self._pacer.streaming(session):
                await self._converse(session, socket, request, is_tty="tty" in upgrade.streams)
        else:
            await socket.accept(subprotocol=protocol)
            stdin = await _input(socket, has_end=is_new)
            output, answer = await self._run(session, request, text_of(stdin))
            if isinstance(answer, Upgrade):
                await _told(socket, output, command)
            else:
                await _send(socket, ERROR, answer.body if isinstance(answer, HttpResponse) else b"")
        await _closed(socket)

    async def _forward(
        self, session: Session, socket: WebSocket, request: HttpRequest, upgrade: Upgrade
    ) -> None:
        offered = socket.scope.get("subprotocols") or []
        forwarder = Forwarder(self._play, self._pacer, session, request)
        if TUNNEL in offered:
            await Tunnel(forwarder, socket).serve()
        elif problem := refusal_of(upgrade.ports):
            await socket.send_denial_response(Response(problem, 400, media_type="text/plain"))
        elif offered and PORT_CHANNELS not in offered:
            await _denied(socket, None)
        else:
            protocol = PORT_CHANNELS if offered else None
            await PortChannels(forwarder, upgrade.ports, socket).serve(protocol)

    async def _run(self, session: Session, request: HttpRequest, stdin: str) -> tuple[Output, Answer]:
        return await self._play.run(session, request, stdin, is_paced=self._pacer.is_paced(session))

    async def _converse(
        self, session: Session, socket: WebSocket, request: HttpRequest, *, is_tty: bool
    ) -> None:
        """Hold a conversation with a shell: each line is a command of its own."""
        shell = ShellSession(request, is_tty=is_tty)
        editor = LineEditor(has_echo=is_tty)
        if is_tty:
            await _send(socket, STDOUT, shell.prompt)
        is_over = False
        while not (is_over or shell.is_over):
            channel, data = await _received(socket)
            if channel is None:
                return
            if channel == CLOSE:
                echo, lines, is_over = b"", [editor.rest()], True
            elif channel == STDIN:
                echo, lines, is_over = editor.feed(data)
            else:
                continue
            await _send(socket, STDOUT, echo)
            for said in lines:
                wanted = shell.request(said, is_last=channel == CLOSE)
                if wanted is not None:
                    output, answer = await self._run(session, wanted, "")
                    if not isinstance(answer, Upgrade):
                        await _send(socket, ERROR, answer.body if isinstance(answer, HttpResponse) else b"")
                        return
                    stdout, stderr = shell.printed(output)
                    await _send(socket, STDOUT, _for_terminal(stdout + stderr) if is_tty else stdout)
                    await _send(socket, STDERR, b"" if is_tty else stderr)
                if shell.is_over:
                    break
                await _send(socket, STDOUT, shell.prompt if is_tty and not is_over else b"")
        await _send(socket, ERROR, orjson.dumps(_status(shell.exit_code, ("sh",))))

    async def _attached(self, socket: WebSocket) -> None:
        """Stay attached to a process that prints nothing here, until the client leaves."""
        while True:
            channel, _ = await _received(socket)
            if channel is None or channel == CLOSE:
                break
        await _send(socket, ERROR, orjson.dumps(_SUCCESS))
        await _closed(socket)


def _with_upgrade(request: HttpRequest) -> HttpRequest:
    """Return the request of a WebSocket with the header by which HTTP knows it."""
    kept = tuple(pair for pair in request.headers if pair[0] not in ("connection", "upgrade"))
    return HttpRequest(
        method=request.method,
        target=request.target,
        headers=(*kept, ("connection", "Upgrade"), ("upgrade", "websocket")),
    )


async def _received(socket: WebSocket) -> tuple[int | None, bytes]:
    """Return channel and data of the next message; channel None after the last."""
    message = await asyncio.wait_for(socket.receive(), IDLE_S_MAX)
    if message["type"] == "websocket.disconnect":
        return None, b""
    data = message.get("bytes")
    if data is None:
        data = (message.get("text") or "").encode()
    return (data[0], data[1:]) if data else (STDIN, b"")


async def _input(socket: WebSocket, *, has_end: bool) -> bytes:
    """Return all of a client's input, until it says that it has ended, falls silent or says too much."""
    data = b""
    while len(data) <= STDIN_BYTES_MAX:
        try:
            wait_s = IDLE_S_MAX if has_end or not data else QUIET_S
            channel, part = await asyncio.wait_for(_received(socket), wait_s)
        except TimeoutError:
            break
        if channel is None or channel == CLOSE:
            break
        if channel == STDIN:
            data += part
    return data[:STDIN_BYTES_MAX]


async def _told(socket: WebSocket, output: Output, command: tuple[str, ...]) -> None:
    for channel, text in ((STDOUT, output.stdout), (STDERR, output.stderr)):
        await _send(socket, channel, text.encode("utf-8", "surrogateescape"))
    await _send(socket, ERROR, orjson.dumps(_status(output.exit_code, command)))


def _status(exit_code: int, command: tuple[str, ...]) -> dict[str, Any]:
    """Return how a command ended, as the kubelet tells it. Source: pkg/kubelet remotecommand, client-go v4 protocol."""
    if exit_code == 0:
        return _SUCCESS
    words = " ".join(command)
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: error executing command [{words}], exit code {exit_code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(exit_code)}]},
    }


async def _send(socket: WebSocket, channel: int, data: bytes) -> None:
    for at in range(0, len(data), _CHUNK):
        await asyncio.wait_for(socket.send_bytes(bytes((channel,)) + data[at : at + _CHUNK]), IDLE_S_MAX)


def _for_terminal(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


async def _closed(socket: WebSocket) -> None:
    if (
        socket.application_state is WebSocketState.CONNECTED
        and socket.client_state is WebSocketState.CONNECTED
    ):
        await socket.close()


async def _denied(socket: WebSocket, answer: HttpResponse | None) -> None:
    """Answer the handshake with a refusal of the API, or with one for want of a common protocol."""
    if answer is None:
        response = Response("unable to upgrade: unable to negotiate protocol", 400)
    else:
        response = Response(answer.body, answer.code, dict(answer.headers))
    await socket.send_denial_response(response)


async def _failed(socket: WebSocket, refusal: Refusal) -> None:
    if socket.application_state is WebSocketState.CONNECTING:
        await socket.send_denial_response(Response(refusal.message, refusal.status))
    else:
        await _closed(socket)
