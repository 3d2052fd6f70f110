"""What one invocation of curl holds, and the time and the meter of each of its transfers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from env_core.shell._clients import _curl_output as meter
from env_core.shell._clients._curl_options import Options
from env_core.shell._clients._url import Url
from env_core.shell._clients._wire import Connection, Wire, sleep
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError


@dataclass(slots=True)
class Session:
    """What lives as long as one invocation of curl: its process, options, connections, DNS cache."""

    process: Process
    wire: Wire
    options: Options
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    known_hosts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    open_connections: dict[tuple[str, str, int], tuple[int, Connection]] = field(default_factory=dict)
    connections: int = 0
    secured: dict[int, str] = field(default_factory=dict)
    """What ALPN chose, by the number of the connection that speaks TLS."""
    streams: dict[int, int] = field(default_factory=dict)
    """How many requests went over a connection of HTTP/2."""
    is_deadline_over: bool = False

    @property
    def is_verbose(self) -> bool:
        """Whether -v is on."""
        return self.options.has("verbose")

    @property
    def has_meter(self) -> bool:
        """Whether the progress meter is drawn: not where the body itself goes to a terminal."""
        flags = self.options.flags
        if self.process.has_terminal and not any(self.options.outputs):
            return False
        return not flags.get("silent") and flags.get("progress-meter", True)

    def tell(self, text: str) -> None:
        """Print a line of -v."""
        if self.is_verbose:
            self.err.append(f"* {text}\n")


_LOOKED_AT: Final = 2_000
"""How much of a body curl looks at before it refuses to write it to a terminal."""


@dataclass(slots=True)
class Paced:
    """The state of one transfer (one attempt at one URL, redirects included), its time and its meter."""

    session: Session
    url: Url
    output: str | None = ""
    """"" for stdout, a file name otherwise."""
    code: int = 0
    message: str = ""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    received: int = 0
    expected: int | None = None
    sent: int = 0
    elapsed_ms: int = 0
    name_ms: int = 0
    connect_ms: int = 0
    start_ms: int = 0
    redirects: int = 0
    redirect_ms: int = 0
    address: str = ""
    method: str = "GET"
    header_size: int = 0
    request_size: int = 0
    http_version: str = "1.1"
    has_drawn_start: bool = False
    drawn_seconds: int = 0
    new_connections: int = 0
    redirect_url: str = ""

    def draw_start(self) -> None:
        """Draw the meter's head and first line."""
        if self.session.has_meter and not self.has_drawn_start:
            self.session.err += [meter.HEADER, meter.START]
            self.has_drawn_start = True

    def wait(self, duration_ms: int, *, is_last: bool = False) -> None:
        """Let time pass, drawing the meter each second; the last second's line is left to `finish` when it ends there."""
        before = self.elapsed_ms
        process = self.session.process
        if process.deadline_ms is not None:
            # What lies beyond the deadline of the whole line is never seen, and need not be drawn.
            duration_ms = min(duration_ms, max(process.deadline_ms - process.now_ms(), 0) + 1)
        if sleep(process, duration_ms):
            self.session.is_deadline_over = True
        self.elapsed_ms = before + duration_ms
        if not self.session.has_meter:
            return
        whole = self.elapsed_ms // 1000
        until = whole - 1 if is_last else whole
        for second in range(self.drawn_seconds + 1, until + 1):
            self.session.err.append(meter.tick(second))
        self.drawn_seconds = max(until, self.drawn_seconds)

    def finish_meter(self, *, is_whole: bool) -> None:
        """Draw the meter's last state and end its line."""
        if not self.session.has_meter:
            return
        if self.received or self.sent or is_whole:
            line = meter.final(self.received, self.expected, self.sent, self.elapsed_ms)
        elif self.elapsed_ms >= 1000:
            line = meter.tick(self.elapsed_ms // 1000)
        else:
            line = meter.START
        self.session.err.append(line + "\n")

    def limit_ms(self) -> int:
        """Return what is left of --max-time, 0 for no limit."""
        limit = self.session.options.milliseconds("max-time")
        return max(limit - self.elapsed_ms, 1) if limit else 0

    def fail(
        self,
        code: int,
        message: str,
        *,
        has_meter_end: bool = True,
        is_told: bool = True,
        number: int | None = None,
    ) -> None:
        """End the transfer with an error."""
        self.code, self.message = code, message
        if is_told:
            self.session.tell(message)
        if has_meter_end:
            self.finish_meter(is_whole=False)
        if number is not None:
            self.session.tell(f"Closing connection {number}")

    def _write(self, text: str) -> str:
        """Write to the output; return curl's complaint when that fails."""
        session = self.session
        if not self.output and session.process.has_terminal and "\0" in text[:_LOOKED_AT]:
            return "Failure writing output to destination"
        if not self.output or self.output == "-":
            session.out.append(text)
            return ""
        path = session.process.path(self.output)
        if path == "/dev/stdout":
            session.out.append(text)
            return ""
        if path == "/dev/stderr":
            session.err.append(text)
            return ""
        try:
            session.process.fs.append(path, text, session.process.now_ms())
        except ShellFileError as error:
            if error.reason == "No space left on device":
                return "Failed writing body"
            if not session.options.has("silent"):
                session.err.append(f"Warning: Failed to open the file {self.output}: {error.reason}\n")
            return "Failure writing output to destination"
        return ""

    def _dump(self, target: str, text: str) -> None:
        if target == "-":
            self.session.out.append(text)
            return
        try:
            self.session.process.fs.append(
                self.session.process.path(target), text, self.session.process.now_ms()
            )
        except ShellFileError:
            return
