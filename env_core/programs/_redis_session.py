"""The Redis protocol, and one connection to a server that keeps its data in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from env_core.programs._redis_saving import AOF, SOUND, Disk

NOAUTH: Final = "-NOAUTH Authentication required.\r\n"


WRONGTYPE: Final = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"


NOT_INTEGER: Final = "-ERR value is not an integer or out of range\r\n"


NIL: Final = "$-1\r\n"


OK: Final = "+OK\r\n"


def bulk(text: str) -> str:
    """Return a bulk string."""
    return f"${len(text.encode())}\r\n{text}\r\n"


def integer(number: int) -> str:
    """Return an integer reply."""
    return f":{number}\r\n"


def array(items: list[str]) -> str:
    """Return an array of bulk strings."""
    return f"*{len(items)}\r\n" + "".join(map(bulk, items))


def encode(*words: str) -> str:
    """Return a command as clients send it."""
    return array(list(words))


DATA_BASE: Final = 900_000
"""About what a server takes before it holds any data."""
BROKEN: Final = "\0protocol error"
"""Stands in the place of a command that does not follow the protocol; the character that came instead of "$" follows."""


def _inline(line: str) -> list[str]:
    """Return the words of a line: quotes join, and a backslash means something between double ones only.

    Source: redis src/sds.c sdssplitargs.
    """
    return [_plain(each) for each in _WORD.findall(line)]


_WORD: Final = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+|["'].*""")
_PIECE: Final = re.compile(r""""((?:[^"\\]|\\.)*)"|'([^']*)'|([^"']+)""")
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "a": "\a"}


def _plain(word: str) -> str:
    if '"' not in word and "'" not in word:
        return word
    return "".join(
        _ESCAPE.sub(_character, quoted) if quoted else single or bare
        for quoted, single, bare in _PIECE.findall(word)
    )


def _character(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 3 else _ESCAPED.get(code, code)


def commands(text: str) -> list[list[str]]:
    """Return the commands in a request: RESP arrays, or lines of words."""
    found: list[list[str]] = []
    position = 0
    while position < len(text):
        end = text.find("\r\n", position)
        if text[position] != "*" or end == -1 or not text[position + 1 : end].isdigit():
            line = text[position : end if end != -1 else len(text)]
            if line.strip():
                found.append(_inline(line))
            position = len(text) if end == -1 else end + 2
            continue
        words: list[str] = []
        count = int(text[position + 1 : end])
        position = end + 2
        for _ in range(count):
            end = text.find("\r\n", position)
            if end == -1:
                return found
            if text[position] != "$":
                return [*found, [BROKEN, text[position]]]
            size = int(text[position + 1 : end])
            raw = (
                text[end + 2 :].encode()[:size].decode("utf-8", "replace")
                if not text.isascii()
                else text[end + 2 : end + 2 + size]
            )
            words.append(raw)
            position = end + 2 + len(raw) + 2
        found.append(words)
    return found


@dataclass(slots=True)
class Session:
    """One connection to a server, with the server's memory as it changes."""

    memory: dict[str, str]
    config: Mapping[str, str]
    now_ms: int
    started_ms: int
    version: str
    memory_limit: int | None
    is_authenticated: bool = False
    is_refused: bool = False
    """Whether protected mode turns the client away."""
    database: int = 0
    is_changed: bool = False
    renamed: tuple[tuple[str, str], ...] = ()
    """(old name, new name) of commands; "-" for those that are disabled."""
    info: Callable[[Session, str], str] = field(default=lambda _session, _section: "")
    disk: Disk = SOUND
    source_ip: str = ""
    own_ip: str = ""
    changes: int = 0
    """How many keys were written."""
    said: list[tuple[int, str]] = field(default_factory=list)
    """What is logged: times, and messages with role and mark."""
    queue: list[list[str]] | None = None
    """The commands of a transaction; None outside of one."""
    is_queue_broken: bool = False
    config_file: str = ""
    is_loading: bool = False
    """Whether it still reads its data."""
    ends: int | None = None
    """The code with which the server ends."""

    def setting(self, name: str) -> str:
        """Return a configuration value, with what CONFIG SET changed."""
        return self.memory.get(f"config {name}", self.config.get(name, ""))

    def key(self, name: str) -> str:
        """Return where a key's value is kept."""
        return f"{self.database} {name}"

    def value(self, name: str) -> Any:
        """Return a key's value (str, list, dict), None when it is missing or has expired."""
        slot = self.key(name)
        text = self.memory.get(slot)
        if text is None:
            return None
        expires = self.memory.get(f"expires {slot}")
        if expires is not None and int(expires) <= self.now_ms:
            self.drop(name)
            return None
        return text[1:] if text[0] == "s" else json.loads(text)

    def put(self, name: str, value: Any) -> None:
        """Set a key's value, keeping its expiry."""
        self.memory[self.key(name)] = "s" + value if isinstance(value, str) else json.dumps(value)
        self.is_changed = True
        self.changes += 1

    def drop(self, name: str) -> bool:
        """Remove a key; return whether it was there."""
        slot = self.key(name)
        self.memory.pop(f"expires {slot}", None)
        self.is_changed = True
        self.changes += 1
        return self.memory.pop(slot, None) is not None

    def names(self) -> list[str]:
        """Return the keys of the database, in order of creation."""
        prefix = f"{self.database} "
        found = [slot[len(prefix) :] for slot in self.memory if slot.startswith(prefix)]
        return [name for name in found if self.value(name) is not None]

    def data(self) -> dict[str, str]:
        """Return what is kept on disk: the keys of all databases, when they expire, and the state of append-only files."""
        return {
            slot: text
            for slot, text in self.memory.items()
            if slot[0].isdigit() or slot.startswith("expires ") or slot == AOF
        }

    def used_bytes(self) -> int:
        """Return about how much the data takes."""
        return DATA_BASE + sum(
            len(slot) + len(text) + 64 for slot, text in self.memory.items() if slot[0].isdigit()
        )
