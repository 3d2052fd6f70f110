"""Worlds in which nothing happens: recorded states on a real store and API server, at any moment and any age.

l2 README: a state is "{plural:[objects with managedFields], nodes, namespaces, ...}"; what the recorder's script kubelet
and metrics stub answer is input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from env_core.apiserver import virtual
from env_core.apiserver.boot import boot_objects, default_objects
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.cluster import admission
from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Interrupted, Object, Output
from tests.golden.aliases import Aliases
from tests.golden.made import made_by_setup
from tests.golden.normalise import printed, uids_in
from tests.golden.recordings import GOLDEN, Record, load
from tests.golden.servers import registry
from tests.kubectl.golden_world import StillClock, TinyApi, context
from tests.kubectl.scripted import answer_attach, answer_exec, answer_log, configure

FIRST_VERSION = 4_242_400_000
"""Recordings leave resourceVersions out: ours are numbers that nothing else has, and are masked."""
KILLED_MS = 15_000
"""When a command that goes on waiting is killed; README: "rc 124 = killed after 15 s"."""
AGES_S = (2_850, 12_030, 48_600, 278_100, 3_499_200, 96_000_000)
"""47m, 3h20m, 13h, 3d5h, 40d, 3y: each in the middle of a step, so that a printed age does not turn meanwhile."""
_AGAIN = ("web", "shop", "config")
_TIME = re.compile(r"\b(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")


class FrozenWorld:
    """One recorded state, ready to answer commands."""

    def __init__(self, record: Record) -> None:
        self.aliases = Aliases(record.get("aliases") or {})
        self.start_ms = parse_ms(record.get("start", "2026-01-01T00:00:00Z"))
        self.namespace = record["namespace"]
        self.state = self.aliases.raw_value(record.get("state") or {})
        tables = self.aliases.raw_value(record.get("tables") or {})
        self.record = {"state": self.state, "namespace": self.namespace, "tables": tables}
        self.uids = set(uids_in(json.dumps(record.get("state") or {})))
        self.registry = registry()
        self.store = self._filled()
        for resource, obj in made_by_setup(record, self.namespace):
            self.store.put(resource, _versioned(obj))
        scripted = SimpleNamespace(record=self.record)
        stub = TinyApi(self.registry, ())
        configure(scripted, stub)
        self.metrics = stub.metrics
        self.backend = SimpleNamespace(
            log=lambda _pod, request: answer_log(scripted, request).stdout,
            exec=lambda _pod, request: answer_exec(scripted, request),
            attach=lambda _pod, request: answer_attach(scripted, request),
        )

    def _filled(self) -> Store:
        store = Store()
        store.revision = FIRST_VERSION
        for resource, obj in boot_objects(Streams(2), self._booted_ms()):
            if "rbac" in resource or resource.startswith(("priorityclasses", "namespaces", "services")):
                store.put(resource, obj)
        for resource, objects in default_objects(Streams(2), self._booted_ms()).items():
            store.preload(resource, objects)
        for rows in self.state.values():
            for obj in rows:
                kind = self.registry.by_gvk(obj["apiVersion"], obj["kind"])
                if kind is not None:
                    store.put(kind.resource, _versioned(obj))
        return store

    def _booted_ms(self) -> int:
        """Return when the recorded control plane started: it makes its first namespaces then."""
        for namespace in self.state.get("namespaces") or ():
            if namespace["metadata"]["name"] == "default":
                return parse_ms(namespace["metadata"]["creationTimestamp"])
        return self.start_ms

    def server(self, now_ms: int) -> ApiServer:
        """Return a fresh server over the state, at a moment."""
        made = ApiServer(
            registry=self.registry,
            store=self.store.fork(),
            loop=EventLoop(now_ms),
            streams=Streams(3),
            admission=admission(),
            virtual=virtual.VIRTUAL,
        )
        made.backend = self.backend
        made.metrics = self._metrics
        return made

    def _metrics(
        self, resource: str, namespace: str, matches: Callable[[Object], bool] | None
    ) -> list[Object]:
        rows = self.metrics["PodMetrics" if resource.startswith("pods") else "NodeMetrics"]
        return [
            row
            for row in rows
            if (not namespace or row["metadata"].get("namespace") == namespace)
            and (matches is None or matches(row))
        ]

    def shows_unknown(self, result: tuple[int, str, str]) -> bool:
        """Whether a result shows the uid of an object that the state does not hold."""
        return any(uid not in self.uids for text in result[1:] for uid in uids_in(text))

    def context(self, now_ms: int, stdin: str = "", files: dict[str, str] | None = None) -> Context:
        """Return the context of one command over a fork of the world, at a moment."""
        server: Any = self.server(now_ms)
        ctx = context(server, now_ms, self.namespace, stdin=stdin, files=files)
        ctx.clock = KilledClock(now_ms)
        return ctx

    def run(self, argv: list[str], stdin: str, now_ms: int) -> tuple[int, str, str]:
        """Run a command at a moment; returns exit code and outputs as recordings have them."""
        output = run_killed(argv, self.context(now_ms, stdin))
        stdout, stderr = (printed(self.aliases.alias(text)) for text in (output.stdout, output.stderr))
        return output.exit_code, stdout, stderr


@dataclass
class KilledClock(StillClock):
    """A clock on which a command that waits too long is killed.

    README: "rc 124 = killed after 15 s".
    """

    started_ms: int = 0

    def __post_init__(self) -> None:
        self.started_ms = self.now_ms

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        if is_met():
            return True
        self.advance(timeout_ms)
        return is_met()

    def advance(self, duration_ms: int) -> None:
        self.now_ms += duration_ms
        if self.now_ms - self.started_ms > KILLED_MS:
            raise Interrupted


def run_killed(argv: list[str], ctx: Context) -> Output:
    """Run a command; one that waits too long has printed what it has printed."""
    try:
        return run(argv, ctx)
    except Interrupted as stopped:
        return stopped.output or Output()


def _versioned(obj: Object) -> Object:
    """Give back the versions inside objects, which recordings leave out like the objects' own."""
    version = {"resourceVersion": str(FIRST_VERSION + 1)}
    if "involvedObject" in obj:
        return {**obj, "involvedObject": {**obj["involvedObject"], **version}}
    spec = obj.get("spec")
    if isinstance(spec, dict) and "claimRef" in spec:
        return {**obj, "spec": {**spec, "claimRef": {**spec["claimRef"], **version}}}
    return obj


def aged(record: Record, now_ms: int, age_s: int) -> Record:
    """Return a record whose state was taken `age_s` before `now_ms`: all its times are shifted by whole seconds."""
    taken_ms = parse_ms(record["start"]) + record["snapshot_t_ms"]
    shift_ms = (now_ms - age_s * 1000 - taken_ms) // 1000 * 1000

    def shifted(match: re.Match[str]) -> str:
        return rfc3339(parse_ms(f"{match[1]}Z") + shift_ms)[:-1] + (match[2] or "") + "Z"

    parts = ("namespace", "start", "tables", "state", "aliases", "setup")
    kept = {key: record[key] for key in parts if key in record}
    if "CustomResourceDefinition" in str(record.get("setup")):
        kept["cases"] = record["cases"]  # They print what the setup made.
    found: Record = json.loads(_TIME.sub(shifted, json.dumps(kept, ensure_ascii=False)))
    return found


@cache
def names() -> tuple[tuple[str, int], ...]:
    """Return the worlds that commands are compared in: the recorded states, each with the age that it is given."""
    states = [path.name.partition(".")[0] for path in sorted((GOLDEN / "l2/kubectl").glob("*.json.gz"))]
    own = [name for name in states if "state" in load(GOLDEN / f"l2/kubectl/{name}.json.gz")[0]]
    every = (*own, *_AGAIN)
    return tuple((name, AGES_S[index % len(AGES_S)]) for index, name in enumerate(every))


def frozen(name: str, age_s: int, now_ms: int) -> FrozenWorld:
    """Return a world of `names` as it is at `now_ms`."""
    return FrozenWorld(aged(load(GOLDEN / f"l2/kubectl/{name}.json.gz")[0], now_ms, age_s))
