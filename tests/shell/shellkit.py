"""Fresh shells for tests."""

import json
from pathlib import Path

from env_core.shell.context import FileSystem, Process
from env_core.shell.pipeline import Shell

HERE = Path(__file__).parent


class Clock:
    """A virtual clock."""

    def __init__(self, now_ms=1_700_000_000_000):
        self.now = now_ms

    def now_ms(self):
        return self.now

    def advance(self, duration_ms):
        self.now += duration_ms


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
