"""programs/mariadb: the server's start, its refusals and answers; mysql, mysqladmin and mariadb-install-db."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from env_core.programs import Container, Launch, Line, Program, Request, Signalled, Upstream, mariadb
from env_core.programs import Served as Answered
from env_core.programs._machine import Machine
from env_core.programs._mariadb_config import Read
from env_core.programs._mariadb_filling import fresh
from env_core.programs._mariadb_scripts import run_script
from env_core.programs._mariadb_serving import serve, touched as touched_server
from env_core.programs._mariadb_starting import Build
from env_core.programs._model import Mount
from tests.golden.comparison import Comparison, Topic
from tests.golden.program_clients import judge as judge_client
from tests.golden.recordings import Folder, Record
from tests.golden.server_records import Family, judge_of

_DATA: Final = "/var/lib/mysql"
_DEBIAN: Final = Build(
    "10.11.19-MariaDB-0+deb12u1", "5843d8475120241667a7ce0f8a1abb6c9b43a273", "0s7KZ/Vy/N9lBpb7o8o7Vdd1JRc=", "Debian 12"
)
_VOLUME: Final = "34Mi"
"""What a new directory left of the volume that fills: room for a table of 32 MiB, and not of 36."""
_FILES_MAX: Final = 20_000
"""Of the recorder's container."""
_TABLES: Final = """
create database shop;
create user app@'%' identified by 's3cret';
grant all on shop.* to app@'%';
use shop;
create table orders (id int auto_increment primary key, sku varchar(20) not null unique, qty int);
insert into orders (sku, qty) values ('A-1', 1), ('A-2', 2);
"""
"""What the recorder made before it recorded."""


@cache
def _directory() -> Mapping[str, str]:
    kept, _, problem = run_script(fresh(_DEBIAN.version, "toolbox"), _TABLES, "", Read({}), _DEBIAN.version)
    assert not problem, problem
    return kept


def _volume(record: Record) -> Mapping[str, str]:
    return {} if record["condition"]["kind"] == "not_a_data_dir" or record["argv"][0] != "mariadbd" else _directory()


def _machine(record: Record) -> Machine:
    kind = record["condition"]["kind"]
    files = re.search(r"ulimit -n (\d+)", record.get("desc") or "")
    return Machine(
        taken=frozenset({3306}) if kind == "address_in_use" else frozenset(),
        forbidden=(_DATA,) if kind == "data_dir_owner" else (), files_max=int(files[1]) if files else _FILES_MAX,
    )  # fmt: skip


def _prepared(record: Record, container: Container) -> Container:
    kind = record["condition"]["kind"]
    mounts = {_DATA: Mount("tmpfs", "tron/data")} if kind == "disk_full" else {}
    # The recorder ran its commands in the server's container as root.
    return replace(container, user=0, is_root_read_only=kind == "read_only_fs", mounts=mounts)


def _program(record: Record) -> Program:
    machine = _machine(record)

    def launch(container: Container) -> Launch:
        found = mariadb.started(container, container.argv, _DEBIAN)
        assert found is not None
        return found

    def begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
        container = replace(container, user=record.get("uid") or 0, pod="mysql-0")
        return mariadb.starts(container, launch, upstream, _DEBIAN, machine)

    def answer(container: Container, request: Request, upstream: Upstream) -> Answered:
        return serve(mariadb.server_of(container, _DEBIAN), request, upstream)

    def touched(container: Container, address: str, at_ms: int) -> tuple[Line, ...]:
        return touched_server(mariadb.server_of(container, _DEBIAN), address, at_ms)

    def signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
        return mariadb.signalled(mariadb.server_of(container, _DEBIAN), name, at_ms, memory)

    return replace(mariadb.PROGRAM, launch=launch, starts=begun, serve=answer, touched=touched, signalled=signalled)


_FAMILY: Final = Family(
    program=mariadb.PROGRAM,
    image="mariadb:10.11",
    program_of=_program,
    prepared=_prepared,
    formats={"ts": r"\d{4}-\d\d-\d\d [ \d]\d:\d\d:\d\d", "ts6": r"\d{6} [ \d]\d:\d\d:\d\d", "kernel": r"\S+"},
    volume=_volume,
    data_of=lambda _record: _DATA,
    claim_size=_VOLUME,
    measured=(
        (re.compile(r"(innodb_buffer_pool_size_max)=\d+m"), r"\1=N"),
        (re.compile(r"^\d{6} [ \d]\d:\d\d:\d\d (?=\[ERROR\])"), "T "),
        (re.compile(r"(\t10\.244\.1\.5):\d+"), r"\1:N"),
    ),
    # Threads of their own load the buffer pool: their lines come between the others' by chance.
    is_child=lambda line: "Loading buffer pool(s)" in line or "load completed" in line,
)
_RUNNING: Final = judge_of(_FAMILY)
# A server that gives up may do so before its buffer pool is loaded, or after it.
_FAILING: Final = judge_of(replace(_FAMILY, by_chance=("Buffer pool(s) load completed",)))


def _judge(record: Record, folder: Folder) -> Comparison | Iterable[Comparison]:
    if record["argv"][0] not in ("mariadbd", "mariadb-install-db"):
        return judge_client(record, folder)
    if "log" in record and record["exit"] == 0 and not record.get("stopped_by"):
        # Recorded as one that does not start, it did: the recorder stopped it in the end.
        record = {**record, "stopped_by": "SIGTERM"}
    is_failing = "log" in record and not any(entry.get("phase") for entry in record["log"])
    return (_FAILING if is_failing else _RUNNING)(record, folder)


TOPIC = Topic(
    name="programs/mariadb", files=("programs/mariadb.jsonl", "mariadb.jsonl"),
    answers=("log", "exit", "trigger", "stdout", "stderr"), judge=_judge,
)  # fmt: skip
