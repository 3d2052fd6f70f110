"""The load generator, in a process of its own: prebuilt masked WebSocket frames, closed loop, raw asyncio protocol."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import struct
from time import perf_counter
from urllib.parse import urlsplit

import orjson

from tests.bench.measuring import percentile, rounded

_KEY = "dGhlIHNhbXBsZSBub25jZQ=="
_MASK = b"\x01\x02\x03\x04"
_ERROR = b'"type":"error"'
_START_S_MAX = 120.0
_TEXT = 0x1
_CLOSE = 0x8
_PING = 0x9


def frame(payload: bytes, opcode: int = _TEXT) -> bytes:
    """Return a final masked frame."""
    length = len(payload)
    if length < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
    else:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
    masked = bytes(byte ^ _MASK[at % 4] for at, byte in enumerate(payload))
    return head + _MASK + masked


class Run:
    """One run over many sessions: the frames to send, and what came back."""

    def __init__(self, reset: bytes, step: bytes, steps_an_episode: int) -> None:
        self.reset = frame(reset)
        self.step = frame(step)
        self.steps_an_episode = steps_an_episode
        self.waiting = 0
        self.ready = asyncio.Event()
        self.is_counting = False
        self.is_over = False
        self.answers = 0
        self.errors: list[str] = []
        self.step_ms: list[float] = []
        self.reset_ms: list[float] = []


class Session(asyncio.Protocol):
    """One connection: resets, waits for the others, then steps as fast as it is answered."""

    def __init__(self, run: Run, host: str) -> None:
        self._run = run
        self._host = host
        self._buffer = bytearray()
        self._is_open = False
        self._has_started = False
        self._steps_left = 0
        self._is_reset = True
        self._sent = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(
            f"GET /ws HTTP/1.1\r\nHost: {self._host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {_KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._run.is_over:
            self._run.errors.append(f"connection lost: {exc}")

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        if not self._is_open:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not buffer.startswith(b"HTTP/1.1 101"):
                self._run.errors.append(bytes(buffer[:200]).decode("latin-1"))
                return
            del buffer[: end + 4]
            self._is_open = True
            self._send_reset()
        while len(buffer) >= 2:
            length = buffer[1] & 0x7F
            start = 2
            if length == 126:
                if len(buffer) < 4:
                    return
                length, start = int.from_bytes(buffer[2:4], "big"), 4
            elif length == 127:
                if len(buffer) < 10:
                    return
                length, start = int.from_bytes(buffer[2:10], "big"), 10
            if len(buffer) < start + length:
                return
            opcode = buffer[0] & 0x0F
            payload = bytes(buffer[start : start + length])
            del buffer[: start + length]
            if opcode == _PING:
                self._write(frame(payload, 0xA))
            elif opcode == _TEXT:
                self._answered(payload)
            elif opcode == _CLOSE and not self._run.is_over:
                self._run.errors.append("closed by the server")

    def start(self) -> None:
        """Begin to step."""
        self._has_started = True
        self._send_step()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def _answered(self, payload: bytes) -> None:
        run = self._run
        run.answers += 1
        if _ERROR in payload[:64]:
            run.errors.append(payload[:300].decode("utf-8", "replace"))
        if run.is_over:
            return
        spent_ms = (perf_counter() - self._sent) * 1_000
        if self._is_reset:
            self._is_reset = False
            self._steps_left = run.steps_an_episode
            if not self._has_started:
                run.waiting -= 1
                if not run.waiting:
                    run.ready.set()
                return
            if run.is_counting:
                run.reset_ms.append(spent_ms)
        elif run.is_counting:
            run.step_ms.append(spent_ms)
        if self._steps_left == 0:
            self._send_reset()
        else:
            self._send_step()

    def _send_reset(self) -> None:
        self._is_reset = True
        self._sent = perf_counter()
        self._write(self._run.reset)

    def _send_step(self) -> None:
        self._steps_left -= 1
        self._sent = perf_counter()
        self._write(self._run.step)

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)


async def drive(
    host: str, port: int, run: Run, *, sessions: int, seconds: float, warm_s: float
) -> dict[str, float | int | list[str]]:
    """Run `sessions` connections for a while and return what they saw."""
    loop = asyncio.get_running_loop()
    run.waiting = sessions
    opened = [
        (await loop.create_connection(lambda: Session(run, f"{host}:{port}"), host, port))[1]
        for _ in range(sessions)
    ]
    await asyncio.wait_for(run.ready.wait(), _START_S_MAX)
    for session in opened:
        session.start()
    await asyncio.sleep(warm_s)
    run.is_counting = True
    started = perf_counter()
    await asyncio.sleep(seconds)
    run.is_counting = False
    spent = perf_counter() - started
    run.is_over = True
    for session in opened:
        session.close()
    steps = run.step_ms
    return {
        "steps_a_second": rounded(len(steps) / spent),
        "messages_a_second": rounded((len(steps) + len(run.reset_ms)) / spent),
        "step_ms_p50": rounded(statistics.median(steps)) if steps else 0.0,
        "step_ms_p99": rounded(percentile(steps, 0.99)) if steps else 0.0,
        "reset_ms_p50": rounded(statistics.median(run.reset_ms)) if run.reset_ms else 0.0,
        "messages_in_all": run.answers,
        "errors": len(run.errors),
        "first_errors": run.errors[:3],
    }


def main() -> None:
    """Run and print JSON."""
    parser = argparse.ArgumentParser(description="Load a WebSocket server.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--warm-seconds", type=float, default=0.5)
    parser.add_argument("--reset", required=True, help="the reset message, JSON")
    parser.add_argument("--step", required=True, help="the step message, JSON")
    parser.add_argument("--steps", type=int, default=-1, help="steps before a session resets; -1 for never")
    parser.add_argument("--core", type=int, default=-1, help="the core to stay on; -1 for any")
    given = parser.parse_args()
    if given.core >= 0:
        os.sched_setaffinity(0, {given.core})
    place = urlsplit(given.url)
    assert place.hostname is not None
    assert place.port is not None

    async def measured() -> dict[str, float | int | list[str]]:
        run = Run(given.reset.encode(), given.step.encode(), given.steps)
        return await drive(
            place.hostname or "",
            place.port or 0,
            run,
            sessions=given.sessions,
            seconds=given.seconds,
            warm_s=given.warm_seconds,
        )

    print(orjson.dumps(asyncio.run(measured())).decode())


if __name__ == "__main__":
    main()
