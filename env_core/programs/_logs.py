"""The logs of containers as the runtime's files keep them: the newest file is read, older ones are rotated away.

A kubelet looks at the files of running containers every ten seconds and puts aside one that has reached its size; four
such files stay beside the newest, and nobody reads them through the API. So they are counted and not kept. At which
second of ten a kubelet looks shows nowhere; here it is the full one. A stopped kubelet's files are rotated all the same.

Source: k8s.io/kubernetes pkg/kubelet/logs/container_log_manager.go and pkg/kubelet/kuberuntime/logs (1.37), defaults in
tests/golden/kubelet/constants.json.gz (containerLogMaxSize, containerLogMaxFiles), containerLogMonitorInterval in
pkg/kubelet/apis/config/v1beta1/defaults.go; what a line takes in a file: containerd internal/cri/io/logger.go.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.programs._model import Line
from env_core.sim.state import State

SIZE_MAX: Final = 10 << 20
FILES_MAX: Final = 5
LOOK_MS: Final = 10_000
LINES_MAX: Final = 10_000
"""How many of the newest lines can be read; older ones are let go."""
_FRAME: Final = len("2026-01-01T00:00:00.000000000Z stdout F \n")


class LogKey(NamedTuple):
    """The log of one run of a container."""

    pod_uid: str
    container: str
    restarts: int


class LogFile(NamedTuple):
    """The newest file of a log."""

    size_bytes: int = 0
    begins_ms: int = 0
    """Older lines are in rotated files."""
    rotates_ms: int | None = None
    """When the kubelet finds it full, if the container still runs; None while it is not."""
    rotations: int = 0

    @property
    def files(self) -> int:
        """How many files there are: this one and those put aside."""
        return min(self.rotations + 1, FILES_MAX)

    def seen(self, now_ms: int, exit_at_ms: int | None) -> LogFile:
        """Return the newest file at `now_ms` of a container that ends at `exit_at_ms`."""
        at_ms = self.rotates_ms
        if at_ms is None or now_ms < at_ms or (exit_at_ms is not None and exit_at_ms <= at_ms):
            return self
        return LogFile(begins_ms=at_ms, rotations=self.rotations + 1)

    def grown(self, lines: tuple[Line, ...]) -> LogFile:
        """Return the newest file after lines were written."""
        size_bytes = self.size_bytes
        for line in lines:
            # Not by a function: every request logs a line or two.
            text = line.text
            size_bytes += _FRAME + (len(text) if text.isascii() else _encoded(text))
        if size_bytes < SIZE_MAX:
            return LogFile(size_bytes, self.begins_ms, self.rotates_ms, self.rotations)
        file = self
        for line in sorted(lines, key=lambda line: line.at_ms):
            file = file.seen(line.at_ms, None)
            file = file._replace(size_bytes=file.size_bytes + _FRAME + _encoded(line.text))
            if file.rotates_ms is None and file.size_bytes >= SIZE_MAX:
                file = file._replace(rotates_ms=(line.at_ms // LOOK_MS + 1) * LOOK_MS)
        return file


def _encoded(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


class _Chunk(NamedTuple):
    before: _Chunk | None
    lines: tuple[Line, ...]
    length: int
    file: LogFile


class Logs:
    """The logs of all runs of all containers."""

    __slots__ = ("_rows",)

    def __init__(self, state: State) -> None:
        self._rows = state.table("runtime/logs", is_quiet=True)

    def add(self, key: LogKey, lines: tuple[Line, ...]) -> None:
        """Append lines, with absolute times, to a log."""
        if not lines:
            return
        before: _Chunk | None = self._rows.get(key)
        was = before.file if before is not None else LogFile()
        file = was.grown(lines)
        if len(lines) > LINES_MAX:
            lines = tuple(sorted(lines, key=lambda line: line.at_ms)[-LINES_MAX:])
        added = _Chunk(before, lines, len(lines) + (before.length if before is not None else 0), file)
        if file.rotations != was.rotations or added.length >= 2 * LINES_MAX:
            added = _kept(added)
        self._rows[key] = added

    def lines(self, key: LogKey, lines_max: int, now_ms: int | None, exit_at_ms: int | None) -> list[Line]:
        """Return the newest lines of the newest file, oldest first."""
        at: _Chunk | None = self._rows.get(key)
        if at is None:
            return []
        file = at.file if now_ms is None else at.file.seen(now_ms, exit_at_ms)
        chunks: list[tuple[Line, ...]] = []
        count = 0
        while at is not None and count < lines_max:
            chunks.append(at.lines)
            count += len(at.lines)
            at = at.before
        # A program may have said beforehand what it logs later.
        found = sorted((line for chunk in reversed(chunks) for line in chunk), key=lambda line: line.at_ms)
        if file.begins_ms:
            found = [line for line in found if line.at_ms >= file.begins_ms]
        return found[-lines_max:]

    def file(self, key: LogKey) -> LogFile:
        """Return the newest file of a log, as it was after the last line."""
        found: _Chunk | None = self._rows.get(key)
        return found.file if found is not None else LogFile()

    def end(self, key: LogKey, exit_at_ms: int) -> None:
        """Take note that a run is over: nobody rotates the files of a container that has ended."""
        found: _Chunk | None = self._rows.get(key)
        if found is not None and found.file.rotates_ms is not None and exit_at_ms <= found.file.rotates_ms:
            self._rows[key] = found._replace(file=found.file._replace(rotates_ms=None))

    def drop(self, key: LogKey) -> None:
        """Remove a log with all its files."""
        self._rows.pop(key)


def _kept(newest: _Chunk) -> _Chunk:
    """Return a log without the chunks that no reader reaches any more: too old, or in rotated files."""
    chunks: list[tuple[Line, ...]] = []
    count, begins_ms = 0, newest.file.begins_ms
    at: _Chunk | None = newest
    while at is not None and count < LINES_MAX:
        if not begins_ms or any(line.at_ms >= begins_ms for line in at.lines):
            chunks.append(at.lines)
            count += len(at.lines)
        at = at.before
    kept: _Chunk | None = None
    length = 0
    for lines in reversed(chunks):
        length += len(lines)
        kept = _Chunk(kept, lines, length, newest.file)
    return kept if kept is not None else newest._replace(before=None, length=len(newest.lines))
