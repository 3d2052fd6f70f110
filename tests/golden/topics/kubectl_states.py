"""l2/kubectl: commands over recorded states, run on a real store and API server that hold the state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from env_core.apiserver import virtual
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.registry import Registry
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.kubectl.command import run
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.timefmt import parse_ms
from env_core.world import Interrupted, Object, Output
from tests.golden.aliases import Aliases
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import (
    interface_of,
    printed,
    printed_drawn,
    shows_other_namespaces,
    uids_in,
    unordered,
    without_prose,
)
from tests.golden.recordings import Folder, Record
from tests.golden.servers import admission
from tests.kubectl.golden_world import StillClock, TinyApi, context
from tests.kubectl.golden_world import registry as full_registry
from tests.kubectl.scripted import _answer_attach, _answer_exec, _answer_log, configure

RESULT = ("rc", "stdout", "stderr")
FIRST_VERSION = 4_242_400_000
"""Recordings leave resourceVersions out: ours are numbers that nothing else has, and are masked."""
SPAN_MS, STEP_MS = 4_000, 40
KILLED_MS = 15_000
_FRACTION = re.compile(r":\d\d\.(\d{3})\d*Z")


class State:
    """One recorded state, ready to answer commands."""

    def __init__(self, record: Record) -> None:
        self.aliases = Aliases(record.get("aliases") or {})
        self.start_ms = parse_ms(record.get("start", "2026-01-01T00:00:00Z"))
        self.namespace = record["namespace"]
        self.state = self.aliases.raw_value(record.get("state") or {})
        tables = self.aliases.raw_value(record.get("tables") or {})
        self.record = {"state": self.state, "namespace": self.namespace, "tables": tables}
        own = {(kind.group, kind.version, kind.plural) for kind in virtual.KINDS}
        shown = (
            kind for kind in full_registry(tables).kinds if (kind.group, kind.version, kind.plural) not in own
        )
        self.uids = set(uids_in(json.dumps(record.get("state") or {})))
        self.registry = Registry((*shown, *virtual.KINDS))
        self.store = self._filled()
        scripted = SimpleNamespace(record=self.record)
        stub = TinyApi(self.registry, ())
        configure(scripted, stub)
        self.metrics = stub.metrics
        self.backend = SimpleNamespace(
            log=lambda _pod, request: _answer_log(scripted, request).stdout,
            exec=lambda _pod, request: _answer_exec(scripted, request),
            attach=lambda _pod, request: _answer_attach(scripted, request),
        )

    def _filled(self) -> Store:
        store = Store()
        store.revision = FIRST_VERSION
        for resource, obj in boot_objects(Streams(2), self._booted_ms()):
            if "rbac" in resource or resource.startswith(("priorityclasses", "namespaces", "services")):
                store.put(resource, obj)
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

    def _metrics(self, resource: str, namespace: str) -> list[Object]:
        rows = self.metrics["PodMetrics" if resource.startswith("pods") else "NodeMetrics"]
        return [row for row in rows if not namespace or row["metadata"].get("namespace") == namespace]

    def shows_unknown(self, result: tuple[int, str, str]) -> bool:
        """Whether a result shows the uid of an object that the state does not hold."""
        return any(uid not in self.uids for text in result[1:] for uid in uids_in(text))

    def run(self, argv: list[str], stdin: str, now_ms: int) -> tuple[int, str, str]:
        """Run a command at a moment; returns exit code and outputs as recordings have them."""
        server: Any = self.server(now_ms)
        ctx = context(server, now_ms, self.namespace, stdin=stdin)
        ctx.clock = _Killed(now_ms)
        try:
            output = run(argv, ctx)
        except Interrupted as stopped:
            output = stopped.output or Output()
        stdout, stderr = (printed(self.aliases.alias(text)) for text in (output.stdout, output.stderr))
        return output.exit_code, stdout, stderr


@dataclass
class _Killed(StillClock):
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


def _versioned(obj: Object) -> Object:
    """Give back the versions inside objects, which recordings leave out like the objects' own."""
    version = {"resourceVersion": str(FIRST_VERSION + 1)}
    if "involvedObject" in obj:
        return {**obj, "involvedObject": {**obj["involvedObject"], **version}}
    spec = obj.get("spec")
    if isinstance(spec, dict) and "claimRef" in spec:
        return {**obj, "spec": {**spec, "claimRef": {**spec["claimRef"], **version}}}
    return obj


def _moments(cases: list[Record], index: int, start_ms: int) -> list[int]:
    """When a command's requests may have been sent.

    README: "Cases have no duration: the request fell between its `t_ms` and the next case's"; starts are whole seconds.
    """
    begin = cases[index].get("t_ms", 0)
    end = cases[index + 1].get("t_ms", begin) if index + 1 < len(cases) else begin + 500
    last = min(end, begin + SPAN_MS) + 1000
    steps = range(begin + STEP_MS, last + 1, STEP_MS)
    return [start_ms + moment for moment in (begin, *steps)]


def _turns(texts: str, moments: list[int]) -> list[int]:
    """Return the moments at which a precise time in a state becomes a second older: few of them may lie in between."""
    parts = sorted({int(text) for text in _FRACTION.findall(texts)})
    first, last = moments[0] // 1000, moments[-1] // 1000
    return [second * 1000 + part + 1 for second in range(first, last + 1) for part in parts]


def _wanted(case: Record) -> tuple[int, str, str]:
    return case["rc"], printed(case["stdout"]), printed(case["stderr"])


def _facts(argv: list[str], result: tuple[int, str, str]) -> tuple[int, Any, Any]:
    """Leave out of a result what is prose (help, descriptions of fields) and what has no order."""
    exit_code, *texts = result
    keep = interface_of if argv[:1] == ["explain"] else without_prose
    stdout, stderr = (keep(unordered(argv, text)) for text in texts)
    return exit_code, stdout, stderr


def _best(
    state: State, case: Record, moments: list[int]
) -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    """Return the recorded result and ours at the moment that agrees, or at the first."""
    argv = [state.aliases.raw(word) for word in case["argv"]]
    stdin = state.aliases.raw(case.get("stdin") or "")
    wanted = _wanted(case)
    first = state.run(argv, stdin, moments[0])
    if first == wanted or _facts(argv, first) == _facts(argv, wanted):
        return wanted, wanted
    drawn = "--dry-run=server" in argv or argv[:1] == ["debug"] or state.shows_unknown(wanted)
    if drawn and printed_drawn(first) == printed_drawn(wanted):
        return printed_drawn(wanted), printed_drawn(first)
    last = state.run(argv, stdin, moments[-1])
    if last == first:  # Time does not show: no other moment helps.
        return wanted, first
    nearest = first
    for moment in (*moments[1:], *_turns(json.dumps(state.state.get("events") or []), moments)):
        result = state.run(argv, stdin, moment)
        if result == wanted:
            return wanted, result
        if drawn and printed_drawn(result) == printed_drawn(wanted):
            return printed_drawn(wanted), printed_drawn(result)
        if _distance(wanted, result) < _distance(wanted, nearest):
            nearest = result
    return wanted, nearest


def _distance(wanted: tuple[int, str, str], got: tuple[int, str, str]) -> int:
    """Return how many lines of two results differ."""
    return sum(
        len(set(theirs.splitlines()) ^ set(ours.splitlines()))
        for theirs, ours in zip(wanted[1:], got[1:], strict=True)
    )


def _judge_interface(record: Record, folder: Folder) -> Iterator[Comparison]:
    """Help and explain texts, of which only the interface is compared: usage, flags, fields and their types."""
    state = State({**record, "start": "2026-01-01T00:00:00Z"})
    for index, case in enumerate(record["cases"]):
        unit = case.get("id", " ".join(case["argv"]) or str(index))
        rc, stdout, stderr = state.run(list(case["argv"]), "", state.start_ms)
        wanted = {"rc": case["rc"], **interface_of(case["stdout"] + case["stderr"])}
        yield Comparison(wanted, {"rc": rc, **interface_of(stdout + stderr)}, unit, "help and explain")
    del folder


def _judge(record: Record, folder: Folder) -> Iterator[Comparison]:
    if "state" not in record:
        yield from _judge_interface(record, folder)
        return
    state = State(record)
    cases = record["cases"]
    for index, case in enumerate(cases):
        apart = (
            "other namespaces" if shows_other_namespaces(case, record["state"], record["namespace"]) else ""
        )
        unit = case["id"].rpartition("/")[2]
        try:
            wanted, got = _best(state, case, _moments(cases, index, state.start_ms))
        except Exception as error:
            yield Comparison(
                dict(zip(RESULT, _wanted(case))), f"raised {type(error).__name__}: {error}", unit, apart
            )
            continue
        argv = {"argv": " ".join(case["argv"])}
        yield Comparison(argv | dict(zip(RESULT, wanted)), argv | dict(zip(RESULT, got)), unit, apart)


TOPIC = Topic(
    name="l2/kubectl", files=("kubectl/*.json",), answers=("cases",), judge=_judge, has_key="cases",
)  # fmt: skip
