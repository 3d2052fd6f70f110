"""Recorded server programs, run here: a container of the recorded cluster with its argv and files, its triggers, its log.

Source: shared oracle `programs/README.md` ("Server records", "Placeholders").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Final

from env_core.apiserver.request import ExecOptions
from env_core.programs import NETWORK_UNREACHABLE, Container, Line, Program, Run
from env_core.programs._disks import place_of
from env_core.programs._machine import Machine
from env_core.shell._jobs import Jobs
from env_core.shell._registry import builtin_programs
from env_core.shell.budget import Budget
from env_core.shell.clients import CLIENTS, bound
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from env_core.shell.inside import run_inside
from env_core.world import Output
from tests.golden.comparison import Comparison
from tests.golden.program_clients import FILES, busybox
from tests.golden.program_cluster import CLIENT, NOW_MS, Cluster, RecordedWire, cluster, resolver_of
from tests.golden.program_texts import PATTERNS, plain
from tests.golden.recordings import Folder, Record

ADDRESS: Final = "10.244.3.20"
SERVICES: Final = ("redis", "postgres", "api", "mysql", "rabbitmq")
_RESOLVER: Final[dict[str, Any]] = {
    "nameservers": ["10.96.0.10"], "searches": ["tron.svc.cluster.local", "svc.cluster.local", "cluster.local"],
    "options": [{"name": "ndots", "value": "5"}],
}  # fmt: skip
UNTIL_READY_MS: Final = 1_000
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9]*(?:\.\d)?|ts,ms)(?::(\d+))?\}")
# Redis' warning: "the kubelet sets it to 1, so that line does not appear on real nodes".
_NOT_ON_NODES: Final = "WARNING Memory overcommit must be enabled"
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
FORMATS: Final[dict[str, str]] = {
    **PATTERNS, "accessts": r"\d\d/[A-Z][a-z]{2}/\d{4}[: ]\d\d:\d\d:\d\d(?: \+0000)?", "kernel": r"\S+", "nofile": r"\S+",
    "reqid": r"[0-9a-f]{32}", "rusage": r".*", "ckpt": r".*", "cow": r".*", "lsn": r"[0-9A-F]+/[0-9A-F]+|\d+", "uptime": r"[\d., -]+",
    "epid": r"\d+\.\d+\.\d+", "rfc3339": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "dur": r"\d+(?:\.\d+)?", "sha512": r"[0-9a-f]{128}",
    "hms.3": r"\d+:\d\d:\d\d\.\d{3}", "cid": r"[0-9a-f]{64}", "rand": r"\d+", "vhostid": r"[0-9A-Z]+", "uid": r"[0-9a-f-]{36}",
}  # fmt: skip
"""Formats by placeholder, of all families; what a family means by {ts} comes with its topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the records of one program are run and compared."""

    program: Program
    image: str
    program_of: Callable[[Record], Program] | None = None
    """The program as the record's build and container have it, where that matters."""
    formats: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """What the recorder's image held beside the record's files."""
    prepared: Callable[[Record, Container], Container] = lambda _record, container: container
    """What else the record says of the container (limits, a read-only root, ports in use)."""
    drops: tuple[str, ...] = ()
    """Our lines with one of these words stand for other builds than the recorded one."""
    by_chance: tuple[str, ...] = ()
    """Lines with one of these words come at times of their own (timers), in the recordings of one run and not of another."""
    act: Callable[[Served, str], bool] = lambda _served, _action: False
    """Does an action that a trigger names; False when it does not know it."""
    volume: Callable[[Record], Mapping[str, str]] = lambda _record: {}
    """What lies in the server's data directory at first, as its program keeps it."""
    data_of: Callable[[Record], str] = lambda _record: "/data"
    claim_size: str = ""
    """The size of the claim tron/data, which a container may mount."""
    pauses: Callable[[Record], Mapping[int, int]] = lambda _record: {}
    """How long it waited after a trigger, by the trigger's number: records do not say."""
    measured: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Values in replies that the recorder left as they were measured, and what stands for them."""
    is_unordered: Callable[[str], bool] = lambda _command: False
    """Whether a command's lines come in an order of chance."""
    is_child: Callable[[str], bool] = lambda _line: False
    """Whether a line is of a child process, which writes beside the server as it comes."""
    before: Callable[[Served], None] = lambda _served: None
    """What the recorder had begun before the first trigger."""
    equip: Callable[[Served, Process], None] = lambda _served, _process: None
    """What the recorder's client container holds beside the usual tools."""
    grace_ms: int = 5_000
    """How long after the signal the recorder killed what had not ended."""


class Served:
    """The recorded cluster with one server in it."""

    def __init__(self, family: Family, record: Record) -> None:
        self.family = family
        self.record = record
        self.world: Cluster = cluster()
        self.files = FileSystem(FILES)
        self.jobs = Jobs(lambda: self.world.loop.now_ms)
        world = self.world
        # A client's record is of the client pod: its address, its name server.
        address = ADDRESS if "log" in record else CLIENT
        container = Container(
            namespace="tron", pod="server", pod_uid="uid-tron-server", name="server", image=family.image,
            argv=tuple(record["argv"]), env=dict(record.get("env") or {}),
            files={**family.files, **(record.get("config") or {})}, pod_ip=address, node="node-a", cpu_limit_millis=None,
            cpu_request_millis=0, memory_limit_bytes=None, started_ms=NOW_MS, restarts=0, user=record.get("uid") or 0,
        )  # fmt: skip
        container = family.prepared(record, container)
        self.program = family.program_of(record) if family.program_of is not None else family.program
        world.network.under_test = self.program
        world.runtime.assign(address, "tron", "server", container.pod_uid)
        launch = self.program.launch(container)
        spec: dict[str, Any] = {
            "nodeName": "node-a",
            "containers": [{"name": "server", "image": family.image}],
        }
        resolver = {} if "log" in record else resolver_of(record)
        if resolver:
            spec |= {"dnsPolicy": "None", "dnsConfig": {**_RESOLVER, **resolver}}
        pod = world.put("pods", {
            "metadata": {"namespace": "tron", "name": "server", "uid": container.pod_uid, "labels": {}}, "spec": spec,
            "status": {"podIP": address, "hostIP": "10.0.0.11", "phase": "Running"},
        })  # fmt: skip
        if family.claim_size:
            claim = {
                "metadata": {"namespace": "tron", "name": "data"},
                "spec": {},
                "status": {"capacity": {"storage": family.claim_size}},
            }
            world.put("persistentvolumeclaims", claim)
        if stored := family.volume(record):
            world.runtime.disks.write(place_of(container, family.data_of(record)), stored)
        launch = world.network.settled(pod, self.program, container, launch)
        world.network.reject("192.0.2.1", NETWORK_UNREACHABLE)
        ending = launch.exit
        world.runtime.put(
            Run(
                container=container, container_id="c" * 64, program=family.program.name, launch=launch,
                exit_at_ms=None if ending is None else NOW_MS + ending.after_ms, exit_code=0 if ending is None else ending.code,
            )
        )  # fmt: skip
        world.runtime.log(self.run, tuple(line._replace(at_ms=line.at_ms + NOW_MS) for line in launch.log))
        if "log" in record:
            self._publish()
        self.wait(UNTIL_READY_MS)

    @property
    def run(self) -> Run:
        """The server's container."""
        found = self.world.runtime.run("uid-tron-server", "server")
        assert found is not None
        return found

    def _publish(self) -> None:
        ports = {listener.port: listener.port for listener in self.run.launch.listeners}
        for name in SERVICES:
            service = self.world.store.get("services", "tron", name)
            assert service is not None
            self.world.network._rejected.pop(service["spec"]["clusterIP"])  # "refused when none runs"
            declared = [{"name": f"p{port}", "port": port, "protocol": "TCP"} for port in ports] or service[
                "spec"
            ]["ports"]
            self.world.put("services", {**service, "spec": {**service["spec"], "ports": declared}})
            slice_ports = [{"name": f"p{port}", "port": port, "protocol": "TCP"} for port in ports]
            self.world.put("endpointslices.discovery.k8s.io", {
                "metadata": {"namespace": "tron", "name": f"{name}-x", "labels": {"kubernetes.io/service-name": name}},
                "addressType": "IPv4", "ports": slice_ports,
                "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": True}}],
            })  # fmt: skip

    def wait(self, duration_ms: int) -> None:
        """Let time pass, also for what was begun before."""
        loop = self.world.loop
        self.jobs.advance(duration_ms, lambda passing_ms: loop.run_until(loop.now_ms + passing_ms))

    def say(self, lines: tuple[Line, ...]) -> None:
        """Add lines to the log."""
        self.world.runtime.log(self.run, lines)

    def command(self, line: str) -> Output:
        """Run a command line of the client pod."""
        process = self._process()
        return process.programs["sh"](process, ["sh", "-c", line])

    def begin(self, line: str) -> None:
        """Run a command line of the client pod, whose background commands go on after it."""
        process = self._process()
        process.budget, process.jobs = Budget(), self.jobs
        process.programs["sh"](process, ["sh", "-c", line])

    def _process(self) -> Process:
        source = self.world.network.source_of_pod("tron", "toolbox")
        assert source is not None
        wire = RecordedWire(self.world.network, source)
        found = {name: bound(client, wire) for name, client in CLIENTS["gnu"].items()}
        found["busybox"] = partial(busybox, wire)
        process = Process(
            "", self.files, {"PATH": "/usr/bin:/bin", "HOME": "/root"}, now_ms=lambda: self.world.loop.now_ms,
            advance=self.wait, programs={**builtin_programs("gnu"), **found}, flavour="gnu",
        )  # fmt: skip
        self.family.equip(self, process)
        return process

    def inside(self, line: str) -> Output:
        """Run a command line in the server's container."""
        return run_inside(
            self.run, ExecOptions(command=("sh", "-c", line), container="server"), network=self.world.network,
            runtime=self.world.runtime, loop=self.world.loop, advance=self.wait,
        )  # fmt: skip

    def signal(self, name: str) -> int | None:
        """Send the server a signal; return the code with which it ends, None when it goes on."""
        program = self.program
        at_ms = self.world.loop.now_ms
        if name == "KILL":
            return 137
        if program.signalled is not None:
            container = self.run.container
            memory = self.world.runtime.memory(container.pod_uid, container.name)
            found = program.signalled(container, name, at_ms, memory)
            if found is not None:
                self.say(found.log)
                if found.memory is not None:
                    self.world.runtime.remember(container.pod_uid, container.name, dict(found.memory))
                return found.code
        launch = self.run.launch
        return launch.stop_code if name == "TERM" else None

    def log(self) -> list[Line]:
        """Return the whole log."""
        return self.world.runtime.log_lines("uid-tron-server", "server", 0)


@lru_cache(maxsize=8192)
def _pattern(template: str, formats: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    known = dict(formats)
    out: list[str] = []
    position = 0
    for found in _PLACEHOLDER.finditer(template):
        out.append(re.escape(template[position : found.start()]))
        name, width = found[1], found[2]
        out.append(rf"[ \d.kM]{{{width}}}" if width else f"(?:{known.get(name, _NUMBER)})")
        position = found.end()
    out.append(re.escape(template[position:]))
    return re.compile("".join(out), re.DOTALL)


def fits(template: str, actual: str, formats: Mapping[str, str]) -> bool:
    """Whether a text is one that the recorded program may have printed."""
    if template == actual:
        return True
    return _pattern(plain(template), tuple(formats.items())).fullmatch(plain(actual)) is not None


def _is_same(family: Family, template: str, text: str, formats: Mapping[str, str]) -> bool:
    """Whether a text is one that the recorded program may have printed, values that were measured apart."""
    for pattern, shown in family.measured:
        template, text = pattern.sub(shown, template), pattern.sub(shown, text)
    return fits(template, text, formats)


def _is_reply(family: Family, command: str, template: str, text: str, formats: Mapping[str, str]) -> bool:
    """Whether a text is one that the recorded command may have printed."""
    if family.is_unordered(command):
        template, text = ("\n".join(sorted(each.split("\n"))) for each in (template, text))
    return _is_same(family, template, text, formats)


def _aligned(family: Family, wanted: list[str], got: list[str], formats: Mapping[str, str]) -> list[str]:
    """Return our lines, each that fits its recorded line in that line's form."""
    return [
        template if index < len(wanted) and _is_same(family, template := wanted[index], text, formats) else text
        for index, text in enumerate(got)
    ]


def _recorded(record: Record, stream: str) -> list[str]:
    return [
        entry["line"]
        for entry in record["log"]
        if entry["stream"] == stream and _NOT_ON_NODES not in entry["line"]
        for _ in range(entry.get("repeat") or 1)
    ]


def machine_of(record: Record) -> Machine:
    """Return the surroundings of a recorded container: `condition.kind` is the word for what was wrong with them."""
    kind = record["condition"]["kind"]
    port = re.search(r":(\d+)\b", " ".join(record["argv"]))
    return Machine(
        taken=frozenset({int(port[1]) if port else 8000, 8000, 8080})
        if kind == "address_in_use"
        else frozenset(),
        unprivileged_from=1_024 if kind == "bind_permission_denied" else 0,
        full=("/mnt",) if kind == "disk_full" else (),
        files_max=16 if kind == "nofile" else 0,
    )


def prepared(record: Record, container: Container) -> Container:
    """Return a container with the root file system that its record's condition names."""
    return replace(container, is_root_read_only=record["condition"]["kind"] == "read_only_fs")


def _steps(
    served: Served, record: Record, formats: Mapping[str, str]
) -> tuple[list[Any], list[Any], int | None]:
    """Do the triggers; return the recorded answers and ours, and the code if one of them ended the server."""
    wanted: list[Any] = []
    got: list[Any] = []
    code: int | None = None
    pauses = served.family.pauses(record)
    for number, step in enumerate(record.get("trigger") or ()):
        served.wait(pauses.get(number - 1, 0))
        if "signal" in step:
            found = served.signal(step["signal"])
            code = found if found is not None else code
            continue
        if "action" in step:
            wanted.append(step["action"])
            is_done = served.family.act(served, step["action"])
            got.append(step["action"] if is_done else "action not simulated")
            continue
        output = served.command(step["cmd"]) if step["where"] == "client pod" else served.inside(step["cmd"])
        answer = {"cmd": step["cmd"], "exit": output.exit_code}
        for stream, text in (("stdout", output.stdout), ("stderr", output.stderr)):
            template = step.get(stream) or ""
            answer[stream] = (
                template if _is_reply(served.family, step["cmd"], template, text, formats) else text
            )
        wanted.append(
            {
                "cmd": step["cmd"],
                "exit": step["exit"],
                "stdout": step.get("stdout") or "",
                "stderr": step.get("stderr") or "",
            }
        )
        got.append(answer)
    served.wait(pauses.get(len(record.get("trigger") or ()) - 1, 0))
    return wanted, got, code


def judge_of(family: Family) -> Callable[[Record, Folder], Comparison]:
    """Return a judge of a server program's records."""
    formats = {**FORMATS, **family.formats}

    def judge(record: Record, _folder: Folder) -> Comparison:
        served = Served(family, record)
        family.before(served)
        asked, answered, code = _steps(served, record, formats)
        run = served.run
        is_over = run.exit_at_ms is not None and run.exit_at_ms <= served.world.loop.now_ms
        if code is None and run.exit_at_ms is not None and (is_over or not record.get("stopped_by")):
            code = run.exit_code
        elif code is None and record.get("stopped_by"):
            code = served.signal(record["stopped_by"].removeprefix("SIG"))
            if code is None:
                served.wait(family.grace_ms)
                code = served.signal("KILL")
        wanted: dict[str, Any] = {"exit": record["exit"], "replies": asked}
        got: dict[str, Any] = {"exit": code, "replies": answered}
        if "log" not in record:
            # A client's record: the streams are texts.
            for stream in ("stdout", "stderr"):
                text = "".join(f"{line.text}\n" for line in served.log() if line.stream == stream)
                if not record[stream].endswith("\n"):
                    text = text.removesuffix("\n")  # a log has whole lines only
                wanted[stream] = record[stream]
                got[stream] = record[stream] if _is_same(family, record[stream], text, formats) else text
            return Comparison(wanted, got)
        for stream in ("stdout", "stderr"):
            lines = [
                line.text
                for line in served.log()
                if line.stream == stream
                and line.at_ms <= served.world.loop.now_ms
                and not any(word in line.text for word in (*family.drops, *family.by_chance))
            ]
            wanted[stream] = [
                text
                for text in _recorded(record, stream)
                if not any(word in text for word in family.by_chance)
            ]
            # A child's lines and its parent's each keep their order.
            wanted[stream].sort(key=family.is_child)
            lines.sort(key=family.is_child)
            got[stream] = _aligned(family, wanted[stream], lines, formats)
        return Comparison(wanted, got)

    return judge
