"""postgresql.conf: its grammar, the values that the server checks, and what it says of bad ones.

Source: postgres 15 src/backend/utils/misc/guc.c, guc-file.l; tests/golden/programs/postgres (postgres.conf.*, postgres.reload.bad).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._postgres_names import NAMES

_LINE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=?\s*('(?:[^'\n]|'')*'|[^\s#']+)?\s*(.*)")
_NUMBER: Final = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]*)\Z")
_SIZES: Final = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
ON: Final = ("on", "true", "yes", "1")
"""How a switch that is on is written."""
_TIMES: Final = {"us": 0.001, "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZED: Final = (
    "shared_buffers", "work_mem", "maintenance_work_mem", "wal_buffers", "max_wal_size", "min_wal_size", "temp_buffers",
    "effective_cache_size", "wal_keep_size", "temp_file_limit", "logical_decoding_work_mem",
)  # fmt: skip
_TIMED: Final = (
    "checkpoint_timeout", "deadlock_timeout", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
    "log_min_duration_statement", "wal_receiver_timeout", "wal_sender_timeout", "autovacuum_naptime", "bgwriter_delay",
    "authentication_timeout", "archive_timeout", "max_standby_streaming_delay", "tcp_keepalives_idle",
)  # fmt: skip
_RANGES: Final = {
    "port": (1, 65535), "max_connections": (1, 262143), "superuser_reserved_connections": (0, 262143),
    "max_wal_senders": (0, 262143), "max_worker_processes": (0, 262143), "max_replication_slots": (0, 262143),
    "max_prepared_transactions": (0, 262143), "max_locks_per_transaction": (10, 2**31 - 1),
}  # fmt: skip
_SWITCHES: Final = (
    "fsync", "hot_standby", "log_connections", "log_disconnections", "log_lock_waits", "default_transaction_read_only",
    "autovacuum", "full_page_writes", "ssl", "log_checkpoints", "logging_collector",
)  # fmt: skip
_ENUMS: Final = {
    "wal_level": "minimal, replica, logical", "huge_pages": "off, on, try", "log_statement": "none, ddl, mod, all",
    "password_encryption": "md5, scram-sha-256", "archive_mode": "always, on, off",
}  # fmt: skip
_LOCALES: Final = ("C", "POSIX", "C.UTF-8", "C.utf8", "en_US.UTF-8", "en_US.utf8", "")


class Told(NamedTuple):
    """A line about a configuration, with its level; early ones come before the time zone is known."""

    text: str
    is_early: bool = False


class Read(NamedTuple):
    """What a configuration says."""

    settings: Mapping[str, str]
    problems: tuple[Told, ...] = ()


@lru_cache(maxsize=64)
def read(path: str, text: str, others: tuple[str, ...]) -> Read:
    """Read a configuration file; `others` are the paths of the files beside it."""
    found: dict[str, str] = {}
    early: list[Told] = []
    directory = path.rpartition("/")[0]
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.match(line)
        rest = match[3].strip() if match else line
        if match is None or (rest and not rest.startswith("#")) or match[2] is None:
            token = rest.split()[0][:1] if rest and rest[0] == "'" else rest.split()[0] if rest else ""
            near = f', near token "{token}"' if token else ", near end of line"
            early.append(Told(f'LOG:  syntax error in file "{path}" line {number}{near}', True))
            continue
        name, value = match[1], match[2]
        value = value[1:-1].replace("''", "'") if value.startswith("'") else value
        if name.lower() in ("include", "include_if_exists", "include_dir"):
            target = value if value.startswith("/") else f"{directory}/{value}"
            if name.lower() == "include" and target not in others:
                why = "No such file or directory"
                early.append(Told(f'LOG:  could not open configuration file "{target}": {why}', True))
            continue
        if name.lower() not in NAMES and "." not in name:
            early.append(
                Told(
                    f'LOG:  unrecognized configuration parameter "{name}" in file "{path}" line {number}',
                    True,
                )
            )
            continue
        found[name.lower()] = value
    if early:
        return Read(found, tuple(early))
    return Read(
        found, tuple(Told(text) for name, value in found.items() for text in value_problem(name, value))
    )


def value_problem(name: str, value: str) -> tuple[str, ...]:
    """Return what is said of a value that a setting cannot have; () when it can."""
    invalid = f'LOG:  invalid value for parameter "{_SHOWN.get(name, name)}": "{value}"'
    if name in _ENUMS:
        options = _ENUMS[name]
        return (
            () if value.lower() in options.split(", ") else (invalid, f"HINT:  Available values: {options}.")
        )
    if name in _SWITCHES:
        known = ("on", "off", "true", "false", "yes", "no", "1", "0")
        return () if value.lower() in known else (f'LOG:  parameter "{name}" requires a Boolean value',)
    if name in _SIZED or name in _TIMED or name in _RANGES:
        return _number_problem(name, value, invalid)
    if name.startswith("lc_") and value not in _LOCALES:
        return (invalid,)
    if name in ("timezone", "log_timezone") and not _is_zone(value):
        return (invalid,)
    return ()


_SHOWN: Final = {"timezone": "TimeZone"}


def _number_problem(name: str, value: str, invalid: str) -> tuple[str, ...]:
    found = _NUMBER.match(value.strip())
    if found is None:
        return (invalid,)
    unit = found[2]
    if name in _SIZED and unit and unit not in _SIZES:
        return invalid, 'HINT:  Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".'
    if name in _TIMED and unit and unit not in _TIMES:
        return invalid, 'HINT:  Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".'
    if name in _RANGES:
        least, most = _RANGES[name]
        if unit:
            return (invalid,)
        if not least <= float(found[1]) <= most:
            return (
                f'LOG:  {found[1]} is outside the valid range for parameter "{name}" ({least} .. {most})',
            )
    return ()


def _is_zone(value: str) -> bool:
    area, slash, place = value.partition("/")
    return not slash or (area in _AREAS and bool(place))


_AREAS: Final = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Etc", "Europe", "Indian", "Pacific", "US",
)  # fmt: skip


def size_bytes(value: str, unit_bytes: int) -> int:
    """Return a size in bytes; a bare number counts units of the setting's own."""
    found = _NUMBER.match(value.strip())
    if found is None:
        return 0
    return int(float(found[1]) * (_SIZES.get(found[2], unit_bytes) if found[2] else unit_bytes))


_DURATION_MAX_MS: Final = (1 << 31) - 1
"""Settings have 32 bits."""


def duration_ms(value: str) -> int:
    """Return a length of time in milliseconds; a bare number counts them."""
    found = _NUMBER.match(value.strip())
    if found is None:
        return 0
    return round(min(float(found[1]) * _TIMES.get(found[2] or "ms", 1), _DURATION_MAX_MS))
