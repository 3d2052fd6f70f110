"""The Redis protocol, and one connection to a server that keeps its data in memory."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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


def commands(text: str) -> list[list[str]]:
    """Return the commands in a request: RESP arrays, or lines of words."""
    found: list[list[str]] = []
    position = 0
    while position < len(text):
        end = text.find("\r\n", position)
        if text[position] != "*" or end == -1 or not text[position + 1 : end].isdigit():
            line = text[position : end if end != -1 else len(text)]
            if line.strip():
                try:
                    found.append(shlex.split(line))
                except ValueError:
                    found.append(line.split())
            position = len(text) if end == -1 else end + 2
            continue
        words: list[str] = []
        count = int(text[position + 1 : end])
        position = end + 2
        for _ in range(count):
            end = text.find("\r\n", position)
            if end == -1 or text[position : position + 1] != "$":
                return found
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

    def drop(self, name: str) -> bool:
        """Remove a key; return whether it was there."""
        slot = self.key(name)
        self.memory.pop(f"expires {slot}", None)
        self.is_changed = True
        return self.memory.pop(slot, None) is not None

    def names(self) -> list[str]:
        """Return the keys of the database, in order of creation."""
        prefix = f"{self.database} "
        found = [slot[len(prefix) :] for slot in self.memory if slot.startswith(prefix)]
        return [name for name in found if self.value(name) is not None]

    def data(self) -> dict[str, str]:
        """Return what a snapshot holds: the keys of all databases, and when they expire."""
        return {
            slot: text
            for slot, text in self.memory.items()
            if slot[0].isdigit() or slot.startswith("expires ")
        }

    def used_bytes(self) -> int:
        """Return about how much the data takes."""
        return 900_000 + sum(len(slot) + len(text) + 64 for slot, text in self.memory.items())
