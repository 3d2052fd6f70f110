"""Shells and file systems as the recordings had them."""

import gzip
import json
from pathlib import Path

from env_core.shell.context import FileSystem, Process
from env_core.shell.pipeline import Shell

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "programs"

RECORDED_FILES = {
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
SCRIPT = {"/tmp/w/s.sh": "#!/bin/sh\necho start\n\nfoo\n"}


class Clock:
    """A virtual clock."""

    def __init__(self, now_ms=1_700_000_000_000):
        self.now = now_ms

    def now_ms(self):
        return self.now

    def advance(self, duration_ms):
        self.now += duration_ms


def recorded_file_system(record_id):
    """Return /tmp/w as the recordings' user (uid 1000) found it."""
    files = {**RECORDED_FILES, **(SCRIPT if "script_file" in record_id else {})}
    fs = FileSystem(files)
    for name in ("dir", "ro"):
        fs.mkdir(f"/tmp/w/{name}")
    fs.mkdir("/opt")
    for name in ("badint.sh", "crlf.sh", "junk", "badelf", "syn.sh"):
        fs.chmod(f"/tmp/w/{name}", 0o755)
    fs.chmod("/tmp/w/secret", 0o600)
    fs.user = "app"
    return fs


def records(name):
    """Return the records of a golden file."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def replayed(record, flavour):
    """Return what a record's command gives here, or None when there is no such program."""
    process = Process(
        stdin=record["stdin"] or "",
        fs=recorded_file_system(record["id"]),
        env=dict(record.get("env") or {}),
        cwd="/tmp/w",
        user="app",
        flavour=flavour,
    )
    shell = Shell(process, {})
    argv = record["argv"]
    if argv[0] == "sh" and argv[1:2] == ["-c"]:
        return shell.run(argv[2])
    argv = argv[1:] if argv[0] == "/bin/busybox" else argv
    program = process.find(argv[0])
    return None if program is None else program(process, argv)


def run(line, *, stdin="", files=None, programs=None, clock=None, cwd="/tmp", flavour="gnu"):
    """Run one line as root in a fresh shell."""
    clock = clock or Clock()
    process = Process(
        stdin=stdin,
        fs=FileSystem(files or {}),
        env={"HOME": "/root", "PATH": "/usr/bin:/bin"},
        cwd=cwd,
        now_ms=clock.now_ms,
        advance=clock.advance,
        flavour=flavour,
    )
    return Shell(process, programs or {}).run(line)


def stdout(line, **options):
    """Return what a line prints; it must succeed silently."""
    output = run(line, **options)
    assert output.stderr == ""
    return output.stdout


def stored(name):
    """Return this directory's own recordings."""
    with (HERE / "data" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
