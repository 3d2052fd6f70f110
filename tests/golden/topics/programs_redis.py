"""programs/redis: redis-server's logs, replies and refusals; redis-cli."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from env_core.programs import Container, Launch, Program, Request, Upstream, redis
from env_core.programs import Served as Answered
from env_core.programs._machine import Machine
from env_core.programs._model import Mount, Signalled
from env_core.programs._redis_serving import serve
from tests.golden.comparison import Comparison, Topic
from tests.golden.program_clients import judge as judge_client
from tests.golden.recordings import Folder, Record
from tests.golden.server_records import Family, judge_of

_TMPFS: Final = "128Ki"
"""The size of the volume that fills."""
_VERSION_AUX: Final = "REDIS0010\xfa\x09redis-ver\x067.0.15"
_MANIFEST: Final = "appendonlydir/appendonly.aof.manifest"
_INCR: Final = "appendonlydir/appendonly.aof.1.incr.aof"
_ONE_FILE: Final = "file appendonly.aof.1.incr.aof seq 1 type i\n"
_SET: Final = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\n1\r\n"
_VOLUMES: Final[dict[str, Mapping[str, str]]] = {
    "start over an existing dump.rdb": {"0 k": "sv", "0 n": "s1", "0 l": '["a"]'},
    "AOF loaded at start": {"0 a": "s1", "aof": "2 1 0"},
    "not an RDB version": {"dump.rdb": "REDIS0000\xfa"},
    "wrong signature": {"dump.rdb": "this is no dump"},
    "truncated": {"dump.rdb": f"{_VERSION_AUX}\xfe\x00\xfb\x01\x00\x00\x01a"},
    "dump written by a newer Redis": {"dump.rdb": "REDIS0012\xfa"},
    "zero-byte dump.rdb": {"dump.rdb": ""},
    "bad file format": {_MANIFEST: _ONE_FILE, _INCR: "garbage\n"},
    "aof-load-truncated yes: loads anyway": {
        _MANIFEST: _ONE_FILE,
        _INCR: f"{_SET}*3\r\n$3\r\nset\r\n$1\r\nb",
    },
    "aof-load-truncated no: exits": {_MANIFEST: _ONE_FILE, _INCR: f"{_SET}*3\r\n$3\r\nset\r\n$1\r\nb"},
    "manifest names a missing file": {_MANIFEST: _ONE_FILE},
    "LOADING while the dump is read": {f"0 key{number}": "sx" for number in range(20_000)},
}
"""What records say in prose of the data directory at first."""
_PAUSES: Final = {
    "background save by save point": {0: 1_500},
    "data directory owned by root, server runs as uid 998": {0: 8_000, 2: 1_000},
    "RDB snapshot fails: read-only file system": {0: 8_000, 7: 1_500},
    "RDB snapshot: No space left on device": {0: 7_200},
    "master unreachable (dropped): time-out": {-1: 5_000},
    "READONLY; master link down": {2: 1_500},
}
"""Waits in milliseconds that show in the logs: of snapshots, which are tried again after six seconds, and of links."""
_MEASURED: Final = (
    "server_time_usec|lru_clock|uptime_in_seconds|used_[a-z_]+|allocator_[a-z_]+|total_system_memory[a-z_]*|rss_[a-z_]+"
    "|mem_fragmentation_[a-z]+|run_id|master_replid|executable|total_net_input_bytes"
)


def _machine(record: Record) -> Machine:
    files = re.search(r"ulimit -n (\d+)", record.get("desc") or "")
    kind = record["condition"]["kind"]
    is_forbidden = bool(record.get("uid")) and kind in ("misconf_rdb", "permission_denied")
    return Machine(
        files_max=int(files[1]) if files else 0, forbidden=("/data",) if is_forbidden else (),
        full=("/data",) if kind == "disk_full" else (),
    )  # fmt: skip


def _program(record: Record) -> Program:
    machine = _machine(record)

    def launch(container: Container) -> Launch:
        found = redis.started(container, container.argv, machine)
        assert found is not None
        return found

    def begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
        return (
            redis.begun(redis.server_of(container, machine), container, launch, upstream)
            if launch.listeners
            else launch
        )

    def answer(container: Container, request: Request, upstream: Upstream) -> Answered:
        return serve(redis.server_of(container, machine), container, request, upstream, redis.stamp)

    def signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
        return redis.signalled(redis.server_of(container, machine), container, name, at_ms, memory)

    return replace(redis.PROGRAM, launch=launch, starts=begun, serve=answer, signalled=signalled)


def _prepared(record: Record, container: Container) -> Container:
    is_read_only = record["condition"]["kind"] == "read_only_fs" or "read-only file system" in (
        record.get("desc") or ""
    )
    mounts = {"/data": Mount("tmpfs", "tron/data")} if record["condition"]["kind"] == "disk_full" else {}
    return replace(container, is_root_read_only=is_read_only, mounts=mounts)


def _volume(record: Record) -> Mapping[str, str]:
    if record["condition"]["kind"] == "aof_manifest_bad":
        return {_MANIFEST: "nonsense\n"}
    return _VOLUMES.get(record.get("desc") or "", {})


FAMILY: Final = Family(
    program=redis.PROGRAM,
    image="redis:7.0",
    program_of=_program,
    prepared=_prepared,
    formats={"ts": r"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}"},
    volume=_volume,
    claim_size=_TMPFS,
    pauses=lambda record: _PAUSES.get(record.get("desc") or "", {}),
    measured=(
        (re.compile(rf"^({_MEASURED}):[^\r\n]*", re.MULTILINE), r"\1:N"),
        (re.compile(r"(redis_build_id:)\w+"), r"\1N"),
        (re.compile(r"\bid=\d+ (addr=[\d.]+):(?:\d+|\{port\})"), r"id=N \1:N"),
    ),
    is_unordered=lambda command: " keys " in command or "--scan" in command,
    is_child=lambda line: bool(
        re.match(
            r"(?:\{pid\}|\d+):C .*(?:DB saved on disk|Fork CoW|Failed opening|Write error|temporary AOF)",
            line,
        )
    ),
)
_JUDGE: Final = judge_of(FAMILY)


def _judge(record: Record, folder: Folder) -> Comparison | Iterable[Comparison]:
    return _JUDGE(record, folder) if "log" in record else judge_client(record, folder)


TOPIC = Topic(
    name="programs/redis", files=("programs/redis.jsonl", "redis.jsonl"), answers=("log", "exit", "trigger", "stdout", "stderr"),
    judge=_judge,
)  # fmt: skip
