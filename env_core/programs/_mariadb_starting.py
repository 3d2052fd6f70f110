"""What a MariaDB server says when it starts and stops, and why it does not start.

Source: MariaDB/server sql/mysqld.cc, storage/innobase/srv/srv0start.cc; tests/golden/programs/mariadb (mariadb.ok, mariadb.perm,
mariadb.emptydir, mariadb.root, mariadb.readonly, mariadb.inuse, mariadb.opt.*, mariadb.nofile).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs._machine import NOT_LOCAL, Machine, bind_problem, is_directory, is_full
from env_core.programs._mariadb_config import Read
from env_core.programs._mariadb_filling import has_entry_point
from env_core.programs._mariadb_log import ERROR, NOTE, WARNING, Said
from env_core.programs._mariadb_users import hosts_to_resolve
from env_core.programs._model import Container

DATA: Final = "/var/lib/mysql"
SOCKET: Final = "/run/mysqld/mysqld.sock"
_OPEN_FILES_MIN: Final = 300
"""The least value of innodb_open_files that the server sets itself."""
_EXTRA_FILES: Final = 32
_TABLE_CACHE: Final = 2 * 2000 * 8
"""Two files for each table of each instance of the table cache."""
FIRST_LSN: Final = 49_697
FIRST_TRANSACTION: Final = 24
_ABORTING: Final = Said("Aborting", ERROR)
_PLACES: Final = ("/run/mysqld", "/var/run/mysqld", "/tmp", "/var/lib/mysql", "/var/tmp")
"""Directories for sockets that images have."""


class Build(NamedTuple):
    """What differs between builds."""

    version: str
    revision: str = ""
    server_uid: str = ""
    comment: str = "mariadb.org binary distribution"


class Began(NamedTuple):
    """What a start says; with a code it is over."""

    said: tuple[Said, ...]
    code: int | None = None


class Start(NamedTuple):
    """All that decides a start."""

    container: Container
    read: Read
    directory: str
    kept: Mapping[str, str]
    build: Build
    machine: Machine
    user: int
    """Who runs the server: an entry point gives up being root."""
    has_volume: bool


def began(start: Start) -> Began:
    """Return what a server says until it takes connections, or gives up."""
    read = start.read
    if read.early is not None:
        return Began(tuple(Said(text, ERROR) for text in read.early.texts), read.early.code)
    said = list(_files(start))
    if not start.user and not read.settings.get("user"):
        said += [
            Said(
                "mariadbd: Please consult the MariaDB Documentation to find out how to run mariadbd as root!",
                "",
            ),
            _ABORTING,
        ]
        return Began(tuple(said), 1)
    problem = data_problem(start)
    if problem and "28" not in problem[:2]:
        path = f"{start.directory}/{start.container.pod}.lower-test"
        said.append(Said(f"Can't create test file '{path}' (Errcode: {problem})", WARNING))
    if _is_missing(start):
        return Began(
            (
                *said,
                Said(f"mariadbd: Can't change dir to '{start.directory}/' (Errcode: {problem})", ERROR),
                _ABORTING,
            ),
            1,
        )
    build = start.build
    said.append(
        Said(
            f"Starting MariaDB {build.version} source revision {build.revision} server_uid {build.server_uid} as process 1"
        )
    )
    files_max = start.machine.files_max
    if files_max and files_max < _OPEN_FILES_MIN:
        text = f"InnoDB: innodb_open_files {_OPEN_FILES_MIN} should not be greater than the open_files_limit {files_max}"
        said.append(Said(text, WARNING))
    if problem:
        said += [
            Said(f"mariadbd: Can't create/write to file './ddl_recovery.log' (Errcode: {problem})", ERROR),
            Said("DDL_LOG: Failed to create ddl log file: ./ddl_recovery.log", ERROR), _ABORTING,
        ]  # fmt: skip
        return Began(tuple(said), 1)
    is_empty = not start.kept
    said += [Said(text) for text in _innodb(read, is_empty=is_empty)]
    if is_empty:
        return Began((*said, *_without_tables(read)), 1)
    if read.late is not None:
        return Began((*said, *(Said(text, ERROR) for text in read.late.texts), _ABORTING), read.late.code)
    said += [
        Said(f"'{name}' is MySQL 5.6 / 5.7 compatible option. To be implemented in later versions.", WARNING)
        for name in read.idle
    ]
    heard = listening(start)
    said += heard.said
    return Began(tuple(said), heard.code) if heard.code is not None else Began((*said, *_ready(start)))


def _files(start: Start) -> tuple[Said, ...]:
    wanted = max(
        _TABLE_CACHE + start.read.whole("max_connections") + 1 + _EXTRA_FILES,
        start.read.whole("open_files_limit"),
    )
    has_less = 0 < start.machine.files_max < wanted
    text = f"Could not increase number of max_open_files to more than {start.machine.files_max} (request: {wanted})"
    return (Said(text, WARNING),) if has_less else ()


def data_problem(start: Start) -> str:
    """Return why nothing can be written to the data directory, "" when it can."""
    if _is_missing(start):
        return '2 "No such file or directory"'
    if start.directory in start.machine.forbidden:
        return '13 "Permission denied"'
    is_read_only = start.container.is_root_read_only and not start.has_volume
    if is_read_only or start.directory in start.machine.read_only:
        return '30 "Read-only file system"'
    return '28 "No space left on device"' if is_full(start.machine, start.directory) else ""


def _is_missing(start: Start) -> bool:
    """Whether there is no data directory: neither the image nor a volume brings it."""
    directory = start.directory
    is_brought = directory == DATA or start.has_volume or bool(start.kept) or has_entry_point(start.container)
    return directory in start.machine.missing or not (is_brought or is_directory(start.container, directory))


def _innodb(read: Read, *, is_empty: bool) -> tuple[str, ...]:
    pool = read.whole("innodb_buffer_pool_size") >> 20
    temporary = _sized("./ibtmp1")
    first = (
        ("InnoDB: The first data file './ibdata1' did not exist. A new tablespace will be created!",)
        if is_empty
        else ()
    )
    files = _sized("./ibdata1") if is_empty else ()
    log = (
        ("InnoDB: Doublewrite buffer not found: creating new", "InnoDB: Doublewrite buffer created")
        if is_empty
        else (f"InnoDB: End of log at LSN={FIRST_LSN}",)
    )
    end = (
        "InnoDB: log sequence number 0; transaction id 3"
        if is_empty
        else f"InnoDB: log sequence number {FIRST_LSN}; transaction id {FIRST_TRANSACTION}"
    )
    loading = () if is_empty else ("InnoDB: Loading buffer pool(s) from /var/lib/mysql/ib_buffer_pool",)
    return (
        *first, "InnoDB: Compressed tables use zlib 1.2.13", "InnoDB: Number of transaction pools: 1",
        "InnoDB: Using AVX512 instructions", "InnoDB: Using io_uring",
        f"InnoDB: innodb_buffer_pool_size_max=8388608m, innodb_buffer_pool_size={pool}m",
        "InnoDB: Completed initialization of buffer pool", *files, "InnoDB: Buffered log writes (block size=512 bytes)", *log,
        "InnoDB: 128 rollback segments are active.", *temporary, end, "Plugin 'FEEDBACK' is disabled.", *loading,
    )  # fmt: skip


def _sized(file: str) -> tuple[str, str]:
    return (
        f"InnoDB: Setting file '{file}' size to 12.000MiB. Physically writing the file full; Please wait ...",
        f"InnoDB: File '{file}' size is now 12.000MiB.",
    )


def _without_tables(read: Read) -> tuple[Said, ...]:
    return (
        Said(
            "Could not open mysql.plugin table: \"Table 'mysql.plugin' doesn't exist\". Some plugins may be not loaded",
            ERROR,
        ),
        Said("Can't open and lock privilege tables: Table 'mysql.servers' doesn't exist", WARNING),
        Said(_socket_created(read)),
        Said("Fatal error: Can't open and lock privilege tables: Table 'mysql.db' doesn't exist", ERROR),
        _ABORTING,
    )


def _socket_created(read: Read) -> str:
    address = read.settings.get("bind_address", "0.0.0.0")
    return f"Server socket created on IP: '{'0.0.0.0' if address == '*' else address}', port: '{read.get('port')}'."


def listening(start: Start) -> Began:
    """Return what a server says of its sockets, and whether that ends it."""
    read = start.read
    said = [] if read.is_on("skip_networking") else [Said(_socket_created(read))]
    port = read.get("port")
    if said and read.whole("port") in start.machine.taken:
        said += [
            Said("Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use", ERROR),
            Said(f"Do you already have another server running on port: {port} ?", ERROR), _ABORTING,
        ]  # fmt: skip
        return Began(tuple(said), 1)
    address = read.settings.get("bind_address", "0.0.0.0")
    if (
        said
        and bind_problem(start.container, start.machine, "" if address in ("*", "::1") else address, 1)
        == NOT_LOCAL
    ):
        said += [
            Said("Can't start server: Bind on TCP/IP port. Got error: 99: Cannot assign requested address", ERROR),
            Said(f"Do you already have another server running on port: {port} ?", ERROR), _ABORTING,
        ]  # fmt: skip
        return Began(tuple(said), 1)
    path = read.get("socket")
    parent = path.rpartition("/")[0] or "/"
    is_there = (
        not path.startswith("/")
        or parent in _PLACES
        or parent == start.directory
        or is_directory(start.container, parent)
    )
    if not is_there:
        said += [
            Said("Can't start server : Bind on unix socket: No such file or directory", ERROR),
            Said(f"Do you already have another server running on socket: {path} ?", ERROR), _ABORTING,
        ]  # fmt: skip
        return Began(tuple(said), 1)
    return Began(tuple(said))


LOADED: Final = "InnoDB: Buffer pool(s) load completed at "


def _ready(start: Start) -> tuple[Said, ...]:
    read, build = start.read, start.build
    ignored = [
        Said(f"'{table}' entry '{entry}' ignored in --skip-name-resolve mode.", WARNING)
        for table, entry in hosts_to_resolve(start.kept)
    ]
    port = "0" if read.is_on("skip_networking") else read.get("port")
    is_wordy = read.whole("log_warnings") > 2
    replicas = (
        Said("Reading of all Master_info entries succeeded"),
        Said("Added new Master_info '' to hash table"),
    )
    return (
        *ignored, Said(LOADED), *(replicas if is_wordy else ()), Said("mariadbd: ready for connections."),
        Said(f"Version: '{build.version}'  socket: '{read.get('socket')}'  port: {port}  {build.comment}", ""),
        *((Said("Using PAUSE multiplier 100"),) if is_wordy else ()),
    )  # fmt: skip


DUMPED: Final = "InnoDB: Buffer pool(s) dump completed at "


def stopped(directory: str, questions: int) -> tuple[Said, ...]:
    """Return what a server says when it ends in order; `questions` stand for what it has written."""
    texts = (
        "mariadbd (initiated by: unknown): Normal shutdown", "InnoDB: FTS optimize thread exiting.", "InnoDB: Starting shutdown...",
        f"InnoDB: Dumping buffer pool(s) to {directory}/ib_buffer_pool", DUMPED,
        'InnoDB: Removed temporary tablespace data file: "./ibtmp1"',
        f"Shutdown completed; log sequence number {FIRST_LSN + 304 + 16 * questions}; transaction id {FIRST_TRANSACTION + 1 + questions}",
        "mariadbd: Shutdown complete",
    )  # fmt: skip
    return tuple(Said(text, NOTE) for text in texts)
