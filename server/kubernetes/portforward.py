"""Port-forward as kubectl does it: SPDY frames inside WebSocket messages, a pair of streams for each connection.

Source: k8s.io/apimachinery pkg/util/portforward; k8s.io/apiserver pkg/util/proxy (tunneling over WebSocket).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from server.kubernetes.forwarding import Conversation, Forwarder
from server.kubernetes.spdy import DATA, GOAWAY, PING, RST_STREAM, SYN_STREAM, Connection, Frame, SpdyError

PROTOCOL: Final = "SPDY/3.1+portforward.k8s.io"
STREAMS_MAX: Final = 256
IDLE_S_MAX: Final = 300.0
_ERROR, _DATA = "error", "data"


@dataclass(slots=True)
class _Stream:
    """One stream of a connection: its part in it, which connection, and the connection itself."""

    kind: str
    request_id: str
    conversation: Conversation


class Tunnel:
    """Serves one port-forward: what comes on a data stream is HTTP, and so is what goes back."""

    def __init__(self, forwarder: Forwarder, socket: WebSocket) -> None:
        self._forwarder = forwarder
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
        is_port = port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65_535
        if kind not in (_ERROR, _DATA) or not is_port or len(self._streams) >= STREAMS_MAX:
            await self._send(self._connection.reset(frame.stream))
            return
        conversation = self._forwarder.connection(int(port))
        self._streams[frame.stream] = _Stream(kind, frame.headers.get("requestid", ""), conversation)
        await self._send(self._connection.reply(frame.stream))

    async def _came(self, frame: Frame) -> None:
        stream = self._streams.get(frame.stream)
        if stream is None or stream.kind != _DATA:
            return
        conversation = stream.conversation
        async for part in conversation.answers(frame.data, is_last=frame.is_last):
            await self._send(self._connection.data(frame.stream, part))
        if conversation.is_over:
            await self._end(frame.stream, stream)

    async def _end(self, number: int, stream: _Stream) -> None:
        """End both streams of a connection, with what went wrong on the one for errors."""
        problem = stream.conversation.problem.encode()
        for other, each in list(self._streams.items()):
            if each.kind == _ERROR and each.request_id == stream.request_id:
                await self._send(self._connection.data(other, problem, is_last=True))
                del self._streams[other]
        await self._send(self._connection.data(number, b"", is_last=True))
        self._streams.pop(number, None)

    async def _send(self, data: bytes) -> None:
        await asyncio.wait_for(self._socket.send_bytes(data), IDLE_S_MAX)
