"""SPDY/3.1 frames, as far as port-forward uses them: streams with headers, data, and their ends.

Source: the SPDY/3 draft, sections 2.2, 2.6; the dictionary is that of section 2.6.10.1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY = 1, 2, 3, 6, 7
DATA: Final = 0
FIN: Final = 1
FRAME_BYTES_MAX: Final = 1 << 20
HEADERS_MAX: Final = 64
_HEADER_BYTES_MAX: Final = 65_536
_VERSION: Final = 3
_WORDS = [
    "options",
    "head",
    "post",
    "put",
    "delete",
    "trace",
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "connection",
    "content-base",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expect",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "range",
    "referer",
    "retry-after",
    "server",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "method",
    "get",
    "status",
    "200_OK",
    "version",
    "HTTP/1.1",
    "url",
    "public",
    "set-cookie",
    "keep-alive",
    "origin",
]
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY: Final = (
    b"".join(struct.pack(">I", len(word)) + word.replace("_", " ").encode() for word in _WORDS)
    + _TAIL.encode()
)


class SpdyError(ValueError):
    """Raised for bytes that are no SPDY."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame; `kind` is DATA or a control type."""

    kind: int
    stream: int
    flags: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes = b""

    @property
    def is_last(self) -> bool:
        """Whether the sender sends nothing more on the stream."""
        return bool(self.flags & FIN)


class Connection:
    """Reads and writes the frames of one connection; both directions have one compression state each."""

    def __init__(self) -> None:
        self._rest = b""
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete.

        Raises:
            SpdyError: for what is no frame, or too large a one.
        """
        self._rest += data
        while len(self._rest) >= 8:
            first, second = struct.unpack(">II", self._rest[:8])
            length, flags = second & 0xFFFFFF, second >> 24
            if length > FRAME_BYTES_MAX:
                raise SpdyError("the frame is too large")
            if len(self._rest) < 8 + length:
                return
            payload, self._rest = self._rest[8 : 8 + length], self._rest[8 + length :]
            if not first >> 31:
                yield Frame(kind=DATA, stream=first, flags=flags, data=payload)
            else:
                if first >> 16 & 0x7FFF != _VERSION:
                    raise SpdyError("the version is not 3")
                frame = self._control(first & 0xFFFF, flags, payload)
                if frame is not None:
                    yield frame

    def _control(self, kind: int, flags: int, payload: bytes) -> Frame | None:
        if kind == SYN_STREAM and len(payload) >= 10:
            stream = struct.unpack(">I", payload[:4])[0] & 0x7FFFFFFF
            return Frame(kind=kind, stream=stream, flags=flags, headers=self._headers(payload[10:]))
        if kind == RST_STREAM and len(payload) >= 4:
            return Frame(kind=kind, stream=struct.unpack(">I", payload[:4])[0] & 0x7FFFFFFF)
        if kind == PING and len(payload) >= 4:
            return Frame(kind=kind, stream=0, data=payload[:4])
        if kind == GOAWAY:
            return Frame(kind=kind, stream=0)
        # Windows, settings and the rest ask for no answer.
        return None

    def _headers(self, block: bytes) -> dict[str, str]:
        try:
            plain = self._inflate.decompress(block, _HEADER_BYTES_MAX)
        except zlib.error:
            raise SpdyError("the headers are not compressed as they should be") from None
        if self._inflate.unconsumed_tail:
            raise SpdyError("the headers are too large")
        values: list[str] = []
        if len(plain) < 4:
            raise SpdyError("the headers are cut off")
        count, at = struct.unpack(">I", plain[:4])[0], 4
        if count > HEADERS_MAX:
            raise SpdyError("there are too many headers")
        for _ in range(2 * count):
            if at + 4 > len(plain):
                raise SpdyError("the headers are cut off")
            size = struct.unpack(">I", plain[at : at + 4])[0]
            values.append(plain[at + 4 : at + 4 + size].decode("utf-8", "replace"))
            at += 4 + size
        return {name.lower(): value for name, value in zip(values[::2], values[1::2], strict=True)}

    def reply(self, stream: int) -> bytes:
        """Return the frame that accepts a stream."""
        block = self._deflate.compress(struct.pack(">I", 0)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        return _control_frame(SYN_REPLY, struct.pack(">I", stream) + block)

    @staticmethod
    def data(stream: int, data: bytes, *, is_last: bool = False) -> bytes:
        """Return a frame with data."""
        return struct.pack(">II", stream, (FIN if is_last else 0) << 24 | len(data)) + data

    @staticmethod
    def reset(stream: int) -> bytes:
        """Return the frame that refuses a stream."""
        return _control_frame(RST_STREAM, struct.pack(">II", stream, 5))

    @staticmethod
    def pong(data: bytes) -> bytes:
        """Return the answer to a ping."""
        return _control_frame(PING, data)


def _control_frame(kind: int, payload: bytes) -> bytes:
    return struct.pack(">II", 1 << 31 | _VERSION << 16 | kind, len(payload)) + payload
