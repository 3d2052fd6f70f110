"""Postgres: one server that knows who is connected, checks passwords, and keeps its tables in its data directory.

A password counts from the moment when the directory is filled, or a role is altered: a later environment changes nothing.
What it does not do: read user and database from an initialised directory; the environment of the run counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from env_core.programs import _postgres_standby, _postgres_stopping
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._images import canonical, image_or_first
from env_core.programs._machine import PLAIN, Machine, is_volume_full
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
from env_core.programs._postgres_config import Told, size_bytes
from env_core.programs._postgres_filling import (
    ENTRYPOINT,
    NO_SPACE,
    Entered,
    entered,
    has_entry_point,
    initialised,
)
from env_core.programs._postgres_login import Server, rules_of, stamp
from env_core.programs._postgres_serving import serve
from env_core.programs._postgres_settings import config_path, configuration, given, whole
from env_core.programs._postgres_starting import LOST_WAL, PORT, Began, listening, refusal
from env_core.programs._postgres_talking import touched

_RELEASES: Final = {
    "18": "18.1", "17": "17.7", "16": "16.11", "16.10": "16.10", "15": "15.15", "14": "14.20", "13": "13.23", "latest": "18.1",
}  # fmt: skip
_BINARIES: Final = (
    "postgres",
    "psql",
    "pg_isready",
    "pg_dump",
    "pg_restore",
    "pg_ctl",
    "initdb",
    "gosu",
    ENTRYPOINT,
)
_DATA: Final = "/var/lib/postgresql/data"
_BASE_BYTES: Final = 41 << 20
"""What a new cluster takes."""
_WAL_BYTES_PER_S: Final = 12 << 20
"""How fast the write-ahead log grows under the applications' load: our choice."""
_WAL_MIN_BYTES: Final = 1 << 30
"""The default of max_wal_size. Source: https://www.postgresql.org/docs/16/runtime-config-wal.html."""
_CHECK_MS: Final = 30


def _tags(*suffixes: str) -> tuple[str, ...]:
    found = [base + suffix for base in _RELEASES if base != "latest" for suffix in suffixes]
    found += [exact + suffix for exact in dict.fromkeys(_RELEASES.values()) for suffix in suffixes]
    return tuple(dict.fromkeys(found))


IMAGES: Final = (
    Image(
        repository="postgres", tags=("alpine", *_tags("-alpine")), size_bytes=112_310_402, entrypoint=(ENTRYPOINT,),
        command=("postgres",), env={"PGDATA": _DATA}, binaries=_BINARIES, base="alpine",
    ),
    Image(
        repository="postgres", tags=("latest", *_tags("", "-bookworm")), size_bytes=157_900_118, entrypoint=(ENTRYPOINT,),
        command=("postgres",), env={"PGDATA": _DATA}, binaries=_BINARIES, base="debian",
    ),
)  # fmt: skip


def version_of(reference: str) -> str:
    """Return the Postgres version in an image, from its tag."""
    tag = canonical(reference)[1].partition("-")[0]
    return _RELEASES.get(tag, tag if "." in tag else "18.1")


class Build(NamedTuple):
    """What differs between builds."""

    banner: str
    """What follows the version on the first line."""
    version: str


def _official(container: Container) -> Build:
    libc = "x86_64-pc-linux-musl" if "alpine" in container.image else "x86_64-pc-linux-gnu"
    return Build(f"on {libc}, 64-bit", version_of(container.image))


def data_directory(container: Container, argv: tuple[str, ...]) -> str:
    """Return where a server keeps its data."""
    return given(argv).settings.get("data_directory") or container.env.get("PGDATA") or _DATA


def started(container: Container, argv: tuple[str, ...], build: Build | None = None) -> Launch | None:
    """Return the start of a server, or of initdb, before it looks at its data; None when an argv starts neither."""
    name = argv[0].rpartition("/")[2]
    if name == "initdb":
        return Launch(exit=Exit(after_ms=_CHECK_MS, code=0))
    if name != "postgres":
        return None
    if argv[1:2] in (("--version",), ("-V",)):
        line = Line(_CHECK_MS, f"postgres (PostgreSQL) {(build or _official(container)).version}")
        return Launch(log=(line,), exit=Exit(after_ms=_CHECK_MS, code=0))
    directory = data_directory(container, argv)
    kept_wal = configuration(container, directory, argv).settings.get("wal_keep_size", "")
    wal_bytes = max(size_bytes(kept_wal, 1 << 20), _WAL_MIN_BYTES)
    return Launch(
        listeners=(Listener(port=PORT, protocol="postgres", after_ms=_start_ms(container)),),
        memory_bytes=26 << 20,
        fills=Fill(directory, _WAL_BYTES_PER_S, _BASE_BYTES + wal_bytes),
        cpu_millis=5,
        stop_ms=260,
        stop_code=0,
    )


def _start_ms(container: Container) -> int:
    return stretched_ms(180, container.cpu_limit_millis) + 320


def begun(
    container: Container, launch: Launch, upstream: Upstream, build: Build | None = None, machine: Machine = PLAIN
) -> Launch:  # fmt: skip
    """Return a start by what the data directory holds and the surroundings allow."""
    argv = final_argv(container, "postgres")
    directory = data_directory(container, argv)
    if argv[0].rpartition("/")[2] == "initdb":
        return initialised(container, argv, directory, upstream, machine)
    if not launch.listeners:
        return launch
    build = build or _official(container)
    clock = _Clock(container.started_ms, launch.listeners[0].after_ms, launch.log)
    kept = upstream.stored(directory)
    if has_entry_point(container):
        entry = entered(container, directory, build.version, upstream)
        clock = clock.after(entry)
        if entry.refusal:
            return clock.over(Began(plain=entry.refusal, code=1))
        kept = entry.kept
    if is_volume_full(upstream, directory):
        machine = replace(machine, full=(*machine.full, directory))
    refused = refusal(container, argv, directory, kept, build.version, machine)
    if refused is not None:
        return clock.over(refused)
    settings = configuration(container, directory, argv).settings
    heard = listening(container, directory, settings, machine, upstream)
    lines = (Told(f"LOG:  starting PostgreSQL {build.version} {build.banner}"), *heard.lines)
    if heard.code is not None:
        return clock.over(heard._replace(lines=lines))
    lines = (*lines, Told(f"LOG:  database system was shut down at {stamp(container.started_ms)[:-8]} UTC"))
    if kept.get("pg_wal") == "":
        return clock.over(Began((*lines, *map(Told, LOST_WAL)), code=1))
    later: tuple[tuple[int, str], ...] = ()
    if _postgres_standby.is_standby(container, directory):
        lines = (*lines, *map(Told, _postgres_standby.begun(settings)))
        later = _postgres_standby.followed(settings, upstream)
    else:
        lines = (*lines, Told("LOG:  database system is ready to accept connections"))
    (listener,) = launch.listeners
    listener = replace(listener, port=whole(settings, "port", PORT))
    return replace(launch, listeners=(listener,), log=(*clock.log(Began(lines)), *clock.later(later)))


class _Clock(NamedTuple):
    """When the lines of a start come."""

    started_ms: int
    ready_ms: int
    said: tuple[Line, ...] = ()

    def after(self, entry: Entered) -> _Clock:
        """Return what is printed until an entry point has done its part."""
        lines = (
            *(Line(_CHECK_MS, text) for text in entry.at_once),
            *(Line(self.ready_ms, text) for text in entry.when_filled),
        )
        return self._replace(said=(*self.said, *lines))

    def log(self, began: Began) -> tuple[Line, ...]:
        """Return all that is printed; what comes before the time zone is known comes at once, in GMT."""
        shown, early = stamp(self.started_ms + self.ready_ms), stamp(self.started_ms + _CHECK_MS)[:-3] + "GMT"
        plain = (Line(_CHECK_MS, text, "stderr") for text in began.plain)
        lines = (
            Line(_CHECK_MS, f"{early} [1] {line.text}", "stderr")
            if line.is_early
            else Line(self.ready_ms, f"{shown} [1] {line.text}", "stderr")
            for line in began.lines
        )
        return (*self.said, *plain, *lines)

    def later(self, told: tuple[tuple[int, str], ...]) -> tuple[Line, ...]:
        """Return what is printed while the server runs, so long after its start; further lines of a message begin with a tab."""
        return tuple(
            Line(self.ready_ms + after_ms, text if text[0] == "\t" else f"{stamp(self.started_ms + self.ready_ms + after_ms)} [31] {text}",
                 "stderr")
            for after_ms, text in told
        )  # fmt: skip

    def over(self, began: Began) -> Launch:
        """Return a start that ends."""
        log = self.log(began)
        ending = Exit(after_ms=log[-1].at_ms + 10, code=began.code or 0)
        return Launch(log=log, exit=ending, memory_bytes=6 << 20)


def _signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
    # The images' STOPSIGNAL is SIGINT: what a runtime stops them with.
    return signalled(container, "INT" if name == "TERM" else name, at_ms, memory)


def signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
    """Return what a signal makes a server do."""
    argv = final_argv(container, "postgres")
    directory = data_directory(container, argv)
    read = configuration(container, directory, argv)
    is_standby = _postgres_standby.is_standby(container, directory)
    path = config_path(directory, argv)
    return _postgres_stopping.signalled(name, at_ms, read, path, memory, is_standby=is_standby)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), started)


@per_container
def _server_of(container: Container) -> Server:
    return server_of(container, _official(container))


def server_of(container: Container, build: Build) -> Server:
    """Return what a container's server is while it runs."""
    argv = final_argv(container, "postgres")
    directory = data_directory(container, argv)
    settings = configuration(container, directory, argv).settings
    rules = rules_of(container, directory, settings)
    is_standby = _postgres_standby.is_standby(container, directory)
    return Server(directory, settings, rules, build.version, not has_entry_point(container), is_standby)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return serve(_server_of(container), container, request, upstream)


def _touched(container: Container, address: str, at_ms: int) -> tuple[Line, ...]:
    return touched(_server_of(container), address, at_ms)


def _filled(container: Container, at_ms: int) -> Signalled:
    """Return the end of a server whose write-ahead log finds no more space.

    Source: tests/golden/programs/postgres (postgres.diskfull); the last two lines are those of
    src/backend/postmaster/postmaster.c, not recorded.
    """
    shown, pid = stamp(at_ms), 40 + at_ms % 900
    texts = (
        f'[{pid}] PANIC:  could not write to file "pg_wal/xlogtemp.{pid}": {NO_SPACE}',
        f"[1] LOG:  server process (PID {pid}) was terminated by signal 6: Aborted",
        "[1] LOG:  terminating any other active server processes",
        "[1] LOG:  all server processes terminated; reinitializing",
        f"[{pid + 1}] LOG:  database system was interrupted; last known up at {shown[:-8]} UTC",
        f"[{pid + 1}] LOG:  database system was not properly shut down; automatic recovery in progress",
        f'[{pid + 1}] FATAL:  could not write to file "pg_wal/xlogtemp.{pid + 1}": {NO_SPACE}',
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
    starts=begun,
    filled=_filled,
    signalled=_signalled,
    touched=_touched,
    source="https://github.com/docker-library/postgres; tests/golden/programs/postgres, public-knowledge",
    unrecorded="what is said of a setting on the command line (known of files), of root, of a full volume at the first start, the"
    " last two lines of a server whose write-ahead log finds no space; SQL beyond simple statements on one table (joins, groups,"
    " subqueries are refused or taken for good), roles' statements, the scale of quotients; bounds on rows, texts and work; a standby"
    " whose primary answers; the times between the lines of a crash",
)
