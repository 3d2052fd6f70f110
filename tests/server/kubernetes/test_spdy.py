"""SPDY frames: read as they were written in whatever pieces they come, and refused when they are none."""

import contextlib
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.kubernetes.spdy import (
    DATA,
    DICTIONARY,
    FRAME_BYTES_MAX,
    HEADERS_MAX,
    PING,
    RST_STREAM,
    SYN_STREAM,
    Connection,
    SpdyError,
)

HEADERS = {"streamtype": "data", "port": "8080", "requestid": "0"}


def opening(stream, headers, compressor=None):
    """Return the frame with which a client opens a stream."""
    compressor = compressor or zlib.compressobj(zdict=DICTIONARY)
    plain = struct.pack(">I", len(headers)) + b"".join(
        struct.pack(">I", len(text)) + text.encode() for pair in headers.items() for text in pair
    )
    block = compressor.compress(plain) + compressor.flush(zlib.Z_SYNC_FLUSH)
    payload = struct.pack(">IIH", stream, 0, 0) + block
    return struct.pack(">II", 1 << 31 | 3 << 16 | SYN_STREAM, len(payload)) + payload


@given(
    st.lists(st.tuples(st.integers(1, 2**31 - 1), st.binary(max_size=50), st.booleans()), max_size=5),
    st.integers(1, 40),
)
def test_reads_data_in_any_pieces(sent, size):
    whole = b"".join(Connection.data(stream, data, is_last=is_last) for stream, data, is_last in sent)
    reader = Connection()
    frames = [frame for at in range(0, len(whole), size) for frame in reader.feed(whole[at : at + size])]
    assert [(frame.stream, frame.data, frame.is_last) for frame in frames] == sent
    assert all(frame.kind == DATA for frame in frames)


def test_headers_share_what_was_compressed_before():
    compressor, reader = zlib.compressobj(zdict=DICTIONARY), Connection()
    first, second = opening(1, HEADERS, compressor), opening(3, HEADERS, compressor)
    assert len(second) < len(first)
    frames = list(reader.feed(first + second))
    assert [(frame.kind, frame.stream, frame.headers) for frame in frames] == [
        (SYN_STREAM, 1, HEADERS),
        (SYN_STREAM, 3, HEADERS),
    ]


def test_what_it_writes_is_read():
    reader = Connection()
    frames = list(reader.feed(Connection.reset(5) + Connection.pong(b"\0\0\0\7")))
    assert [(frame.kind, frame.stream, frame.data) for frame in frames] == [
        (RST_STREAM, 5, b""),
        (PING, 0, b"\0\0\0\7"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">II", 1, FRAME_BYTES_MAX + 1),
        struct.pack(">II", 1 << 31 | 2 << 16 | PING, 4) + bytes(4),
        struct.pack(">II", 1 << 31 | 3 << 16 | SYN_STREAM, 12) + bytes(12),
        opening(1, {f"h{number}": "" for number in range(HEADERS_MAX + 1)}),
        opening(1, {"bomb": "x" * 10_000_000}),
    ],
    ids=["too large", "version 2", "not compressed", "too many headers", "a bomb"],
)
def test_refuses(data):
    with pytest.raises(SpdyError):
        list(Connection().feed(data))


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data):
    with contextlib.suppress(SpdyError):
        list(Connection().feed(data))
