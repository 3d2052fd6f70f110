"""What redis-server finds in its data directory when it starts, and what it says of it.

Source: redis 7.0 src/server.c loadDataFromDisk; tests/golden/programs/redis (redis.ok.restart, redis.ok.aof.restart, redis.rdb.*,
redis.aof.*, redis.loading).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _redis_aof, _redis_rdb
from env_core.programs._redis_saving import AOF

WRITTEN: Final = "written"
"""When the data of a directory were written, in milliseconds."""
_BASE_BYTES: Final = 900_000


class Found(NamedTuple):
    """What a start meets."""

    told: tuple[str, ...] = ()
    """What is logged before the data are there."""
    done: tuple[str, ...] = ()
    """What is logged when they are."""
    report: tuple[str, ...] = ()
    """What is printed of a broken file, without stamps."""
    has_failed: bool = False
    keys: int = 0
    rows: Mapping[str, str] | None = None
    """What the directory holds then; None when it is as before."""


def find(settings: Mapping[str, str], kept: Mapping[str, str], version: str, now_ms: int) -> Found:
    """Return what a server makes of its data directory.

    Real files of Redis are kept as rows named by their paths; what this server has saved itself are rows by key.
    """
    has_aof = settings.get("appendonly") == "yes"
    name = settings.get("appendfilename", "appendonly.aof")
    folder = f"{settings.get('appenddirname', 'appendonlydir')}/"
    manifest = kept.get(f"{folder}{name}.manifest")
    if has_aof and manifest is not None:
        files = {path.removeprefix(folder): text for path, text in kept.items() if path.startswith(folder)}
        takes_truncated = settings.get("aof-load-truncated") != "no"
        replayed = _redis_aof.load(files, manifest, takes_truncated=takes_truncated, now_ms=now_ms)
        return Found(told=replayed.told, has_failed=replayed.has_failed)
    snapshot = settings.get("dbfilename", "dump.rdb")
    if not has_aof and snapshot in kept:
        return _snapshot(kept[snapshot], snapshot, now_ms)
    keys = sum(slot[0].isdigit() for slot in kept)
    if has_aof and AOF not in kept and not keys:
        created = (
            f"* Creating AOF base file {name}.1.base.rdb on server start",
            f"* Creating AOF incr file {name}.1.incr.aof on server start",
        )
        return Found(told=created, rows={**kept, AOF: "1 0 0"})
    if not keys and (not has_aof or AOF not in kept):
        return Found()
    age = max(now_ms - int(kept.get(WRITTEN, str(now_ms))), 0) // 1000
    used = _BASE_BYTES + sum(len(slot) + len(text) + 64 for slot, text in kept.items() if slot[0].isdigit())
    head = (
        f"* Loading RDB produced by version {version}", f"* RDB age {age} seconds",
        f"* RDB memory usage when created {used / (1 << 20):.2f} Mb",
    )  # fmt: skip
    if has_aof:
        return _replayed(name, kept, head, keys)
    done = (
        f"* Done loading RDB, keys loaded: {keys}, keys expired: 0.",
        "* DB loaded from disk: 0.001 seconds",
    )
    return Found(told=head, done=done, keys=keys)


def _replayed(name: str, kept: Mapping[str, str], head: tuple[str, ...], keys: int) -> Found:
    """Return what is said of append-only files of this server's own."""
    sequence, in_base, held = (int(word) for word in kept.get(AOF, f"1 {keys} 0").split())
    base, grown = f"{name}.{sequence}.base.rdb", f"{name}.{sequence}.incr.aof"
    done = (
        "* RDB is base AOF", f"* Done loading RDB, keys loaded: {in_base}, keys expired: 0.",
        f"* DB loaded from base file {base}: 0.001 seconds",
        *((f"* DB loaded from incr file {grown}: 0.001 seconds",) if held else ()),
        "* DB loaded from append only file: 0.001 seconds", f"* Opening AOF incr file {grown} on server start",
    )  # fmt: skip
    return Found(told=("* Reading RDB base file on AOF loading...", *head), done=done, keys=keys)


def _snapshot(text: str, name: str, now_ms: int) -> Found:
    loaded = _redis_rdb.load(text, name, now_ms)
    if loaded.failed:
        return Found(told=(*loaded.told, *loaded.failed), report=loaded.report, has_failed=True)
    done = (
        f"* Done loading RDB, keys loaded: {loaded.keys}, keys expired: 0.", "* DB loaded from disk: 0.001 seconds",
    )  # fmt: skip
    return Found(told=loaded.told, done=done, keys=loaded.keys)
