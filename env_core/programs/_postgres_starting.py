"""Why a Postgres server does not start, and what one that starts says: its data directory, its settings, its addresses.

Source: postgres 15 src/backend/main/main.c, src/backend/postmaster/postmaster.c; tests/golden/programs/postgres (postgres.conf.*,
postgres.hba.*, postgres.perm, postgres.owner, postgres.version, postgres.readonly, postgres.inuse, postgres.nofile, postgres.wal.lost).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _postgres_hba
from env_core.programs._machine import PLAIN, Machine, is_full
from env_core.programs._model import Container, Upstream
from env_core.programs._postgres_config import Told, size_bytes
from env_core.programs._postgres_filling import NO_SPACE, has_entry_point
from env_core.programs._postgres_settings import config_path, configuration, given, whole

PORT: Final = 5432
_CONTROL_VERSION: Final = 1300
_BUFFER_BYTES: Final = 8192
_BESIDE_BUFFER: Final = 151.3
_FIXED_BYTES: Final = 13_074_432
"""What a request for shared memory has beside the buffers, by two recorded sizes."""
_HUGE_PAGE: Final = 2 << 20
_MEMORY_MAX: Final = 64 << 30
_FILES_USED, _FILES_WANTED = 23, 58
_UP_TO_NOW: Final = "LOG:  database system is shut down"
_NO_SUCH: Final = "No such file or directory"


class Began(NamedTuple):
    """What a start says."""

    lines: tuple[Told, ...] = ()
    plain: tuple[str, ...] = ()
    """What is printed without a stamp, before there is a log."""
    code: int | None = None


_ROOT: Final = (
    '"root" execution of the PostgreSQL server is not permitted.',
    "The server must be started under an unprivileged user ID to prevent",
    "possible system security compromise.  See the documentation for",
    "more information on how to properly start the server.",
)
"""Not recorded. Source: src/backend/main/main.c (check_root)."""


def refusal(
    container: Container, argv: tuple[str, ...], directory: str, kept: Mapping[str, str], version: str, machine: Machine = PLAIN
) -> Began | None:  # fmt: skip
    """Return why a server does not begin to listen, None when it does."""
    if not container.user and not has_entry_point(container):
        # An entry point gives up being root before it starts the server.
        return Began(plain=_ROOT, code=1)
    problem = given(argv).problem
    if problem:
        return Began(tuple(Told(text, True) for text in problem), code=1)
    early = _without_data(directory, kept, machine)
    if early is not None:
        return early
    read = configuration(container, directory, argv)
    if read.problems:
        is_early = read.problems[0].is_early
        last = f'FATAL:  configuration file "{config_path(directory, argv)}" contains errors'
        return Began((*read.problems, Told(last, is_early)), code=1)
    return _with_settings(container, directory, kept, read.settings, version, machine)


def _without_data(directory: str, kept: Mapping[str, str], machine: Machine) -> Began | None:
    """Return why a server cannot read its data directory."""
    config = f"{directory}/postgresql.conf"
    if directory in machine.missing:
        return Began(plain=(
            f'postgres: could not access directory "{directory}": {_NO_SUCH}',
            "Run initdb or pg_basebackup to initialize a PostgreSQL data directory.",
        ), code=2)  # fmt: skip
    if directory in machine.forbidden or not kept:
        why = "Permission denied" if directory in machine.forbidden else _NO_SUCH
        return Began(
            plain=(f'postgres: could not access the server configuration file "{config}": {why}',), code=2
        )
    return None


def _with_settings(
    container: Container, directory: str, kept: Mapping[str, str], settings: Mapping[str, str], version: str, machine: Machine
) -> Began | None:  # fmt: skip
    most = whole(settings, "max_connections", 100)
    reserved = whole(settings, "superuser_reserved_connections", 3)
    if reserved >= most:
        text = f"postgres: superuser_reserved_connections ({reserved}) must be less than max_connections ({most})"
        return Began(plain=(text,), code=1)
    mode = kept.get("mode", "0700")
    if mode not in ("0700", "0750"):
        return _fatal(
            f'FATAL:  data directory "{directory}" has invalid permissions',
            "DETAIL:  Permissions should be u=rwx (0700) or u=rwx,g=rx (0750).",
        )
    if settings.get("wal_level") == "minimal" and settings.get("max_wal_senders", "10") != "0":
        return _fatal('FATAL:  WAL streaming (max_wal_senders > 0) requires wal_level "replica" or "logical"')
    major = version.partition(".")[0]
    if kept and kept.get("PG_VERSION", major) != major:
        return _fatal(
            "FATAL:  database files are incompatible with server",
            f"DETAIL:  The data directory was initialized by PostgreSQL version {kept['PG_VERSION']}, "
            f"which is not compatible with this version {version}.",
        )
    is_mounted = any(directory == path or directory.startswith(f"{path}/") for path in container.mounts)
    if container.is_root_read_only and not is_mounted and not has_entry_point(container):
        return _fatal('FATAL:  could not create lock file "postmaster.pid": Read-only file system')
    if is_full(machine, directory):
        return _fatal(f'FATAL:  could not write lock file "postmaster.pid": {NO_SPACE}')
    return _late(kept, settings, machine)


def _late(kept: Mapping[str, str], settings: Mapping[str, str], machine: Machine) -> Began | None:
    """Return what goes wrong once there is a lock file: such ends are told of."""
    library = settings.get("shared_preload_libraries", "")
    unknown = [name.strip() for name in library.split(",") if name.strip() and name.strip() not in _LIBRARIES]
    if unknown:
        return _fatal(f'FATAL:  could not access file "{unknown[0]}": {_NO_SUCH}', _UP_TO_NOW)
    if machine.files_max and machine.files_max - _FILES_USED < _FILES_WANTED:
        return _fatal(
            "FATAL:  insufficient file descriptors available to start server process",
            f"DETAIL:  System allows {machine.files_max - _FILES_USED}, we need at least {_FILES_WANTED}.", _UP_TO_NOW,
        )  # fmt: skip
    control = kept.get("global/pg_control")
    if control is not None and int.from_bytes(control[8:12].encode("latin-1"), "little") != _CONTROL_VERSION:
        number = int.from_bytes(control[8:12].encode("latin-1"), "little")
        return _fatal(
            "FATAL:  database files are incompatible with server",
            f"DETAIL:  The database cluster was initialized with PG_CONTROL_VERSION {number}, but the server was compiled with"
            f" PG_CONTROL_VERSION {_CONTROL_VERSION}.",
            "HINT:  It looks like you need to initdb.", _UP_TO_NOW,
        )  # fmt: skip
    asked = size_bytes(settings.get("shared_buffers", "128MB"), _BUFFER_BYTES)
    is_huge = settings.get("huge_pages") == "on"
    if is_huge or asked > _MEMORY_MAX:
        total = asked + int(asked / _BUFFER_BYTES * _BESIDE_BUFFER) + _FIXED_BYTES
        total = -(-total // _HUGE_PAGE) * _HUGE_PAGE if is_huge else total
        return _fatal(
            "FATAL:  could not map anonymous shared memory: Cannot allocate memory",
            "HINT:  This error usually means that PostgreSQL's request for a shared memory segment exceeded available memory,"
            f" swap space, or huge pages. To reduce the request size (currently {total} bytes), reduce PostgreSQL's shared"
            " memory usage, perhaps by reducing shared_buffers or max_connections.", _UP_TO_NOW,
        )  # fmt: skip
    return None


_LIBRARIES: Final = ("pg_stat_statements", "auto_explain", "auth_delay", "passwordcheck", "pg_prewarm")


def _fatal(*texts: str) -> Began:
    return Began(tuple(map(Told, texts)), code=1)


def listening(
    container: Container, directory: str, settings: Mapping[str, str], machine: Machine, upstream: Upstream
) -> Began:
    """Return what a server says of its addresses and its rules, and whether that ends it."""
    port = whole(settings, "port", PORT)
    told: list[str] = []
    failed: list[str] = []
    wanted = settings.get("listen_addresses", "*")
    for host in [each.strip() for each in wanted.split(",") if each.strip()]:
        if port in machine.taken:
            for address, family in (("0.0.0.0", "IPv4"), ("::", "IPv6")):
                failed += [
                    f'LOG:  could not bind {family} address "{address}": Address already in use',
                    f"HINT:  Is another postmaster already running on port {port}? If not, wait a few seconds and retry.",
                ]
            failed.append(f'WARNING:  could not create listen socket for "{host}"')
        elif host == "*":
            told += [
                f'LOG:  listening on IPv4 address "0.0.0.0", port {port}', f'LOG:  listening on IPv6 address "::", port {port}',
            ]  # fmt: skip
        elif not host.replace(".", "").isdigit() and host != "localhost" and upstream.resolve(host).failure:
            failed += [
                f'LOG:  could not translate host name "{host}", service "{port}" to address: Name or service not known',
                f'WARNING:  could not create listen socket for "{host}"',
            ]
        else:
            told.append(
                f'LOG:  listening on IPv4 address "{"127.0.0.1" if host == "localhost" else host}", port {port}'
            )
    if failed and not told:
        end = ("FATAL:  could not create any TCP/IP sockets", _UP_TO_NOW)
        return Began(tuple(map(Told, (*failed, *end))), code=1)
    told.append(f'LOG:  listening on Unix socket "/var/run/postgresql/.s.PGSQL.{port}"')
    path = settings.get("hba_file", f"{directory}/pg_hba.conf")
    _, problems = _postgres_hba.read(container.files.get(path, ""))
    for problem in problems:
        told += [f"LOG:  {problem.text}", f'CONTEXT:  line {problem.number} of configuration file "{path}"']
    if problems:
        told += ["FATAL:  could not load pg_hba.conf", _UP_TO_NOW]
        return Began(tuple(map(Told, (*failed, *told))), code=1)
    return Began(tuple(map(Told, (*failed, *told))))


LOST_WAL: Final = (
    "LOG:  invalid primary checkpoint record", "PANIC:  could not locate a valid checkpoint record",
    "LOG:  startup process (PID 27) was terminated by signal 6: Aborted", "LOG:  terminating any other active server processes",
    "LOG:  shutting down due to startup process failure", _UP_TO_NOW,
)  # fmt: skip
"""What is said of a directory whose write-ahead log is gone."""
