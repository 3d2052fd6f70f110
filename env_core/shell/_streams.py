"""Where a command's input comes from and where its output goes, with a bound on all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from env_core.shell.budget import LimitReached
from env_core.shell.filesystem import FileSystem, ShellFileError

OUTPUT_MAX: Final = 1024 * 1024
PIPE_MAX: Final = 8 * OUTPUT_MAX


class Sink(Protocol):
    """Takes output; tells whether there was room for it."""

    def write(self, text: str) -> bool:
        """Take `text`."""


@dataclass(slots=True)
class Buffer:
    """Collects text, up to `limit` characters."""

    limit: int = OUTPUT_MAX
    parts: list[str] = field(default_factory=list)

    def write(self, text: str) -> bool:
        """Keep `text`.

        Raises:
            LimitReached: when more than the limit was written; what fits is kept.
        """
        self.parts.append(text[: self.limit])
        if len(text) > self.limit:
            raise LimitReached("stopped: too much output")
        self.limit -= len(text)
        return True

    def text(self) -> str:
        """Return everything written so far."""
        return "".join(self.parts)


@dataclass(slots=True)
class FileSink:
    """Appends to a file."""

    fs: FileSystem
    path: str
    now_ms: Callable[[], int]

    def write(self, text: str) -> bool:
        """Append `text`."""
        try:
            self.fs.append(self.path, text, self.now_ms())
        except ShellFileError:
            return False
        return True


class ClosedSink:
    """A descriptor that was closed."""

    def write(self, text: str) -> bool:
        """Refuse `text`."""
        return not text


@dataclass(slots=True)
class Source:
    """Input, read from the front."""

    text: str

    def take_all(self) -> str:
        """Return what is left, and leave nothing."""
        text, self.text = self.text, ""
        return text

    def take_line(self) -> str | None:
        """Return the next line with its end (if it has one), or None at the end."""
        if not self.text:
            return None
        line, end, self.text = self.text.partition("\n")
        return line + end


class Pipe(Source):
    """What another command writes, as it comes."""

    __slots__ = ("_buffer", "_is_open", "_taken")

    def __init__(self, buffer: Buffer, is_open: Callable[[], bool]) -> None:
        self._buffer = buffer
        self._is_open = is_open
        self._taken = 0

    @property
    def text(self) -> str:
        """What has come and is not read yet."""
        return self._buffer.text()[self._taken :]

    @text.setter
    def text(self, left: str) -> None:
        self._taken = len(self._buffer.text()) - len(left)

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._is_open()


@dataclass(frozen=True, slots=True)
class Streams:
    """The three standard streams of a command."""

    stdin: Source
    stdout: Sink
    stderr: Sink
