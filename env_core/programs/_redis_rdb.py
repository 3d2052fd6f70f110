"""Snapshot files of Redis as they lie on disk: what the server reads of one, and what it says of one that is broken.

Source: redis 7.0 src/rdb.c (rdbLoadRioWithLoadingCtx, rdbReportError), src/redis-check-rdb.c; tests/golden/programs/redis
(redis.rdb.*).
"""

from __future__ import annotations

from typing import Final, NamedTuple

VERSION_MAX: Final = 10
"""The newest format that Redis 7.0 reads."""
_AUX, _RESIZE, _EXPIRE_MS, _EXPIRE_S, _SELECT, _END = 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF
_IDLE, _FREQUENCY = 0xF8, 0xF9
_TYPES: Final = (
    "string", "list-linked", "set-hashtable", "zset-v1", "hash-hashtable", "zset-v2", "module-pre-release", "module-value", "",
    "hash-zipmap", "list-ziplist", "set-intset", "zset-ziplist", "hash-ziplist", "quicklist", "stream", "hash-listpack",
    "zset-listpack", "quicklist-v2", "stream-v2",
)  # fmt: skip
_STRINGS: Final = {1: 1, 2: 1, 4: 2}
"""How many strings an element of a plain collection consists of, by its type."""


class Loaded(NamedTuple):
    """What reading a snapshot brought."""

    told: tuple[str, ...] = ()
    """What is logged on the way, each with its mark."""
    failed: tuple[str, ...] = ()
    """What is logged of the error that ends it; none when it is read to its end."""
    report: tuple[str, ...] = ()
    """What the check of the file prints then, without stamps."""
    keys: int = 0


class _Short(Exception):
    """The file ends within what should be read."""


class _Reader:
    """Reads a snapshot from its first byte on, and remembers what it was doing."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.doing = "start"
        self.key: str | None = None
        self.kind = 0
        self.keys = 0
        self.expires = 0
        self.told: list[str] = []
        self.checked: list[str] = []

    def take(self, count: int) -> bytes:
        """Read so many bytes; what cannot be read whole is not counted as read."""
        if self.at + count > len(self.data):
            raise _Short
        found = self.data[self.at : self.at + count]
        self.at += count
        return found

    def length(self) -> tuple[int, bool]:
        """Read a length; return it, and whether it stands for a special encoding."""
        first = self.take(1)[0]
        kind = first >> 6
        if kind == 0:
            return first & 0x3F, False
        if kind == 1:
            return (first & 0x3F) << 8 | self.take(1)[0], False
        if kind == 2:
            return int.from_bytes(self.take(8 if first == 0x81 else 4), "big"), False
        return first & 0x3F, True

    def string(self) -> str:
        """Read a string, whatever its encoding; compressed ones come as they are."""
        size, is_encoded = self.length()
        if not is_encoded:
            return self.take(size).decode("utf-8", "replace")
        if size < 3:
            return str(int.from_bytes(self.take(1 << size), "little", signed=True))
        packed, _ = self.length()
        self.length()
        return self.take(packed).decode("latin-1")

    def value(self) -> None:
        """Read the value of a key."""
        if self.kind in _STRINGS:
            for _ in range(self.length()[0] * _STRINGS[self.kind]):
                self.string()
        elif self.kind == 18:
            for _ in range(self.length()[0]):
                self.length()
                self.string()
        else:
            self.string()

    def body(self, now_ms: int) -> None:
        """Read everything after the header."""
        while True:
            self.doing = "read-type"
            kind = self.take(1)[0]
            if kind == _END:
                self.doing = "check-sum"
                self.take(8)
                return
            if kind in (_EXPIRE_S, _EXPIRE_MS):
                self.doing = "read-expire"
                self.take(4 if kind == _EXPIRE_S else 8)
                self.expires += 1
            elif kind == _FREQUENCY:
                self.take(1)
            elif kind == _IDLE:
                self.length()
            elif kind == _SELECT:
                self.doing = "read-len"
                number, _ = self.length()
                self.checked.append(f"[offset {self.at}] Selecting DB ID {number}")
            elif kind == _RESIZE:
                self.doing = "read-len"
                self.length()
                self.length()
            elif kind == _AUX:
                self.doing = "read-aux"
                self._aux(self.string(), self.string(), now_ms)
            else:
                self.kind = kind
                self.doing = "read-key"
                self.key = self.string()
                self.keys += 1
                self.doing = "read-object-value"
                self.value()
                self.key = None

    def _aux(self, name: str, value: str, now_ms: int) -> None:
        self.checked.append(f"[offset {self.at}] AUX FIELD {name} = '{value}'")
        if name == "redis-ver":
            self.told.append(f"* Loading RDB produced by version {value}")
        elif name == "ctime" and value.isdigit():
            self.told.append(f"* RDB age {max(now_ms // 1000 - int(value), 0)} seconds")
        elif name == "used-mem" and value.isdigit():
            self.told.append(f"* RDB memory usage when created {int(value) / (1 << 20):.2f} Mb")
        elif name == "aof-base" and value == "1":
            self.told.append("* RDB is base AOF")


def load(text: str, name: str, now_ms: int) -> Loaded:
    """Read a snapshot file; its bytes are the characters of `text`."""
    reader = _Reader(text.encode("latin-1", "replace"))
    try:
        header = reader.take(9)
        if header[:5] != b"REDIS":
            return _refused("# Wrong signature trying to load DB from file")
        digits = header[5:].decode("latin-1")
        version = int(digits) if digits.isascii() and digits.isdigit() else 0
        if not 1 <= version <= VERSION_MAX:
            return _refused(f"# Can't handle RDB format version {version}")
        reader.body(now_ms)
    except _Short:
        return _cut(reader, name)
    return Loaded(told=tuple(reader.told), keys=reader.keys)


def _refused(problem: str) -> Loaded:
    return Loaded(failed=(problem, "# Fatal error loading the DB: Invalid argument. Exiting."))


def _cut(reader: _Reader, name: str) -> Loaded:
    """Return what is said of a file that ends too early: the server hands it over to its checker."""
    problem = "Unexpected EOF reading RDB file"
    kind = _TYPES[reader.kind] if reader.kind < len(_TYPES) else "unknown"
    report = (
        f"[offset 0] Checking RDB file {name}", *reader.checked, "--- RDB ERROR DETECTED ---", f"[offset {reader.at}] {problem}",
        f"[additional info] While doing: {reader.doing}",
        *(() if reader.key is None else (f"[additional info] Reading key '{reader.key}'",)),
        f"[additional info] Reading type {reader.kind} ({kind})",
        f"[info] {reader.keys} keys read", f"[info] {reader.expires} expires", "[info] 0 already expired",
    )  # fmt: skip
    failed = (
        "# Short read or OOM loading DB. Unrecoverable error, aborting now.",
        f"# Internal error in RDB reading offset 0, function at rdb.c:3249 -> {problem}",
    )
    return Loaded(told=tuple(reader.told), failed=failed, report=report)
