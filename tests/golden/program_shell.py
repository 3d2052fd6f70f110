"""Recorded shells and tools, run here: their argv in a container with the recorded files, and what they leave.

Source: shared oracle `programs/README.md`; the files are those that the records themselves show.
"""

from __future__ import annotations

from typing import Final

from env_core.shell.clients import CLIENTS
from env_core.shell.context import Process, Program
from env_core.shell.filesystem import FileSystem
from env_core.shell.pipeline import Shell
from env_core.world import Output
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison
from tests.golden.program_clients import HELP, NOT_SIMULATED
from tests.golden.program_cluster import NOW_MS, wire
from tests.golden.program_texts import answers, has_help, without_help
from tests.golden.recordings import Folder, Record

DIRECTORY: Final = "/tmp/w"
FILES: Final = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "/tmp/w/f.txt": "alpha 1\nbeta 2\ngamma 3\n",
    "/tmp/w/a.json": '{"name": "web", "replicas": 3, "tags": ["a", "b"]}\n',
    "/tmp/w/bad.json": '{"name": "web",}\n',
    "/tmp/w/a.yaml": "replicas: 3\n",
    "/tmp/w/noexec.sh": "echo\n",
    "/tmp/w/badint.sh": "#!/no/such/interpreter\n",
    "/tmp/w/crlf.sh": "#!/bin/sh\r\necho hi\r\n",
    "/tmp/w/junk": "not a script\n",
    "/tmp/w/badelf": "\x7fELF\x02\x01\x01",
    "/tmp/w/secret": "s\n",
    "/tmp/w/syn.sh": "if true; then\necho\n",
}
_LOCAL: Final = ("ip", "ifconfig", "netstat", "traceroute")
"""Programs of the recorded BusyBox that look at their own place; it has none that talk to others."""
_SCRIPT: Final = {"/tmp/w/s.sh": "#!/bin/sh\necho start\n\nfoo\n"}


def file_system(record: Record) -> FileSystem:
    """Return the files as the recordings' user (uid 1000) found them."""
    fs = FileSystem({**FILES, **(_SCRIPT if record["condition"]["kind"] == "script_file" else {})})
    for name in ("dir", "ro"):
        fs.mkdir(f"{DIRECTORY}/{name}")
    fs.mkdir("/opt")
    for name in ("badint.sh", "crlf.sh", "junk", "badelf", "syn.sh"):
        fs.chmod(f"{DIRECTORY}/{name}", 0o755)
    fs.chmod(f"{DIRECTORY}/secret", 0o600)
    fs.user = "app"
    return fs


def flavour_of(record: Record) -> str:
    """Return whose tools a record's container has."""
    return "busybox" if "busybox" in record["program"] else "gnu"


def run(record: Record) -> Output | None:
    """Run a recorded argv; None when there is no such program here."""
    flavour = flavour_of(record)
    clock = [NOW_MS]

    def advance(duration_ms: int) -> None:
        clock[0] += duration_ms

    process = Process(
        stdin=record["stdin"] or "",
        fs=file_system(record),
        env=dict(record.get("env") or {}),
        cwd=record.get("cwd") or DIRECTORY,
        now_ms=lambda: clock[0],
        advance=advance,
        user="app" if record.get("uid") else "root",
        flavour=flavour,
    )
    network = wire()
    own: dict[str, Program] = {
        name: lambda inner, argv, client=client: client(inner, argv, network)  # type: ignore[misc]
        for name, client in CLIENTS[flavour].items()
    }
    Shell(process, {name: own[name] for name in _LOCAL if name in own} if flavour == "busybox" else own)
    argv = record["argv"]
    argv = argv[1:] if argv[0].rpartition("/")[2] == "busybox" else argv
    program = process.find(argv[0])
    return None if program is None else program(process, argv)


def lacks_a_program(record: Record, output: Output) -> bool:
    """Whether a line failed here only because the recorded container had a program that ours does not have."""
    return (
        output.exit_code == 127
        and "not found" in output.stderr
        and "not found" not in (record["stderr"] or "")
        and record["exit"] != 127
    )


def judge(record: Record, _folder: Folder) -> Comparison:
    """Compare one record of a shell or a tool."""
    output = run(record)
    if output is None or lacks_a_program(record, output):
        recorded = {name: record[name] for name in ("stdout", "stderr", "exit")}
        return Comparison(recorded, NOT_IMPLEMENTED, apart=f"programs {NOT_SIMULATED}")
    is_help = has_help(record)
    wanted, got = answers(
        record, output.stdout, output.stderr, output.exit_code, without_help if is_help else None
    )
    return Comparison(wanted, got, apart=HELP if is_help else "")


