"""How sockets speak HTTP and WebSocket: uvicorn's protocols, with every refused handshake answered and every head bounded."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.server import ServerProtocol


class _Handshake(ServerProtocol):
    """Leaves the choice of a subprotocol to the application, whatever the names look like.

    Kubernetes' "SPDY/3.1+portforward.k8s.io" is no token, which the library would refuse.
    """

    def process_subprotocol(self, headers: Headers) -> None:
        """Choose none here."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Sends what the library answers to a request that it cannot read, which uvicorn 0.54 leaves unsent.

    A request line or a header beyond 8 KiB is such a request: the client would wait for its own time-out.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Handshake(
            extensions=self.conn.available_extensions,
            max_size=self.config.ws_max_size,
            logger=logging.getLogger("uvicorn.error"),
        )

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.handshake_complete = True
            self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()


HEAD_BYTES_MAX = 65_536
HEAD_S_MAX = 30.0
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 26\r\nconnection: close\r\n\r\n"
    b"the headers are too large\n"
)


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol over httptools, with a bound on how much and how long a client sends before the body.

    Its parser keeps headers of any length, and waits for them for ever.
    """

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        self._head_bytes += len(data)
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_S_MAX, self._give_up)
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > HEAD_BYTES_MAX:
            self.transport.write(_TOO_LARGE)
            self._give_up()

    def on_headers_complete(self) -> None:
        """Note that the request's body, if any, comes next."""
        self._end_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; it does not count."""
        self._end_head()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the next byte begins another request."""
        self._end_head()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timer."""
        self._end_head()
        super().connection_lost(exc)

    def _end_head(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._end_head()
        if not self.transport.is_closing():
            self.transport.close()
