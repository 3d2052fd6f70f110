"""redis-server's configuration: the directives it knows, their values, and its fatal error texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from env_core.programs._redis_acl import NAMES, user_problem

_POLICIES: Final = "volatile-lru, volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction"
_ENUMS: Final = {
    "maxmemory-policy": _POLICIES,
    "loglevel": "debug, verbose, notice, warning",
    "appendfsync": "everysec, always, no",
    "supervised": "upstart, systemd, auto, no",
}
_SWITCHES: Final = frozenset(
    [
        "protected-mode",
        "appendonly",
        "daemonize",
        "rdbcompression",
        "rdbchecksum",
        "stop-writes-on-bgsave-error",
        "tcp-keepalive-on",
        "lazyfree-lazy-eviction",
        "lazyfree-lazy-expire",
        "lazyfree-lazy-server-del",
        "lazyfree-lazy-user-del",
        "replica-read-only",
        "replica-serve-stale-data",
        "slave-read-only",
        "no-appendfsync-on-rewrite",
        "aof-load-truncated",
        "aof-use-rdb-preamble",
        "activerehashing",
        "dynamic-hz",
        "always-show-logo",
        "io-threads-do-reads",
        "cluster-enabled",
        "activedefrag",
        "repl-diskless-sync",
        "repl-disable-tcp-nodelay",
        "crash-log-enabled",
        "set-proc-title",
        "syslog-enabled",
    ]
)
_NUMBERS: Final = {
    "port": (0, 65535), "tls-port": (0, 65535), "timeout": (0, 2**31 - 1), "databases": (1, 2**31 - 1),
    "maxclients": (1, 2**32 - 1), "tcp-backlog": (0, 2**31 - 1), "tcp-keepalive": (0, 2**31 - 1), "hz": (0, 2**31 - 1),
    "io-threads": (1, 128), "repl-timeout": (1, 2**31 - 1), "replica-priority": (0, 2**31 - 1), "maxmemory-samples": (1, 2**31 - 1),
    "repl-diskless-sync-delay": (0, 2**31 - 1), "slowlog-log-slower-than": (-1, 2**63 - 1), "slowlog-max-len": (0, 2**63 - 1),
    "latency-monitor-threshold": (0, 2**63 - 1), "auto-aof-rewrite-percentage": (0, 2**31 - 1), "lfu-log-factor": (0, 2**31 - 1),
    "min-replicas-to-write": (0, 2**31 - 1), "min-replicas-max-lag": (0, 2**31 - 1), "list-max-ziplist-size": (-(2**31), 2**31 - 1),
    "hash-max-listpack-entries": (0, 2**63 - 1), "set-max-intset-entries": (0, 2**63 - 1), "list-compress-depth": (0, 2**31 - 1),
    "key-load-delay": (-(2**31), 2**31 - 1), "loading-process-events-interval-bytes": (1024, 2**31 - 1),
}  # fmt: skip
_MEMORIES: Final = frozenset(
    {
        "maxmemory",
        "auto-aof-rewrite-min-size",
        "repl-backlog-size",
        "proto-max-bulk-len",
        "client-query-buffer-limit",
    }
)
_STRINGS: Final = frozenset(
    [
        "dir",
        "dbfilename",
        "requirepass",
        "masterauth",
        "masteruser",
        "logfile",
        "pidfile",
        "appendfilename",
        "appenddirname",
        "aclfile",
        "unixsocket",
        "unixsocketperm",
        "syslog-ident",
        "cluster-announce-ip",
        "replica-announce-ip",
        "locale-collate",
        "proc-title-template",
        "notify-keyspace-events",
        "enable-debug-command",
        "enable-protected-configs",
        "enable-module-command",
    ]
)
_FREE: Final = frozenset(
    {
        "bind",
        "save",
        "include",
        "user",
        "rename-command",
        "replicaof",
        "slaveof",
        "client-output-buffer-limit",
        "loadmodule",
    }
)
_MEMORY: Final = re.compile(r"(\d+)(b|k|kb|m|mb|g|gb)?\Z", re.IGNORECASE)
_UNITS: Final = {
    "": 1,
    "b": 1,
    "k": 1000,
    "kb": 1024,
    "m": 1000**2,
    "mb": 1024**2,
    "g": 1000**3,
    "gb": 1024**3,
}

DEFAULTS: Final = {
    "port": "6379", "maxmemory": "0", "maxmemory-policy": "noeviction", "appendonly": "no", "requirepass": "",
    "dir": "/data", "dbfilename": "dump.rdb", "save": "3600 1 300 100 60 10000", "databases": "16", "timeout": "0",
    "maxclients": "10000", "bind": "* -::*", "protected-mode": "no", "appendfsync": "everysec", "loglevel": "notice",
}  # fmt: skip
"""The defaults that matter here; the official image starts with protected mode off."""


class ConfigProblem(Exception):
    """redis-server refuses its configuration; `lines` is what it prints after its title line."""

    def __init__(self, *lines: str, is_plain: bool = False) -> None:
        super().__init__(*lines)
        self.lines = lines
        self.is_plain = is_plain


def memory_bytes(text: str) -> int | None:
    """Return a memory value in bytes, None if it is none."""
    found = _MEMORY.match(text)
    return int(found[1]) * _UNITS[(found[2] or "").lower()] if found else None


def value_problem(name: str, value: str) -> str:
    """Return why a value does not fit a directive, "" when it does."""
    if name in _ENUMS:
        return (
            ""
            if value.lower() in _ENUMS[name].split(", ")
            else f"argument(s) must be one of the following: {_ENUMS[name]}"
        )
    if name in _SWITCHES:
        return "" if value.lower() in ("yes", "no") else "argument must be 'yes' or 'no'"
    if name in _MEMORIES:
        return "" if memory_bytes(value) is not None else "argument must be a memory value"
    if name in _NUMBERS:
        least, most = _NUMBERS[name]
        if not value.lstrip("-").isdigit():
            return "argument couldn't be parsed into an integer"
        return "" if least <= int(value) <= most else f"argument must be between {least} and {most} inclusive"
    return ""


def is_known(name: str) -> bool:
    """Whether redis-server has such a directive."""
    return (
        name in _ENUMS
        or name in _SWITCHES
        or name in _MEMORIES
        or name in _NUMBERS
        or name in _STRINGS
        or name in _FREE
    )


def _words(line: str) -> list[str]:
    words: list[str] = []
    position = 0
    while position < len(line):
        if line[position] in " \t":
            position += 1
            continue
        if line[position] in "\"'":
            quote = line[position]
            end = line.find(quote, position + 1)
            if end == -1 or (end + 1 < len(line) and line[end + 1] not in " \t"):
                raise ValueError(line)
            words.append(line[position + 1 : end])
            position = end + 1
            continue
        end = position
        while end < len(line) and line[end] not in " \t":
            end += 1
        words.append(line[position:end])
        position = end
    return words


@lru_cache(maxsize=256)
def read(text: str, options: tuple[str, ...], files: tuple[str, ...]) -> Mapping[str, str]:
    """Return the values in force for a configuration file and command-line options.

    Raises:
        ConfigProblem: if redis-server refuses them.

    Source: redis src/config.c loadServerConfigFromString; tests/golden/programs/redis (config_error).
    """
    found = dict(DEFAULTS)
    lines = text.split("\n")
    lines += _option_lines(options)
    saves: list[str] = []
    for number, raw in enumerate(lines, start=1):
        line = raw.strip(" \t\r\n")
        if not line or line.startswith("#"):
            continue

        def refuse(problem: str, number: int = number, line: str = line) -> ConfigProblem:
            return ConfigProblem(
                f"Reading the configuration file, at line {number}", f">>> '{line}'", problem
            )

        try:
            words = _words(line)
        except ValueError:
            raise refuse("Unbalanced quotes in configuration line") from None
        name = words[0].lower()
        if not is_known(name):
            raise refuse("Bad directive or wrong number of arguments")
        if name == "include":
            if words[1:] and words[1] not in files:
                raise ConfigProblem(
                    f"Fatal error, can't open config file '{words[1]}': No such file or directory",
                    is_plain=True,
                )
            continue
        if name == "save":
            if words[1:] == [""]:
                saves = [""]
            elif len(words) < 3 or len(words) % 2 == 0 or not all(word.isdigit() for word in words[1:]):
                raise refuse("Invalid save parameters")
            else:
                saves += words[1:]
            found["save"] = " ".join(saves).strip()
            continue
        if name == "rename-command" and len(words) == 3:
            if words[1].lower() not in NAMES:
                raise refuse("No such command in rename-command")
            found[f"renamed {words[1].lower()}"] = words[2].lower() or "-"
            continue
        if name == "user":
            problem = user_problem(words)
            if problem:
                raise refuse(problem)
        if name in _FREE:
            found[name] = " ".join(words[1:])
            continue
        if len(words) != 2:
            raise refuse("wrong number of arguments")
        problem = value_problem(name, words[1])
        if problem:
            raise refuse(problem)
        found[name] = words[1]
    return found


def renames(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return (old name, new name) of commands; "-" for those that are disabled."""
    return tuple(
        (key.partition(" ")[2], value) for key, value in settings.items() if key.startswith("renamed ")
    )


def _option_lines(options: tuple[str, ...]) -> list[str]:
    """Return `--name value …` options as lines of a configuration file."""
    lines: list[str] = []
    for word in options:
        if word.startswith("--"):
            lines.append(word[2:])
        elif lines:
            lines[-1] += f' "{word}"'
    return lines
