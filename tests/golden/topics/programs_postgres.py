"""programs/postgres: the server's start, its refusals and answers; psql, pg_isready, pg_dump and initdb."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from env_core.programs import Container, Launch, Program, Request, Upstream, postgres
from env_core.programs import Served as Answered
from env_core.programs._disks import place_of
from env_core.programs._machine import Machine
from env_core.programs._model import Line, Mount
from env_core.programs._postgres_data import Actor, execute
from env_core.programs._postgres_parser import parsed
from env_core.programs._postgres_serving import serve
from env_core.programs._postgres_tables import table_of, with_table
from env_core.programs._postgres_talking import touched as touched_server
from tests.golden.comparison import Comparison, Topic
from tests.golden.program_clients import judge as judge_client
from tests.golden.recordings import Folder, Record
from tests.golden.server_records import Family, Served, judge_of

_DATA: Final = "/var/lib/postgresql/data"
_DEBIAN: Final = postgres.Build(
    "on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit", "15.18 (Debian 15.18-0+deb12u1)"
)
_SAMPLE: Final = "#\n" * 816
"""As many lines as the recorder's configuration had before what a record appends."""
_HBA: Final = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost all all all scram-sha-256\n"
_TABLES: Final = (
    ("app", "create table orders (id serial primary key, sku text not null, qty int check (qty > 0))"),
    ("app", "create unique index orders_sku on orders (sku)"),
    ("app", "insert into orders (sku, qty) values ('A-1', 1), ('A-2', 2), ('A-3', 3), ('A-4', 4), ('A-5', 5)"),
    ("postgres", "create table secret (a int)"),
    ("postgres", "alter role ro connection limit 1"),
)
"""What the recorder made before it recorded, and as whom."""


@cache
def _cluster() -> Mapping[str, str]:
    kept: Mapping[str, str] = {
        "PG_VERSION": "15", "role app": "s3cret", "role postgres": "s3cret", "role ro": "s3cret", "database shop": "app",
        "next oid": "16387",
    }  # fmt: skip
    for user, text in _TABLES:
        (statement,), problem = parsed(text)
        assert problem is None
        told = execute(statement, kept, Actor(user))
        assert told is not None
        assert told.rows is not None
        kept = told.rows
    return kept


_CHANGES: Final[dict[str, Mapping[str, str]]] = {
    "PG_VERSION 14": {"PG_VERSION": "14"},
    "PG_VERSION 17": {"PG_VERSION": "17"},
    "group/other permission bits": {"mode": "0777"},
    "pg_wal emptied: no checkpoint record": {"pg_wal": ""},
    "pg_control zeroed": {"global/pg_control": "\0" * 8192},
}
"""What records say in prose of the data directory."""


def _machine(record: Record) -> Machine:
    kind = record["condition"]["kind"]
    files = re.search(r"ulimit -n (\d+)", record.get("desc") or "")
    return Machine(
        taken=frozenset({5432}) if kind == "address_in_use" else frozenset(),
        forbidden=(_data(record),) if kind in ("data_dir_owner", "permission_denied") else (), missing=(_DATA,) if kind == "data_dir_missing" else (),
        files_max=int(files[1]) if files else 0,
    )  # fmt: skip


def _volume(record: Record) -> Mapping[str, str]:
    kind = record["condition"]["kind"]
    if kind in ("not_a_data_dir", "data_dir_unset", "root", "permission_denied"):
        return {}
    if kind == "mount_point_with_lost+found":
        return {"lost+found": ""}
    return {**_cluster(), **_CHANGES.get(record.get("desc") or "", {})}


def _data(record: Record) -> str:
    argv = record["argv"]
    return argv[argv.index("-D") + 1] if "-D" in argv else _DATA


def _prepared(record: Record, container: Container) -> Container:
    config = record.get("config") or {}
    files = {
        f"{_DATA}/postgresql.conf": _SAMPLE + config.get("postgresql.conf (appended)", ""),
        f"{_DATA}/pg_hba.conf": config.get("pg_hba.conf", _HBA),
    }
    kind = record["condition"]["kind"]
    if kind in ("replica", "starting_up"):
        files[f"{_DATA}/standby.signal"] = ""
    mounts = {_DATA: Mount("tmpfs", "tron/data")} if kind == "disk_full" else {}
    env = {**container.env, "PGDATA": "/" if record["condition"]["kind"] == "data_dir_unset" else _DATA}
    is_read_only = record["condition"]["kind"] == "read_only_fs"
    # The recorder ran its commands in the server's container as root.
    return replace(container, files=files, env=env, user=0, is_root_read_only=is_read_only, mounts=mounts)


def _program(record: Record) -> Program:
    machine = _machine(record)

    def unprivileged(container: Container) -> Container:
        return replace(container, user=record.get("uid") or 0)

    def launch(container: Container) -> Launch:
        found = postgres.started(container, container.argv, _DEBIAN)
        assert found is not None
        return found

    def begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
        return postgres.begun(unprivileged(container), launch, upstream, _DEBIAN, machine)

    def answer(container: Container, request: Request, upstream: Upstream) -> Answered:
        return serve(postgres.server_of(container, _DEBIAN), container, request, upstream)

    def touched(container: Container, address: str, at_ms: int) -> tuple[Line, ...]:
        return touched_server(postgres.server_of(container, _DEBIAN), address, at_ms)

    return replace(
        postgres.PROGRAM, launch=launch, starts=begun, serve=answer, signalled=postgres.signalled, touched=touched
    )  # fmt: skip


def _act(served: Served, action: str) -> bool:
    lost = re.fullmatch(r"remove the file of table (\w+)", action)
    if lost is not None:
        disks, place = served.world.runtime.disks, place_of(served.run.container, _DATA)
        table = table_of(disks.read(place), lost[1])
        assert table is not None
        disks.write(place, with_table(disks.read(place), table._replace(is_lost=True)))
        return True
    lines = re.findall(r'"([^"]+)"', action)
    if not action.startswith("append") or "postgresql.conf" not in action:
        return False
    run = served.run
    path = f"{_DATA}/postgresql.conf"
    files = {**run.container.files, path: run.container.files[path] + "".join(f"{line}\n" for line in lines)}
    served.world.runtime.put(replace(run, container=replace(run.container, files=files)))
    return True


_VOLUME: Final = "160Mi"
"""Of the volume that fills: less than a table of 100 MB and its log need."""


def _pauses(record: Record) -> Mapping[int, int]:
    """Return how long the recorder waited: for a text that did not come, for a crashed server, and for open sessions."""
    if record.get("recorder_note") == "ready text not seen in time":
        return {-1: 25_500}
    kind = record["condition"]["kind"]
    return {2: 200} if kind == "disk_full" else {3: 100} if kind == "shutting_down" else {}


def _before(served: Served) -> None:
    """Open the session that was there before the first trigger, as its end says."""
    if served.record["condition"]["kind"] == "shutting_down":
        asked = 'PGPASSWORD=s3cret psql -h postgres.tron.svc.cluster.local -U app -d shop -c "select pg_sleep(8)"'
        served.begin(f"({asked} > /tmp/o 2>&1; echo rc=$? >> /tmp/o) &")
        served.wait(500)


FAMILY: Final = Family(
    program=postgres.PROGRAM,
    image="postgres:15",
    program_of=_program,
    prepared=_prepared,
    formats={
        "ts": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC", "ts0": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC",
        "tsg": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} GMT",
    },  # fmt: skip
    volume=_volume,
    data_of=_data,
    act=_act,
    claim_size=_VOLUME,
    pauses=_pauses,
    before=_before,
    measured=(
        (re.compile(r"(GMT|\{tsg\}) \[\d+\]"), r"\1 [N]"),
        (re.compile(r"(Process|process|lock:|transaction|xlogtemp\.) ?(?:\d+|\{pid\}|\{xid\})"), r"\1 N"),
    ),
)
_JUDGE: Final = judge_of(FAMILY)
_SERVERS: Final = ("postgres", "initdb")


def _judge(record: Record, folder: Folder) -> Comparison | Iterable[Comparison]:
    return _JUDGE(record, folder) if record["argv"][0] in _SERVERS else judge_client(record, folder)


TOPIC = Topic(
    name="programs/postgres", files=("programs/postgres.jsonl", "postgres.jsonl"),
    answers=("log", "exit", "trigger", "stdout", "stderr"), judge=_judge,
)  # fmt: skip
