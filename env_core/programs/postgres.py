"""Postgres: one server that knows who is connected, checks passwords, and keeps its tables in its data directory.

A password counts from the moment when the directory is filled, or a role is altered: a later environment changes nothing.
What it does not do: read user and database from an initialised directory; the environment of the run counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

from env_core.programs import _postgres_data, _postgres_starting, _postgres_stopping
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._images import canonical, image_or_first
from env_core.programs._memo import per_container
from env_core.programs._model import (
    Container,
    Exit,
    Fill,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Request,
    Served,
    Signalled,
    Upstream,
)
from env_core.programs._postgres_serving import Server, rules_of, serve, stamp
from env_core.programs._postgres_starting import Build

_RELEASES: Final = {
    "18": "18.1", "17": "17.7", "16": "16.11", "16.10": "16.10", "15": "15.15", "14": "14.20", "13": "13.23", "latest": "18.1",
}  # fmt: skip
_ENTRYPOINT: Final = "docker-entrypoint.sh"
_BINARIES: Final = (
    "postgres",
    "psql",
    "pg_isready",
    "pg_dump",
    "pg_restore",
    "pg_ctl",
    "initdb",
    "gosu",
    _ENTRYPOINT,
)
_PORT: Final = 5432
_DATA: Final = "/var/lib/postgresql/data"
_INITIALISED: Final = "PostgreSQL Database directory appears to contain a database; Skipping initialization"
_INIT: Final = (
    'The files belonging to this database system will be owned by user "postgres".',
    "This user must also own the server process.",
)
"""Source: tests/golden/programs/postgres (initdb); docker-library/postgres docker-entrypoint.sh."""
_BASE_BYTES: Final = 41 << 20
"""What a new cluster takes."""
_WAL_BYTES_PER_S: Final = 12 << 20
"""How fast the write-ahead log grows under the applications' load: our choice."""
_WAL_MIN_BYTES: Final = 1 << 30
"""The default of max_wal_size. Source: https://www.postgresql.org/docs/16/runtime-config-wal.html."""
_SIZE: Final = re.compile(r"'?(\d+)\s*(kB|MB|GB|TB)?'?")
_UNITS: Final = {"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_NO_SPACE: Final = "No space left on device"
_COUNT: Final = "max_connections"
_WAL: Final = "wal_level"
_WAL_LEVELS: Final = ("minimal", "replica", "logical")
_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
_CHECK_MS: Final = 30


def _tags(*suffixes: str) -> tuple[str, ...]:
    found = [base + suffix for base in _RELEASES if base != "latest" for suffix in suffixes]
    found += [exact + suffix for exact in dict.fromkeys(_RELEASES.values()) for suffix in suffixes]
    return tuple(dict.fromkeys(found))


IMAGES: Final = (
    Image(
        repository="postgres", tags=("alpine", *_tags("-alpine")), size_bytes=112_310_402, entrypoint=(_ENTRYPOINT,),
        command=("postgres",), env={"PGDATA": _DATA}, binaries=_BINARIES, base="alpine",
    ),
    Image(
        repository="postgres", tags=("latest", *_tags("", "-bookworm")), size_bytes=157_900_118, entrypoint=(_ENTRYPOINT,),
        command=("postgres",), env={"PGDATA": _DATA}, binaries=_BINARIES, base="debian",
    ),
)  # fmt: skip


def version_of(reference: str) -> str:
    """Return the Postgres version in an image, from its tag."""
    tag = canonical(reference)[1].partition("-")[0]
    return _RELEASES.get(tag, tag if "." in tag else "18.1")


def _wal_bytes(argv: tuple[str, ...]) -> int:
    """Return how much of its write-ahead log a server keeps: what checkpoints leave, or more where it is told so."""
    for word, value in pairwise(argv):
        found = _SIZE.fullmatch(value.partition("=")[2].strip())
        if word == "-c" and value.partition("=")[0].strip() == "wal_keep_size" and found is not None:
            return max(int(found[1]) * _UNITS[found[2] or "MB"], _WAL_MIN_BYTES)
    return _WAL_MIN_BYTES


_NO_PASSWORD: Final = (
    "Error: Database is uninitialized and superuser password is not specified.",
    "       You must specify POSTGRES_PASSWORD to a non-empty value for the",
    '       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".',
    "",
    '       You may also use "POSTGRES_HOST_AUTH_METHOD=trust" to allow all',
    "       connections without a password. This is *not* recommended.",
    "",
    '       See PostgreSQL documentation about "trust":',
    "       https://www.postgresql.org/docs/current/auth-trust.html",
)


def _argument_problem(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the server says of a `-c` that it cannot use, before it knows its time zone; () if it can use all.

    Not recorded for arguments: the recorded texts are of its configuration file, where the last line is another
    (src/backend/utils/misc/guc.c reports at LOG for a file, at FATAL for an argument).
    """
    for word, setting in pairwise(argv):
        name, _, value = setting.partition("=")
        if word != "-c" or name not in (_COUNT, _WAL):
            continue
        if name == _COUNT and not _NUMBER.fullmatch(value):
            return (f'FATAL:  invalid value for parameter "{name}": "{value}"',)
        if name == _WAL and value.lower() not in _WAL_LEVELS:
            hint = f"HINT:  Available values: {', '.join(_WAL_LEVELS)}."
            return (f'FATAL:  invalid value for parameter "{name}": "{value}"', hint)
    return ()


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "postgres":
        return None
    env = container.env
    if not env.get("POSTGRES_PASSWORD") and env.get("POSTGRES_HOST_AUTH_METHOD") != "trust":
        log = tuple(Line(30, text, "stderr") for text in _NO_PASSWORD)
        return Launch(log=log, exit=Exit(after_ms=40, code=1), memory_bytes=4 << 20)
    start_ms = stretched_ms(180, container.cpu_limit_millis) + 320
    shown = stamp(container.started_ms + start_ms)
    problem = _argument_problem(argv)
    if problem:
        early = f"{stamp(container.started_ms + _CHECK_MS)[:-3]}GMT [1]"
        log = tuple(Line(_CHECK_MS, f"{early} {text}", "stderr") for text in problem)
        return Launch(log=log, exit=Exit(after_ms=_CHECK_MS + 10, code=1), memory_bytes=6 << 20)
    libc = "x86_64-pc-linux-musl" if "alpine" in container.image else "x86_64-pc-linux-gnu"
    texts = (
        f"starting PostgreSQL {version_of(container.image)} on {libc}, 64-bit",
        f'listening on IPv4 address "0.0.0.0", port {_PORT}',
        f'listening on IPv6 address "::", port {_PORT}',
        f'listening on Unix socket "/var/run/postgresql/.s.PGSQL.{_PORT}"',
        f"database system was shut down at {stamp(container.started_ms)[:-8]} UTC",
        "database system is ready to accept connections",
    )
    return Launch(
        listeners=(Listener(port=_PORT, protocol="postgres", after_ms=start_ms),),
        log=tuple(Line(start_ms, f"{shown} [1] LOG:  {text}", "stderr") for text in texts),
        memory_bytes=26 << 20,
        fills=Fill(data_directory(container), _WAL_BYTES_PER_S, _BASE_BYTES + _wal_bytes(argv)),
        cpu_millis=5,
        stop_ms=260,
        stop_code=0,
    )


def _signalled(container: Container, name: str, at_ms: int, _memory: Mapping[str, str]) -> Signalled | None:
    # The images' STOPSIGNAL is SIGINT: what a runtime stops them with.
    return signalled(container, "INT" if name == "TERM" else name, at_ms)


def signalled(container: Container, name: str, at_ms: int) -> Signalled | None:
    """Return what a signal makes a server do."""
    argv, directory = final_argv(container, "postgres"), data_directory(container)
    path = _postgres_starting.config_path(container, directory, argv)
    return _postgres_stopping.signalled(
        name, at_ms, _postgres_starting.configuration(container, directory, argv), path
    )


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


@per_container
def _server_of(container: Container) -> Server:
    return server_of(container, _official(container))


def server_of(container: Container, build: Build) -> Server:
    """Return what a container's server is while it runs."""
    directory = data_directory(container)
    settings = _postgres_starting.configuration(
        container, directory, final_argv(container, "postgres")
    ).settings
    rules = rules_of(container, directory, settings)
    return Server(directory, settings, rules, build.version, build.is_bare)


def _official(container: Container) -> Build:
    libc = "x86_64-pc-linux-musl" if "alpine" in container.image else "x86_64-pc-linux-gnu"
    return Build(f"on {libc}, 64-bit", version_of(container.image))


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return serve(_server_of(container), container, request, upstream)


def data_directory(container: Container) -> str:
    """Return where a server keeps its data."""
    return container.env.get("PGDATA") or _DATA


def _begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
    """Return a server's start by what its data directory holds: the image's entry point fills an empty one."""
    if not launch.listeners:
        return launch
    directory = data_directory(container)
    free = upstream.free_bytes(directory)
    if free is not None and free <= 0:
        return _ended(
            container, launch, (f'FATAL:  could not write lock file "postmaster.pid": {_NO_SPACE}',)
        )
    kept = upstream.stored(directory)
    version = version_of(container.image)
    if kept and kept.get("PG_VERSION", "") != version.partition(".")[0]:
        return _refused(container, launch, kept["PG_VERSION"], version)
    if kept:
        told: tuple[str, ...] = ("", _INITIALISED, "")
    else:
        env = container.env
        owner = _postgres_data.role(env.get("POSTGRES_USER") or "postgres")
        files = {"PG_VERSION": version.partition(".")[0], owner: env.get("POSTGRES_PASSWORD", "")}
        upstream.store(directory, files)
        told = (*_INIT, "", "PostgreSQL init process complete; ready for start up.", "")
    at_ms = launch.log[0].at_ms
    return replace(launch, log=(*(Line(at_ms, text) for text in told), *launch.log))


def _refused(container: Container, launch: Launch, initialised: str, version: str) -> Launch:
    """Return the end of a server that finds the files of another major version.

    Source: tests/golden/programs/postgres (postgres.version).
    """
    detail = (
        f"The data directory was initialized by PostgreSQL version {initialised}, "
        f"which is not compatible with this version {version}."
    )
    return _ended(
        container, launch, ("FATAL:  database files are incompatible with server", f"DETAIL:  {detail}")
    )


def _ended(container: Container, launch: Launch, texts: tuple[str, ...]) -> Launch:
    """Return the end of a server that cannot go on with what it finds in its data directory."""
    at_ms = launch.log[0].at_ms
    shown = stamp(container.started_ms + at_ms)
    log = (
        *(Line(at_ms, text) for text in ("", _INITIALISED, "")),
        *(Line(at_ms, f"{shown} [1] {text}", "stderr") for text in texts),
    )
    return Launch(log=log, exit=Exit(after_ms=at_ms + 10, code=1), memory_bytes=4 << 20)


def _filled(container: Container, at_ms: int) -> Signalled:
    """Return the end of a server whose write-ahead log finds no more space.

    Source: tests/golden/programs/postgres (postgres.diskfull); the last two lines are those of
    src/backend/postmaster/postmaster.c, not recorded.
    """
    shown, pid = stamp(at_ms), 40 + at_ms % 900
    texts = (
        f'[{pid}] PANIC:  could not write to file "pg_wal/xlogtemp.{pid}": {_NO_SPACE}',
        f"[1] LOG:  server process (PID {pid}) was terminated by signal 6: Aborted",
        "[1] LOG:  terminating any other active server processes",
        "[1] LOG:  all server processes terminated; reinitializing",
        f"[{pid + 1}] LOG:  database system was interrupted; last known up at {shown[:-8]} UTC",
        f"[{pid + 1}] LOG:  database system was not properly shut down; automatic recovery in progress",
        f'[{pid + 1}] FATAL:  could not write to file "pg_wal/xlogtemp.{pid + 1}": {_NO_SPACE}',
        f"[1] LOG:  startup process (PID {pid + 1}) exited with exit code 1",
        "[1] LOG:  shutting down due to startup process failure",
        "[1] LOG:  database system is shut down",
    )
    return Signalled(log=tuple(Line(at_ms, f"{shown} {text}", "stderr") for text in texts), code=1)


PROGRAM = Program(
    name="postgres",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=_begun,
    filled=_filled,
    signalled=_signalled,
    source="https://github.com/docker-library/postgres; tests/golden/programs/postgres, public-knowledge",
)
