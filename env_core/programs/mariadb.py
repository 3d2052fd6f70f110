"""MariaDB, and MySQL as far as they are alike: one server that keeps its tables and accounts in its data directory.

Passwords count from the moment when the directory is filled, until an account is altered: a later environment changes nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Final

from env_core.programs import _mariadb_mysql as mysql
from env_core.programs import _mariadb_serving
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._images import canonical, image_or_first
from env_core.programs._machine import PLAIN, Machine
from env_core.programs._mariadb_begun import begun, data_directory
from env_core.programs._mariadb_config import read
from env_core.programs._mariadb_filling import ENTRYPOINT, installed
from env_core.programs._mariadb_log import Said, line, short_stamp
from env_core.programs._mariadb_serving import Server
from env_core.programs._mariadb_starting import DUMPED, Build, stopped
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

_RELEASES: Final = {
    "11.8": "11.8.2", "11.4": "11.4.7", "11": "11.8.2", "10.11": "10.11.13", "10.6": "10.6.22", "10": "10.11.13", "latest": "11.8.2",
    "lts": "11.8.2",
}  # fmt: skip
_MYSQL_RELEASES: Final = {
    "9": "9.3.0",
    "8.4": "8.4.5",
    "8.0": "8.0.42",
    "8": "8.4.5",
    "latest": "9.3.0",
    "lts": "8.4.5",
}
_PATCHES: Final = {"10.6": range(12, 23), "10.11": range(2, 14), "11.4": range(2, 8), "11.8": range(2, 3)}
_MYSQL_PATCHES: Final = {"8.0": range(30, 43), "8.4": range(6)}
_DISTRIBUTIONS: Final = {"11.8": "ubu2404", "11.4": "ubu2404", "10.11": "ubu2204", "10.6": "ubu2004"}
_SERVERS: Final = ("mariadbd", "mysqld")
_INSTALLERS: Final = ("mariadb-install-db", "mysql_install_db")
_CLIENTS: Final = ("mysql", "mysqladmin", "gosu", ENTRYPOINT)
_BASE_BYTES: Final = 124 << 20
"""What a new data directory takes: the redo log of 96 MiB, the system and temporary tablespaces of 12 MiB each, and the rest."""
_CHECK_MS: Final = 30


def _tags(releases: Mapping[str, str], patches: Mapping[str, range]) -> tuple[str, ...]:
    exact = [f"{release}.{patch}" for release, numbers in patches.items() for patch in numbers]
    return tuple(dict.fromkeys((*releases, *releases.values(), *exact)))


IMAGES: Final = (
    Image(
        repository="mariadb", tags=_tags(_RELEASES, _PATCHES), size_bytes=118_470_211, entrypoint=(ENTRYPOINT,), command=("mariadbd",),
        env={"LANG": "C.UTF-8"}, binaries=(*_SERVERS[:1], *_INSTALLERS[:1], "mariadb", "mariadb-admin", *_CLIENTS), base="debian",
    ),
    Image(
        repository="mysql", tags=_tags(_MYSQL_RELEASES, _MYSQL_PATCHES), size_bytes=232_614_872, entrypoint=(ENTRYPOINT,), command=("mysqld",),
        binaries=(*_SERVERS[1:], *_CLIENTS), base="debian",
    ),
)  # fmt: skip


def is_mysql(container: Container) -> bool:
    """Whether an image is Oracle's."""
    return canonical(container.image)[0] == "mysql"


def version_of(reference: str) -> str:
    """Return the server's version in an image, from its tag."""
    repository, tag = canonical(reference)
    releases = _MYSQL_RELEASES if repository == "mysql" else _RELEASES
    return releases.get(tag, tag if tag.count(".") == 2 else releases["latest"])


def _official(container: Container) -> Build:
    version = version_of(container.image)
    if is_mysql(container):
        return Build(version, comment=mysql.COMMENT)
    short = version.rpartition(".")[0]
    package = f"1:{version}+maria~{_DISTRIBUTIONS.get(short, 'ubu2404')}"
    uid = base64.b64encode(hashlib.sha1(container.pod_uid.encode()).digest()).decode()
    return Build(f"{version}-MariaDB-{package}", hashlib.sha1(version.encode()).hexdigest(), uid)


def started(container: Container, argv: tuple[str, ...], build: Build | None = None) -> Launch | None:
    """Return the start of a server, or of its installer, before it looks at its data; None when an argv starts neither."""
    name = argv[0].rpartition("/")[2]
    options = read(container, argv)
    directory = data_directory(options)
    if name in _INSTALLERS:
        return installed(argv, directory)
    if name not in _SERVERS:
        return None
    build = build or _official(container)
    if {"--version", "-V"}.intersection(argv[1:]):
        text = f"{name}  Ver {build.version} for debian-linux-gnu on x86_64 ({build.comment})"
        return Launch(log=(Line(_CHECK_MS, text),), exit=Exit(after_ms=_CHECK_MS, code=0))
    port = options.whole("port")
    listener = Listener(port=port, protocol="mysql", after_ms=_start_ms(container))
    return Launch(
        listeners=(listener,), memory_bytes=(420 if is_mysql(container) else 96) << 20,
        fills=Fill(directory, _BASE_BYTES, _BASE_BYTES), cpu_millis=8, stop_ms=450, stop_code=0,
    )  # fmt: skip


def _start_ms(container: Container) -> int:
    return stretched_ms(260, container.cpu_limit_millis) + 340


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), started)


def _begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
    return starts(container, launch, upstream, _official(container))


def starts(
    container: Container, launch: Launch, upstream: Upstream, build: Build, machine: Machine = PLAIN
) -> Launch:
    """Return a start by what the data directory holds and the surroundings allow."""
    if not launch.listeners:
        return launch
    return begun(container, final_argv(container, _default(container)), launch, upstream, build, machine)


def _default(container: Container) -> str:
    return "mysqld" if is_mysql(container) else "mariadbd"


@per_container
def _server_of(container: Container) -> Server:
    return server_of(container, _official(container))


def server_of(container: Container, build: Build) -> Server:
    """Return what a container's server is while it runs."""
    options = read(container, final_argv(container, _default(container)))
    return Server(
        options, data_directory(options), build.version, build.revision, build.comment, container.started_ms
    )


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return _mariadb_serving.serve(_server_of(container), request, upstream)


def _touched(container: Container, address: str, at_ms: int) -> tuple[Line, ...]:
    return () if is_mysql(container) else _mariadb_serving.touched(_server_of(container), address, at_ms)


def _signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
    return signalled(_server_of(container), name, at_ms, memory, is_mysql=is_mysql(container))


def signalled(
    server: Server, name: str, at_ms: int, memory: Mapping[str, str], *, is_mysql: bool = False
) -> Signalled | None:
    """Return what a signal makes a server do."""
    if name not in ("TERM", "QUIT", "INT"):
        # SIGHUP flushes tables and logs, and SIGUSR1 the logs: neither says anything.
        return Signalled() if name in ("HUP", "USR1") else None
    if is_mysql:
        return Signalled(
            log=tuple(mysql.line(each, at_ms, at_ms) for each in mysql.stopped(server.version)), code=0
        )
    said = stopped(server.directory, int(memory.get("questions", "0")))
    lines = tuple(
        line(Said(each.text + short_stamp(at_ms)) if each.text == DUMPED else each, at_ms, at_ms)
        for each in said
    )
    return Signalled(log=lines, code=0)


PROGRAM = Program(
    name="mariadb",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=_begun,
    signalled=_signalled,
    touched=_touched,
    source="https://github.com/MariaDB/mariadb-docker; https://github.com/docker-library/mysql; tests/golden/programs/mariadb,"
    " public-knowledge",
    unrecorded="MySQL's own log, and the texts of its server and clients but for refusals (public-knowledge); the entry points but"
    " for a missing password; the log of other versions than 10.11.19, and their revisions; what is said of a missing or full data"
    " directory, of an address that is not the pod's, of options without a value, of too many connections, of clients that break"
    " off; crash recovery; SQL beyond simple statements on one table (joins with ON, groups, subqueries, ALTER TABLE, indexes are"
    " refused), locks of rows that do not match, privileges on tables and columns, replication, TLS; boxes of results; bounds on"
    " rows, texts and work; the numbers of connections over which nothing comes",
)
