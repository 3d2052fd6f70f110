"""How redis-server keeps its data on disk while it runs: snapshots in the background, by save points, at its end.

Source: redis 7.0 src/server.c (serverCron, writeCommandsDeniedByDiskError, prepareForShutdown), src/rdb.c, src/aof.c;
tests/golden/programs/redis (redis.ok.bgsave, redis.ok.aof, redis.misconf.*, redis.aof.diskfull*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._machine import Machine, is_full
from env_core.programs._model import END_OF_TIME_MS, Container

_RETRY_S: Final = 5
"""How long it waits after a snapshot that failed."""
_PAGE: Final = 4_096
NO_SPACE: Final = "No space left on device"
_MISCONF: Final = (
    "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the"
    " data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails"
    " (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.\r\n"
)
_CHANGES: Final = "dirty"
_SAVED: Final = "lastsave"
_TRIED: Final = "lasttry"
_DUE: Final = "due"
NEXT: Final = "next point"
"""With how many changes the next snapshot may be due earlier."""
AOF: Final = "aof"
"""What is known of the append-only files: sequence number, keys in the base, bytes since."""
AOF_ERROR: Final = "aof error"


class Disk(NamedTuple):
    """Where a server saves, and what is wrong with it."""

    directory: str = "/data"
    problem: str = ""
    """Why no file can be made there; "" when one can."""
    is_full: bool = False


SOUND: Final = Disk()
Memory = MutableMapping[str, str]
Said = list[tuple[int, str]]
"""Times in milliseconds, and messages with role and mark."""


@lru_cache(maxsize=64)
def points(text: str) -> tuple[tuple[int, int], ...]:
    """Return the save points of a configuration: (seconds, changes)."""
    words = [int(word) for word in text.split() if word.isdigit()]
    return tuple(zip(words[::2], words[1::2], strict=False))


def disk_of(container: Container, machine: Machine, directory: str) -> Disk:
    """Return what a container's surroundings make of saving to a directory."""
    is_mounted = any(directory == path or directory.startswith(f"{path}/") for path in container.mounts)
    problem = ""
    if directory in machine.forbidden:
        problem = "Permission denied"
    elif container.is_root_read_only and not is_mounted:
        problem = "Read-only file system"
    return Disk(directory, problem, is_full(machine, directory))


def changed(memory: Memory, save: str, count: int, now_ms: int, started_ms: int) -> None:
    """Count changes, and note when the next snapshot is due for them."""
    dirty = int(memory.get(_CHANGES, "0")) + count
    memory[_CHANGES] = str(dirty)
    before = memory.get(NEXT)
    if before is not None and dirty < int(before):
        return
    memory[NEXT] = str(min((changes for _, changes in points(save) if changes > dirty), default=1 << 62))
    due_ms = _due(memory, save, dirty, now_ms, started_ms)
    if due_ms is not None:
        memory[_DUE] = str(due_ms)


def _due(memory: Mapping[str, str], save: str, dirty: int, now_ms: int, started_ms: int) -> int | None:
    """Return when the cron job of the server will take a snapshot; it compares whole seconds."""
    saved_s = int(memory.get(_SAVED, str(started_ms))) // 1000
    due = [(saved_s + seconds + 1) * 1000 for seconds, changes in points(save) if dirty >= changes]
    if not due:
        return None
    tried = memory.get(_TRIED)
    earliest = (int(tried) // 1000 + _RETRY_S + 1) * 1000 if tried is not None else 0
    return max(min(due), earliest, now_ms)


def tick(memory: Memory, save: str, disk: Disk, now_ms: int, started_ms: int) -> Said:
    """Take the snapshots that were due by now; return what is logged."""
    said: Said = []
    while _DUE in memory and int(memory[_DUE]) <= now_ms:
        at_ms = int(memory.pop(_DUE))
        dirty = int(memory.get(_CHANGES, "0"))
        saved_s = int(memory.get(_SAVED, str(started_ms))) // 1000
        seconds, changes = next(
            (each for each in points(save) if dirty >= each[1] and at_ms // 1000 > saved_s + each[0]), (0, 0)
        )
        if not changes:
            continue
        said.append((at_ms, f"M * {changes} changes in {seconds} seconds. Saving..."))
        said += background(memory, disk, at_ms)
        again = _due(memory, save, int(memory.get(_CHANGES, "0")), at_ms, started_ms)
        if again is not None and again > at_ms:
            memory[_DUE] = str(again)
    return said


class State(NamedTuple):
    """What INFO tells of saving."""

    changes: int
    saved_ms: int
    status: str
    aof_status: str
    forks: str
    saves: int


def state(memory: Mapping[str, str], started_ms: int) -> State:
    """Return how saving stands."""
    return State(
        changes=int(memory.get(_CHANGES, "0")), saved_ms=int(memory.get(_SAVED, str(started_ms))),
        status="err" if _TRIED in memory else "ok", aof_status="err" if AOF_ERROR in memory else "ok",
        forks=memory.get("forks", "0"), saves=int(_SAVED in memory),
    )  # fmt: skip


def is_due(memory: Mapping[str, str], now_ms: int) -> bool:
    """Whether a snapshot is due."""
    due = memory.get(_DUE)
    return due is not None and int(due) <= now_ms


def due_ms(memory: Mapping[str, str]) -> int:
    """Return when a snapshot will be due."""
    return int(memory.get(_DUE, END_OF_TIME_MS))


def background(memory: Memory, disk: Disk, at_ms: int) -> Said:
    """Save in a child process; return what is logged."""
    pid = int(memory.get("forks", "0")) + 20
    memory["forks"] = str(pid - 19)
    said = [(at_ms, f"M * Background saving started by pid {pid}")]
    failed = _failure(disk, pid)
    if failed:
        memory[_TRIED] = str(at_ms)
        return [*said, (at_ms, f"{pid}:C # {failed}"), (at_ms, "M # Background saving error")]
    _done(memory, at_ms)
    return [
        *said, (at_ms, f"{pid}:C * DB saved on disk"),
        (at_ms, f"{pid}:C * Fork CoW for RDB: current 0 MB, peak 0 MB, average 0 MB"),
        (at_ms, "M * Background saving terminated with success"),
    ]  # fmt: skip


def foreground(memory: Memory, disk: Disk, at_ms: int) -> tuple[bool, Said]:
    """Save at once; return whether that went well, and what is logged."""
    failed = _failure(disk, 1)
    if failed:
        return False, [(at_ms, f"M # {failed}")]
    _done(memory, at_ms)
    return True, [(at_ms, "M * DB saved on disk")]


def _done(memory: Memory, at_ms: int) -> None:
    memory[_SAVED] = str(at_ms)
    memory[_CHANGES] = "0"
    for name in (_TRIED, _DUE, NEXT):
        memory.pop(name, None)


def _failure(disk: Disk, pid: int) -> str:
    if disk.problem:
        return f"Failed opening the temp RDB file temp-{pid}.rdb (in server root dir {disk.directory}) for saving: {disk.problem}"
    return f"Write error saving DB on disk(rdbSaveRio): {NO_SPACE}" if disk.is_full else ""


def denial(memory: Mapping[str, str], setting: Callable[[str], str]) -> str:
    """Return the reply to a write when the data cannot be kept on disk; "" when they can."""
    if _TRIED in memory and points(setting("save")) and setting("stop-writes-on-bgsave-error") != "no":
        return _MISCONF
    problem = memory.get(AOF_ERROR)
    return f"-MISCONF Errors writing to the AOF file: {problem}\r\n" if problem else ""


def shutdown(memory: Memory, save: str, disk: Disk, at_ms: int, *, has_aof: bool) -> tuple[bool, Said]:
    """Return whether a server that is asked to stop does so, and what it logs."""
    said: Said = [(at_ms, "M # User requested shutdown...")]
    if has_aof:
        said.append((at_ms, "M * Calling fsync() on the AOF file."))
    if points(save):
        said.append((at_ms, "M * Saving the final RDB snapshot before exiting."))
        is_saved, told = foreground(memory, disk, at_ms)
        said += told
        if not is_saved:
            said += [
                (at_ms, "M # Error trying to save the DB, can't exit."),
                (at_ms, "M # Errors trying to shut down the server. Check the logs for more information."),
            ]
            return False, said
    return True, [*said, (at_ms, "M # Redis is now ready to exit, bye bye...")]


def appended(memory: Memory, size: int, free: int | None) -> str:
    """Write to the append-only file, of which `free` bytes are left (None for enough); return what is logged of a failure."""
    sequence, keys, held = (int(word) for word in memory.get(AOF, "1 0 0").split())
    # Base and manifest take a page each, and the file itself whole ones.
    room = size if free is None else max(free // _PAGE * _PAGE - 2 * _PAGE - held, 0)
    if memory.get(AOF_ERROR):
        return ""
    if room >= size:
        memory[AOF] = f"{sequence} {keys} {held + size}"
        return ""
    memory[AOF_ERROR] = NO_SPACE
    if not room:
        return f"# Error writing to the AOF file: {NO_SPACE}"
    return f"# Short write while writing to the AOF file: (nwritten={room}, expected={size})"


def rewritten(memory: Memory, name: str, keys: int, at_ms: int) -> Said:
    """Rewrite the append-only file in a child process; return what is logged."""
    sequence, _, _ = (int(word) for word in memory.get(AOF, "1 0 0").split())
    pid = int(memory.get("forks", "0")) + 20
    memory["forks"] = str(pid - 19)
    memory[AOF] = f"{sequence + 1} {keys} 0"
    base = f"{name}.{sequence + 1}.base.rdb"
    texts = (
        f"M * Creating AOF incr file {name}.{sequence + 1}.incr.aof on background rewrite",
        f"M * Background append only file rewriting started by pid {pid}",
        f"{pid}:C * Successfully created the temporary AOF base file temp-{pid}.rdb",
        f"{pid}:C * Fork CoW for AOF rewrite: current 0 MB, peak 0 MB, average 0 MB",
        "M * Background AOF rewrite terminated with success",
        f"M * Successfully renamed the temporary AOF base file temp-{pid}.rdb into {base}",
        f"M * Removing the history file {name}.{sequence}.incr.aof in the background",
        f"M * Removing the history file {name}.{sequence}.base.rdb in the background",
        "M * Background AOF rewrite finished successfully",
    )
    return [(at_ms, text) for text in texts]
