"""How sockets speak HTTP and WebSocket: uvicorn's protocols, with every refused handshake answered and every head bounded."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.streams import StreamReader

try:
    from websockets.speedups import apply_mask
except ImportError:  # a wheel without its C part
    from websockets.utils import apply_mask

AT_ONCE = "kubedrill.at_once"
"""The extension of a WebSocket scope that takes an `Answerer`."""

Answerer = Callable[[bytes], bytes | None]
"""Answers a text message without waiting for anything, or returns None and has done nothing."""

_WHOLE_TEXT = 0x81
_MASKED = 0x80
_SHORT_MAX = 125
_LONG = 126
_AT_ONCE_BYTES_MAX = 4_096
_BETWEEN_FRAMES = StreamReader.at_eof.__code__


class _Handshake(ServerProtocol):
    """Leaves the choice of a subprotocol to the application, whatever the names look like.

    Kubernetes' "SPDY/3.1+portforward.k8s.io" is no token, which the library would refuse.
    """

    def process_subprotocol(self, headers: Headers) -> None:
        """Choose none here."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Sends what the library answers to a request that it cannot read, which uvicorn 0.54 leaves unsent.

    A request line or a header beyond 8 KiB is such a request: the client would wait for its own time-out.

    An application that gives an `Answerer` to the scope's extension `AT_ONCE` is asked first, here, when one
    small text frame has come whole and nothing is under way: the way through frame objects, queue, and task
    costs more than most steps. Whatever is not answered so takes that way.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._answerer: Answerer | None = None
        self.conn = _Handshake(
            extensions=self.conn.available_extensions,
            max_size=self.config.ws_max_size,
            logger=logging.getLogger("uvicorn.error"),
        )

    def handle_connect(self, event: Request) -> None:
        """Take a handshake, and offer the extension."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[AT_ONCE] = self._answer_with

    def _answer_with(self, answerer: Answerer) -> None:
        self._answerer = answerer

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        if self._answerer is not None and self._is_answered_at_once(data):
            return
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.handshake_complete = True
            self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()

    def _is_answered_at_once(self, data: bytes) -> bool:
        connection = self.conn
        if (
            connection.state is not OPEN
            or not _is_between_frames(connection)
            or self.frames
            or not self.queue.empty()
            # The client reads slower than it asks.
            or not self.writable.is_set()
        ):
            return False
        message = _whole_text(data)
        if message is None:
            return False
        assert self._answerer is not None
        answer = self._answerer(message)
        if answer is None:
            return False
        length = len(answer)
        if length <= _SHORT_MAX:
            head = struct.pack("!BB", _WHOLE_TEXT, length)
        elif length <= 0xFFFF:
            head = struct.pack("!BBH", _WHOLE_TEXT, 126, length)
        else:
            head = struct.pack("!BBQ", _WHOLE_TEXT, 127, length)
        self.transport.write(head + answer)
        return True


def _is_between_frames(connection: ServerProtocol) -> bool:
    """Whether the library waits for the first byte of a frame: else these bytes belong to one that has begun."""
    waiting: Any = connection.parser
    while (inner := waiting.gi_yieldfrom) is not None:
        waiting = inner
    return waiting.gi_code is _BETWEEN_FRAMES


def _whole_text(data: bytes) -> bytes | None:
    """Return the payload if the data is exactly one small, final, masked text frame (RFC 6455, 5.2)."""
    if len(data) < 8 or data[0] != _WHOLE_TEXT or data[1] < _MASKED:
        return None
    length = data[1] - _MASKED
    start = 6
    if length > _SHORT_MAX:
        if length != _LONG:
            return None
        length = data[2] << 8 | data[3]
        start = 8
    if length > _AT_ONCE_BYTES_MAX or len(data) != start + length:
        return None
    return apply_mask(data[start:], data[start - 4 : start])


HEAD_BYTES_MAX = 65_536
HEAD_S_MAX = 30.0
BODY_S_MAX = 60.0
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 26\r\nconnection: close\r\n\r\n"
    b"the headers are too large\n"
)


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol over httptools, with a bound on how much a client sends before the body, and how long it takes.

    Its parser keeps headers of any length, and waits for them, and for the body, for ever.
    """

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None

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
        self._body_timer = self.loop.call_later(BODY_S_MAX, self._give_up)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; it does not count."""
        self._end_head()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the next byte begins another request."""
        self._end_head()
        self._end_body()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timers."""
        self._end_head()
        self._end_body()
        super().connection_lost(exc)

    def _end_head(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_body(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None

    def _give_up(self) -> None:
        self._end_head()
        self._end_body()
        if not self.transport.is_closing():
            self.transport.close()
