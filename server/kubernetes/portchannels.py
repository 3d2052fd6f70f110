"""Port-forward as libraries do it: one connection to each port, two channels of a WebSocket for each, data and errors.

The ports stand in the query. The first message on each channel is its port, as two bytes, the low one first.

Source: k8s.io/kubelet pkg/cri/streaming/portforward/websocket.go; k8s.io/apimachinery pkg/util/httpstream/wsstream.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.websockets import WebSocket

from server.kubernetes.forwarding import Conversation, Forwarder

PROTOCOL: Final = "v4.channel.k8s.io"
IDLE_S_MAX: Final = 300.0
PORTS_MAX: Final = 127
"""A channel is one byte, and 255 is taken."""


def refusal_of(ports: tuple[int, ...]) -> str:
    """Return what the kubelet says of ports that cannot be forwarded this way, "" if they can."""
    if not ports:
        return 'query parameter "port" is required'
    if 0 in ports:
        return 'port "0" must be > 0'
    if len(ports) > PORTS_MAX:
        return f"at most {PORTS_MAX} ports can be forwarded through one connection"
    return ""


class PortChannels:
    """Serves one port-forward until every connection has ended or the client leaves."""

    def __init__(self, forwarder: Forwarder, ports: tuple[int, ...], socket: WebSocket) -> None:
        self._ports = ports
        self._open: dict[int, Conversation] = {
            2 * at: forwarder.connection(port) for at, port in enumerate(ports)
        }
        self._socket = socket

    async def serve(self, protocol: str | None) -> None:
        """Accept the connection and carry what comes."""
        await self._socket.accept(subprotocol=protocol)
        for at, port in enumerate(self._ports):
            for channel in (2 * at, 2 * at + 1):
                await self._send(channel, port.to_bytes(2, "little"))
        while self._open:
            message = await asyncio.wait_for(self._socket.receive(), IDLE_S_MAX)
            if message["type"] == "websocket.disconnect":
                return
            data: bytes = message.get("bytes") or (message.get("text") or "").encode()
            conversation = self._open.get(data[0]) if data else None
            if conversation is not None:
                await self._came(data[0], conversation, data[1:])
        await self._socket.close()

    async def _came(self, channel: int, conversation: Conversation, data: bytes) -> None:
        async for part in conversation.answers(data):
            await self._send(channel, part)
        if conversation.is_over:
            del self._open[channel]
            if conversation.problem:
                await self._send(channel + 1, conversation.problem.encode())

    async def _send(self, channel: int, data: bytes) -> None:
        await asyncio.wait_for(self._socket.send_bytes(bytes((channel,)) + data), IDLE_S_MAX)
