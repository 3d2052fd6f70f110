"""Port-forward: SPDY frames inside WebSocket messages, a pair of streams for each connection of the client.

Source: k8s.io/apimachinery pkg/util/portforward; k8s.io/apiserver pkg/util/proxy (tunneling over WebSocket).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from env_core.dataplane.tunnel import REQUEST_BYTES_MAX, split_request
from env_core.rest.message import HttpRequest
from server.kubernetes.pace import Pacer
from server.kubernetes.spdy import DATA, GOAWAY, PING, RST_STREAM, SYN_STREAM, Connection, Frame, SpdyError
from server.play import Play
from server.sessions import Session

PROTOCOL: Final = "SPDY/3.1+portforward.k8s.io"
STREAMS_MAX: Final = 256
IDLE_S_MAX: Final = 300.0
_CHUNK: Final = 32_768
_ERROR, _DATA = "error", "data"


@dataclass(slots=True)
class _Stream:
    """One stream of a connection: its part in a request, its port, and what has come on it."""

    kind: str
    port: int
    request_id: str
    received: bytes = b""


class Tunnel:
    """Serves one port-forward: what comes on a data stream is HTTP, and so is what goes back."""

    def __init__(
        self, play: Play, pacer: Pacer, session: Session, request: HttpRequest, socket: WebSocket
    ) -> None:
        self._play = play
        self._pacer = pacer
        self._session = session
        self._request = request
        self._socket = socket
        self._connection = Connection()
        self._streams: dict[int, _Stream] = {}

    async def serve(self) -> None:
        """Serve until the client leaves or says what is no SPDY."""
        await self._socket.accept(subprotocol=PROTOCOL)
        while True:
            try:
                message = await asyncio.wait_for(self._socket.receive(), IDLE_S_MAX)
            except (TimeoutError, WebSocketDisconnect):
                break
            if message["type"] == "websocket.disconnect":
                return
            try:
                for frame in self._connection.feed(message.get("bytes") or b""):
                    if not await self._took(frame):
                        return
            except SpdyError:
                break
        await self._socket.close()

    async def _took(self, frame: Frame) -> bool:
        """Take one frame; return whether the connection goes on."""
        if frame.kind == SYN_STREAM:
            await self._opened(frame)
        elif frame.kind == DATA:
            await self._came(frame)
        elif frame.kind == RST_STREAM:
            self._streams.pop(frame.stream, None)
        elif frame.kind == PING:
            await self._send(self._connection.pong(frame.data))
        return frame.kind != GOAWAY

    async def _opened(self, frame: Frame) -> None:
        port = frame.headers.get("port", "")
        kind = frame.headers.get("streamtype", "")
        if kind not in (_ERROR, _DATA) or not port.isdecimal() or len(self._streams) >= STREAMS_MAX:
            await self._send(self._connection.reset(frame.stream))
            return
        self._streams[frame.stream] = _Stream(kind, int(port), frame.headers.get("requestid", ""))
        await self._send(self._connection.reply(frame.stream))

    async def _came(self, frame: Frame) -> None:
        stream = self._streams.get(frame.stream)
        if stream is None or stream.kind != _DATA:
            return
        stream.received += frame.data
        try:
            while (taken := split_request(stream.received)) is not None:
                whole, stream.received = taken
                exchanged = await self._play.forward(
                    self._session,
                    self._request,
                    stream.port,
                    whole,
                    is_paced=self._pacer.is_paced(self._session),
                )
                if exchanged.problem or not exchanged.answer:
                    await self._end(frame.stream, stream, exchanged.problem)
                    return
                for at in range(0, len(exchanged.answer), _CHUNK):
                    part = exchanged.answer[at : at + _CHUNK]
                    await self._send(self._connection.data(frame.stream, part))
        except ValueError:
            await self._end(frame.stream, stream, "")
            return
        if frame.is_last or len(stream.received) > REQUEST_BYTES_MAX:
            await self._end(frame.stream, stream, "")

    async def _end(self, number: int, stream: _Stream, problem: str) -> None:
        """End both streams of a connection, with what went wrong on the one for errors."""
        for other, each in list(self._streams.items()):
            if each.kind == _ERROR and each.request_id == stream.request_id:
                text = f"error forwarding port {stream.port} to pod: {problem}" if problem else ""
                await self._send(self._connection.data(other, text.encode(), is_last=True))
                del self._streams[other]
        await self._send(self._connection.data(number, b"", is_last=True))
        self._streams.pop(number, None)

    async def _send(self, data: bytes) -> None:
        await asyncio.wait_for(self._socket.send_bytes(data), IDLE_S_MAX)
