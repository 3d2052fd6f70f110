"""Recorded flows with their commands really run: kubectl and shell lines over the replayed control plane."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.managedfields.history import with_managed_fields
from env_core.apiserver.request import ADMIN, Identity
from env_core.kubectl import command as kubectl
from env_core.kubectl.context import Context
from env_core.kubectl.discovery_cache import CachedDiscovery
from env_core.shell import pipeline
from env_core.shell.context import FileSystem, Process
from env_core.world import Output
from tests.controllers import flows
from tests.controllers.world import World
from tests.golden.aliases import Aliases
from tests.golden.http import TOKENS
from tests.golden.normalise import managers, printed, printed_drawn
from tests.golden.recordings import Record
from tests.kubectl.scripted import answer_attach, answer_exec, answer_log

USERS = {identity.name: identity for identity in TOKENS.values()}
READING = ("get", "describe", "events", "logs", "top", "rollout", "auth", "explain", "api-resources", "wait")
WRITING_ROLLOUTS = ("restart", "undo", "pause", "resume")
STEP_MS = 200
LATENCY_MS = 70
"""From a command's start to its request, where no watch tells."""
FIRST_VERSION = 4_242_400_000
"""Recordings leave resourceVersions out: ours are numbers that nothing else has, and are masked."""
UNKNOWN_PROGRAM = "command not found"
OUTPUTS = ("rc", "stdout", "stderr")
Result = tuple[int, str, str]


class Clock:
    """The replay's loop as a terminal's clock."""

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self.world.now_ms

    def advance(self, duration_ms: int) -> None:
        """Let time pass."""
        self.world.advance(duration_ms)

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until a condition holds."""
        loop = self.world.loop
        end_ms = loop.now_ms + timeout_ms
        revision = -1
        while True:
            if self.world.store.revision != revision:
                revision = self.world.store.revision
                if is_met():
                    return True
            due_ms = loop.next_ms()
            if due_ms is None or due_ms > end_ms:
                loop.run_until(end_ms)
                return is_met()
            loop.step()


class Flow(flows.Replay):
    """One flow. Commands are run; where what they print differs, the recorded change is made besides."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._date_what_was_there()
        self.world.store.revision = FIRST_VERSION
        self._drawn: dict[str, str] = {}
        self.outputs: dict[int, tuple[Result, Result]] = {}
        self.managed: dict[int, tuple[Record, Record]] = {}
        self.files = FileSystem()
        self.discovery = CachedDiscovery(self.world.server.registry, lambda: self.world.now_ms)
        self.shell: pipeline.Shell | None = None
        self.world.server.backend = SimpleNamespace(
            log=lambda _pod, request: answer_log(self._scripted(), request).stdout,
            exec=lambda _pod, request: answer_exec(self._scripted(), request),
            attach=lambda _pod, request: answer_attach(self._scripted(), request),
        )

    def _date_what_was_there(self) -> None:
        """Let what is there before the first step be as old as in the recording: the namespace's own, and nodes."""
        self.world.loop.run_until(self.start_ms - 1_000)
        first = next((step["state"] for step in self.flow["steps"] if isinstance(step["state"], dict)), {})
        ages = {
            obj["metadata"]["name"]: obj["metadata"]["creationTimestamp"] for obj in first.get("nodes", ())
        }
        begun = self.flow["start"]
        for ref, obj in list(self.world.store.everything()):
            stamp = ages.get(ref.name) if ref.resource == "nodes" else None
            if ref.namespace == self.namespace or (ref.resource, ref.name) == ("namespaces", self.namespace):
                stamp = begun
            if stamp is not None and ref.resource != "events":
                metadata = {**obj["metadata"], "creationTimestamp": stamp}
                self.world.store.put(ref.resource, {**obj, "metadata": metadata})

    def _learn_drawn(self, recorded: Record) -> None:
        """Remember which of ours a recorded uid, service address or node port is: servers draw them."""
        for plural, objects in recorded.items():
            kind = flows.RESOURCES.get(plural)
            for obj in objects if kind is not None else ():
                metadata = obj["metadata"]
                found = self.world.store.get(kind.resource, metadata.get("namespace", ""), metadata["name"])
                if found is None:
                    continue
                if metadata.get("uid"):
                    self._drawn[metadata["uid"]] = found["metadata"]["uid"]
                if plural == "services":
                    self._drawn.update(_addresses(obj["spec"], found["spec"]))

    def _scripted(self) -> Any:
        pods = self.world.store.list("pods", self.namespace)
        return SimpleNamespace(record={"state": {"pods": pods}, "namespace": self.namespace})

    def _context(self, user: str, stdin: str) -> Context:
        identity = USERS.get(user, Identity(user)) if user else ADMIN
        return Context(
            api=ApiClient(self.world.server, identity),
            clock=Clock(self.world),
            files=self.files,
            discovery=self.discovery,
            namespace=self.namespace,
            stdin=stdin,
            user="admin",
            cluster="l2",
            server="https://127.0.0.1:6443",
        )

    def _kubectl(self, step: Record) -> Output:
        return kubectl.run(list(step["argv"]), self._context(step.get("user") or "", step.get("stdin") or ""))

    def _shell(self, step: Record) -> Output:
        if self.shell is None:
            process = Process(
                fs=self.files,
                env={"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "dumb"},
                cwd="/tmp/w",
                now_ms=lambda: self.world.now_ms,
                advance=self.world.advance,
                programs={"kubectl": self._kubectl_program},
            )
            self.shell = pipeline.Shell(process)
        return self.shell.run(step["line"], "")

    def _kubectl_program(self, process: Process, argv: list[str]) -> Output:
        return kubectl.run(argv[1:], self._context("", process.stdin))

    def _perform(self, step: Record, recorded: Record) -> None:
        self._learn_drawn(self.before)
        step = Aliases(self._drawn).raw_value(step)
        run = {"kubectl": self._kubectl, "shell": self._shell}.get(step["type"])
        if run is None:
            super()._perform(step, recorded)
            return
        self.world.loop.run_until(max(self.start_ms + self._request_ms(step), self.world.now_ms))
        wanted = (step["rc"], printed(step["stdout"]), printed(step["stderr"]))  # with our uids in them
        got = self._result(run, step)
        if not _agree(wanted, got) and _only_reads(step):
            end_ms = self.start_ms + step["t_ms"] + step["waited_ms"]
            while self.world.now_ms < end_ms and not _agree(wanted, got):
                self.world.loop.run_until(min(self.world.now_ms + STEP_MS, end_ms))
                got = self._result(run, step)
        self.outputs[step["n"]] = (wanted, got)
        if not _agree(wanted, got) and not _only_reads(step):
            super()._perform(step, recorded)

    def _compare(self, step: Record, recorded: Record, problem: str) -> None:
        self._learn_drawn(recorded)
        ours = Aliases(self._drawn)
        wanted = ours.raw_value(step).get("managedFields") or {}
        self.managed[step["n"]] = (
            {ref: managers(entries) for ref, entries in wanted.items()},
            {ref: managers(self._managed_fields(ref)) for ref in wanted},
        )
        super()._compare(ours.raw_value(step), ours.raw_value(recorded), problem)

    def _managed_fields(self, ref: str) -> list[Record]:
        plural, _, name = ref.partition("/")
        kind = flows.RESOURCES.get(plural)
        if kind is None:
            return []
        where = (kind.resource, self.namespace if kind.is_namespaced else "", name)
        found = self.world.store.get(*where)
        if found is None:
            return []
        shown = with_managed_fields(found, self.world.store.written(*where))
        entries: list[Record] = shown["metadata"].get("managedFields") or []
        return entries

    def _request_ms(self, step: Record) -> int:
        """When a step's request was answered: just before the first change that a watch saw of it."""
        begin_ms, end_ms = step["t_ms"], step["t_ms"] + step["waited_ms"]
        seen = [row[0] for row in self.flow["watch"] if begin_ms <= row[0] < end_ms]
        if not seen or _only_reads(step):
            return min(begin_ms + LATENCY_MS, end_ms)
        return max(min(seen[0] - 3, begin_ms + 2_000), begin_ms)

    def _result(self, run: Callable[[Record], Output], step: Record) -> Result:
        try:
            output = run(step)
        except StatusError:
            raise
        except Exception as error:  # a crash is a difference like others
            return (-1, "", f"raised {type(error).__name__}: {error}")
        return output.exit_code, printed(output.stdout), printed(output.stderr)


def _addresses(recorded: Record, ours: Record) -> dict[str, str]:
    found = {}
    theirs, own = recorded.get("clusterIP"), ours.get("clusterIP")
    if theirs and own and theirs != "None" and own != "None":
        found[theirs] = own
    for one, other in zip(recorded.get("ports") or (), ours.get("ports") or (), strict=False):
        if one.get("nodePort") and other.get("nodePort"):
            found[str(one["nodePort"])] = str(other["nodePort"])
    return found


def _only_reads(step: Record) -> bool:
    if step["type"] != "kubectl":
        return False
    argv = step["argv"]
    return (
        bool(argv)
        and argv[0] in READING
        and not (argv[0] == "rollout" and argv[1:2] and argv[1] in WRITING_ROLLOUTS)
    )


def _agree(wanted: Result, got: Result) -> bool:
    return wanted == got or printed_drawn(wanted) == printed_drawn(got)


def fixed(wanted: Result, got: Result) -> tuple[Result, Result]:
    """Return both results, without what the server drew if that makes them agree."""
    if wanted != got and _agree(wanted, got):
        return printed_drawn(wanted), printed_drawn(got)
    return wanted, got
