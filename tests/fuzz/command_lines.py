"""`python -m tests.fuzz.command_lines --count 50000`: random lines, each on a fresh fork; none may break anything.

Lines are drawn from the grammar that the verbs declare (every verb, every flag, values that fit and values that do
not), from tools in a pipeline, and from damage done to both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from env_core.episode import Episode, InvalidInput
from env_core.kubectl.command import root
from env_core.kubectl.parser import GLOBAL_FLAGS
from env_core.kubectl.verb import Flag, Verb
from env_core.shell._registry import builtins

CPU_S_MAX = 1.0
TASKS = ("easy", "medium", "hard")
RESOURCES = (
    "pods", "pod", "po", "deploy", "deployments.apps", "deployment.v1.apps", "svc", "ep", "endpointslices", "cm", "secret",
    "ing", "netpol", "sa", "role", "clusterrole", "rolebinding", "nodes", "no", "ns", "events", "ev", "rs", "pdb", "pvc", "pv",
    "quota", "limits", "lease", "hpa", "cronjob", "job", "sts", "ds", "crd", "all", "sc", "pc", "csr", "nonsense", "",
)  # fmt: skip
NAMES = (
    "nginx", "redis", "web", "app-config", "tron", "default", "node-0", "kube-dns", "no-such", "UPPER", "a" * 260, "a.b.c", "-", "*",
    "é", "", "nginx-*", "pod/x", "../..", "0",
)  # fmt: skip
RIGHT = (
    "",
    "pods",
    "deploy/nginx",
    "deploy nginx",
    "svc redis",
    "cm/app-config",
    "nodes",
    "ns/tron",
    "deploy,svc",
    "deploy/redis -- env",
)
VALUES = (
    "", "0", "1", "-1", "9" * 30, "1e9", "true", "false", "nonsense", "tron", "a=b", "a=", "=b", "a!=b", "a in (b,c)", "a,b", "!a",
    "json", "yaml", "wide", "name", "kyaml", "jsonpath={.items[*].metadata.name}", "jsonpath={", "jsonpath={..}", "jsonpath={.a[}",
    "go-template={{.}}", "go-template={{range .items}}{{.metadata.name}}{{end}}", "go-template={{", "custom-columns=A:.metadata.name",
    "custom-columns=", "{.metadata.name}", "5s", "-5s", "1h30m", "99999h", "server", "client", "none", "strategic", "merge", "json",
    '{"spec":{"replicas":2}}', '[{"op":"remove","path":"/spec"}]', '{"spec":', "[", "null", "50%", "-", "/dev/null", "/tmp/x", "https://x/y",
    "metadata.name=nginx", "status.phase!=Running", "spec.nodeName=", "cpu=100m,memory=64Mi", "cpu=-1", "Always", "NoSchedule",
    "key=value:NoSchedule", "key:NoExecute-", "background", "foreground", "orphan", "2026-01-01T00:00:00Z", "%s%n", "\\", "'", "é😀",
)  # fmt: skip
DAMAGE = (
    "'", '"', "`", "$(", ")", "${", "|", "||", "&&", ";", "&", "<", ">", "<<EOF", "\\", "*", "[", "{", "#", "!", "--", "-", "=", "\t", "\n", "\u2028",
)  # fmt: skip
MANIFESTS = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: q, namespace: tron}\ndata: {a: b}",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: q}\nspec: {replicas: x}",
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: q-}\nspec: {containers: [{name: a, image: nginx}]}",
    "apiVersion: v1\nkind: List\nitems: [1, null, {kind: Pod}]",
    '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"q"}}',
    "a: [",
    "---\n---\n",
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A line that did harm to the simulator."""

    line: str
    what: str


def verbs(verb: Verb, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Yield every verb and sub-verb with its words."""
    for name, each in sorted(verb.subverbs.items()):
        yield (*path, name), each
        yield from verbs(each, (*path, name))


def quoted(random_: random.Random, word: str) -> str:
    """Return a word as a shell takes it; now and then as it is, for the shell to stumble over."""
    if word.isalnum() or random_.random() < 0.03:
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _flag(random_: random.Random, flag: Flag) -> list[str]:
    name = f"--{flag.name}" if not flag.shorthand or random_.random() < 0.7 else f"-{flag.shorthand}"
    if random_.random() < 0.05:
        name = name[:-1]
    if flag.type is bool and random_.random() < 0.8:
        return [name]
    value = random_.choice((*VALUES, *NAMES))
    return [f"{name}={value}"] if random_.random() < 0.5 else [name, value]


def kubectl_line(random_: random.Random, known: list[tuple[tuple[str, ...], Verb]]) -> str:
    """Return one kubectl command."""
    path, verb = random_.choice(known)
    words = list(path)
    if random_.random() < 0.3:
        # Near enough to what somebody would type, so that some lines get as far as doing something.
        plain = f"kubectl -n tron {' '.join(path)} {random_.choice(RIGHT)}"
        flag = random_.choice(verb.flags or GLOBAL_FLAGS)
        return " ".join(
            [plain, *(quoted(random_, word) for word in _flag(random_, flag))][: random_.choice((1, 1, 9))]
        )
    for _ in range(random_.choice((0, 1, 1, 2, 2, 3, 5))):
        kind = random_.randrange(5)
        if kind == 0:
            words.append(random_.choice(RESOURCES))
        elif kind == 1:
            words.append(f"{random_.choice(RESOURCES)}/{random_.choice(NAMES)}")
        elif kind == 2:
            words += [random_.choice(RESOURCES), random_.choice(NAMES)]
        elif kind == 3:
            words.append(random_.choice(VALUES))
        else:
            words.append(random_.choice(NAMES))
    for _ in range(random_.choice((0, 0, 1, 1, 2, 4))):
        flags = verb.flags if verb.flags and random_.random() < 0.8 else GLOBAL_FLAGS
        at = random_.randrange(len(path), len(words) + 1)
        words[at:at] = _flag(random_, random_.choice(flags))
    if random_.random() < 0.1:
        words += [
            "--",
            *random_.choices(("sh", "-c", "env", "cat /etc/hosts", "ls", "kill 1", "sleep 1"), k=2),
        ]
    line = " ".join(["kubectl", "-n tron", *(quoted(random_, word) for word in words)])
    if random_.random() < 0.1:
        line += f" -f - <<'EOF'\n{random_.choice(MANIFESTS)}\nEOF"
    return line


def piped(random_: random.Random, line: str, tools: list[str]) -> str:
    """Return a line with tools behind it."""
    for _ in range(random_.choice((1, 1, 2, 3))):
        words = [random_.choice(tools)]
        words += random_.choices(
            ("-n", "-r", "-e", "-c", "-f", "1", "2", ".", ".items", "s/a/b/", "{print $1}", *VALUES),
            k=random_.randrange(4),
        )
        line += f" {random_.choice(('|', '|', ';', '&&', '||', '2>&1 |'))} " + " ".join(
            quoted(random_, word) for word in words
        )
    return line


def damaged(random_: random.Random, line: str) -> str:
    """Return a line with something cut out or put in."""
    for _ in range(random_.choice((1, 1, 2, 4))):
        place = random_.randrange(len(line) + 1)
        line = (
            line[:place]
            + (random_.choice(DAMAGE) if random_.random() < 0.6 else "")
            + line[place + random_.randrange(4) :]
        )
    return line


def lines(seed: int) -> Iterator[str]:
    """Yield lines without end; the same for the same seed."""
    random_ = random.Random(seed)

    known = list(verbs(root()))
    tools = sorted(builtins())
    while True:
        line = kubectl_line(random_, known)
        if random_.random() < 0.25:
            line = piped(random_, line, tools)
        if random_.random() < 0.2:
            line = damaged(random_, line)
        yield line


def troubles(count: int, seed: int, *, is_telling: bool = False) -> tuple[list[Trouble], Counter[int], float]:
    """Run lines and return what went wrong, how often each exit code came, and the longest CPU time in seconds.

    Every line meets the world as the incident left it: a fork, so that lines cannot hide each other's faults.
    """
    worlds = [Episode.reset(suite="tron", task=task, seed=seed)[0] for task in TASKS]
    found: list[Trouble] = []
    exits: Counter[int] = Counter()
    longest_s = 0.0
    for number, line in enumerate(itertools.islice(lines(seed), count)):
        episode = worlds[number % len(worlds)].fork()
        began_s = time.process_time()
        try:
            result = episode.step(line)
            exits[result.info["return_code"]] += 1
            result.observation["output"].encode()
            json.dumps(result.observation)
        except InvalidInput:
            exits[-1] += 1
        except Exception as error:
            found.append(Trouble(line, f"{type(error).__name__}: {error}"))
        spent_s = time.process_time() - began_s
        longest_s = max(longest_s, spent_s)
        if spent_s > CPU_S_MAX:
            found.append(Trouble(line, f"{spent_s:.2f} s of CPU time"))
        if is_telling and number % 1_000 == 999:
            print(f"{number + 1} lines, {len(found)} troubles", file=sys.stderr)
    return found, exits, longest_s


def main() -> None:
    """Run and print; exit 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.command_lines", description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found, exits, longest_s = troubles(given.count, given.seed, is_telling=True)
    for trouble in found[:50]:
        print(f"{trouble.what}\n    {trouble.line!r}")
    print(
        f"{given.count} lines, {len(found)} troubles, longest {longest_s:.2f} s, exits {dict(sorted(exits.items()))}"
    )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
