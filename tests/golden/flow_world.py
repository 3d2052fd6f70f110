"""Recorded flows with their commands really run: kubectl and shell lines over the replayed control plane."""

from __future__ import annotations

import re
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
from env_core.shell.context import FileSystem, Interrupted, Process
from env_core.world import Output
from tests.controllers import flows
from tests.controllers.comparing import RANDOM_POD
from tests.controllers.world import World
from tests.golden.aliases import Aliases
from tests.golden.http import TOKENS
from tests.golden.normalise import managers, printed, printed_drawn
from tests.golden.recordings import Record
from tests.kubectl.scripted import answer_attach, answer_exec, answer_log

USERS = {identity.name: identity for identity in TOKENS.values()}
UIDS = {"kubernetes-admin": "1", "dev": "4"}
"""Of the recorded control plane's token file (recorded: l2/flows rbac, `auth whoami`)."""
START_MS = 60
"""From a command's start in a shell's line to its request."""
STEP_MS = 25
"""Between two moments at which a command that only reads may have been answered."""
FIRST_VERSION = 4_242_400_000
"""Recordings leave resourceVersions out: ours are numbers that nothing else has, and are masked."""
UNKNOWN_PROGRAM = "command not found"
_NODE_REASONS = "Starting|NodeHas[A-Za-z]+|NodeReady|RegisteredNode|RemovingNode"
_NODE_EVENT = re.compile(
    rf"^(?:  Normal +(?:{_NODE_REASONS}) .*|\S+ +Normal +(?:{_NODE_REASONS}) +node/.*)\n", re.MULTILINE
)
_AUTHORITY = re.compile(r"(ca\.crt: +)\d+ bytes")
_WARNING = "Warning: "
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


class BoundedClock(Clock):
    """A terminal's clock up to a deadline (`timeout`): waiting beyond it is interrupted."""

    def __init__(self, world: World, deadline_ms: int) -> None:
        super().__init__(world)
        self.deadline_ms = deadline_ms

    def advance(self, duration_ms: int) -> None:
        """Let time pass; raises `Interrupted` at the deadline."""
        left_ms = max(self.deadline_ms - self.world.now_ms, 0)
        super().advance(min(duration_ms, left_ms))
        if duration_ms > left_ms:
            raise Interrupted

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until a condition holds; raises `Interrupted` at the deadline."""
        left_ms = max(self.deadline_ms - self.world.now_ms, 0)
        if super().advance_until(is_met, min(timeout_ms, left_ms)):
            return True
        if timeout_ms > left_ms:
            raise Interrupted
        return False


class Flow(flows.Replay):
    """One flow. Commands are run; where what they print differs, the recorded change is made besides."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self.world.store.revision = FIRST_VERSION
        self._date_what_was_there()
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

    def _context(self, user: str, stdin: str, deadline_ms: int | None = None) -> Context:
        identity = USERS.get(user, Identity(user)) if user else ADMIN
        identity = identity._replace(uid=UIDS.get(identity.name, ""))
        return Context(
            api=ApiClient(self.world.server, identity),
            clock=Clock(self.world) if deadline_ms is None else BoundedClock(self.world, deadline_ms),
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
            self.files.mkdir("/tmp/w", parents=True)
            process = Process(
                fs=self.files,
                env={"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "dumb"},
                cwd="/tmp/w",
                now_ms=lambda: self.world.now_ms,
                advance=self.world.advance,
            )
            self.shell = pipeline.Shell(process, {"kubectl": self._kubectl_program})
        return self.shell.run(step["line"], "")

    def _kubectl_program(self, process: Process, argv: list[str]) -> Output:
        # Each command of a line starts after the one before has ended, and takes its time to start.
        self.world.advance(START_MS)
        return kubectl.run(argv[1:], self._context("", process.stdin, process.deadline_ms))

    def _perform(self, step: Record, recorded: Record) -> None:
        self._learn_drawn(self.before)
        step = Aliases(self._drawn).raw_value(step)
        run = {"kubectl": self._kubectl, "shell": self._shell}.get(step["type"])
        if run is None:
            super()._perform(step, recorded)
            return
        wanted = (step["rc"], printed(step["stdout"]), printed(step["stderr"]))  # with our uids in them
        got = self._result(run, step)
        if not _agree(wanted, got) and flows.only_reads(step):
            end_ms = self.start_ms + step["t_ms"] + step["waited_ms"]
            while self.world.now_ms < end_ms and not _agree(wanted, got):
                self.world.loop.run_until(min(self.world.now_ms + STEP_MS, end_ms))
                got = self._result(run, step)
        self.outputs[step["n"]] = (wanted, got)
        if not _agree(wanted, got) and not flows.only_reads(step):
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

    def _result(self, run: Callable[[Record], Output], step: Record) -> Result:
        try:
            output = run(step)
        except StatusError:
            raise
        except Exception as error:  # a crash is a difference like others
            return (-1, "", f"raised {type(error).__name__}: {error}")
        renamed = Aliases({drawn: name for name, drawn in self.world.server.renamed.items()})
        return output.exit_code, renamed.alias(_plain(output.stdout)), renamed.alias(_plain(output.stderr))


def _plain(text: str) -> str:
    # norm.py of the recordings: a name that no object ever had ends in "uxxxx".
    return RANDOM_POD.sub(r"\1uxxxx\2", printed(text))


def _addresses(recorded: Record, ours: Record) -> dict[str, str]:
    found = {}
    theirs, own = recorded.get("clusterIP"), ours.get("clusterIP")
    if theirs and own and theirs != "None" and own != "None":
        found[theirs] = own
    for one, other in zip(recorded.get("ports") or (), ours.get("ports") or (), strict=False):
        if one.get("nodePort") and other.get("nodePort"):
            found[str(one["nodePort"])] = str(other["nodePort"])
    return found


def _loosened(result: Result) -> Result:
    return _without_history(_in_order(printed_drawn(result)))


def _without_history(result: Result) -> Result:
    """Leave out the events of nodes' coming and going, which tell of the flows that were recorded before.

    README: "kubelet events" of the script kubelet are "**not** golden"; those of nodes stay in the namespace `default`,
    whose events nobody deletes, and are counted on when a node of that name comes again.
    """
    code, stdout, stderr = result
    stdout = _AUTHORITY.sub(r"\1N bytes", stdout)  # README: certificates -> <PEM>
    rest = _NODE_EVENT.sub("", stdout)
    if rest != stdout:
        rest = re.sub("-{3,}", "---", re.sub(" {2,}", "  ", rest))
    return code, rest, stderr


def _in_order(result: Result) -> Result:
    """Sort what a warning lists: kubectl drain goes through a Go map (README: "pods … random upstream")."""
    code, stdout, stderr = result
    lines = [
        _WARNING + "; ".join(sorted(line.removeprefix(_WARNING).split("; ")))
        if line.startswith(_WARNING)
        else line
        for line in stderr.split("\n")
    ]
    return code, stdout, "\n".join(lines)


def _agree(wanted: Result, got: Result) -> bool:
    return wanted == got or _loosened(wanted) == _loosened(got)


def fixed(wanted: Result, got: Result) -> tuple[Result, Result]:
    """Return both results, without what the server drew if that makes them agree."""
    if wanted != got and _agree(wanted, got):
        return _loosened(wanted), _loosened(got)
    return wanted, got
