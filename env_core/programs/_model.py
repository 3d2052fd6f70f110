"""The declarations of programs and images, and what containers, requests and replies are to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

# Failures of a connection or a request, as a client's operating system tells them apart.
NXDOMAIN = "nxdomain"
DNS_TIMEOUT = "dns-timeout"
SERVFAIL = "servfail"
REFUSED = "refused"
TIMEOUT = "timeout"
UNREACHABLE = "unreachable"
FILTERED = "filtered"
"""An ICMP answer says that a filter forbids it."""
NETWORK_UNREACHABLE = "network-unreachable"
"""There is no route at all."""
RESET = "reset"
EMPTY = "empty-reply"
ADDRESS: Final = ":address"
"""Pseudo header of the reply to a look-up: one of the addresses, of several in their order."""


class Mount(NamedTuple):
    """A volume, or a directory of one, that a container may write to."""

    volume: str
    """What tells it from all other volumes, whichever claim leads to it."""
    claim: str = ""
    """namespace/name of the claim that leads to it; "" for a volume without one."""
    below: str = ""
    """The directory of the volume that is mounted; "" for all of it."""


_NO_MOUNTS: Final[Mapping[str, Mount]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container as its program sees it: immutable for one run."""

    namespace: str
    pod: str
    pod_uid: str
    name: str
    image: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    """Mounted files by absolute path, as they were when the container started."""
    pod_ip: str
    node: str
    cpu_limit_millis: int | None
    cpu_request_millis: int
    memory_limit_bytes: int | None
    started_ms: int
    restarts: int
    user: int = 0
    is_root_read_only: bool = False
    mounts: Mapping[str, Mount] = field(default_factory=lambda: _NO_MOUNTS)
    """Volumes for data by mount path."""


class Line(NamedTuple):
    """One line of a container's log. `at_ms` counts from the start of the run in a Launch, and is absolute in a log."""

    at_ms: int
    text: str
    stream: str = "stdout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a container ends by itself."""

    after_ms: int
    code: int
    reason: str = ""
    """"" for the runtime's default (Completed for 0, Error otherwise); "OOMKilled", "StartError", …"""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """How a TLS server shakes hands."""

    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    """What it speaks, oldest first."""
    protocols: tuple[str, ...] = ("http/1.1",)
    """What it accepts by ALPN, best first."""
    client_authorities: str = ""
    """Whose client certificates it asks for, as PEM; "" when it asks for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A port that a program opens. `protocol` is what it speaks: http, https, redis, postgres, amqp, tcp, grpc."""

    port: int
    protocol: str = "tcp"
    after_ms: int = 0
    """Open from so long after the start of the run."""
    certificate: str = ""
    """What a TLS server (protocol "https") shows, as PEM."""
    tls: Tls = Tls()
    is_local: bool = False
    """Whether it accepts connections from its own pod only (bound to the loopback address)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a program writes under a path, so long after its start."""

    path: str
    size_bytes: int
    after_ms: int = 0


class Fill(NamedTuple):
    """What a program goes on writing to a directory for as long as it runs: a log, or a database's journal."""

    path: str
    bytes_per_s: int
    bytes_max: int
    """What it keeps of it: the oldest parts go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a program does when its container starts."""

    listeners: tuple[Listener, ...] = ()
    log: tuple[Line, ...] = ()
    exit: Exit | None = None
    memory_bytes: int = 8 << 20
    processes: int = 1
    """How many processes it runs as, threads not counted."""
    growth_bytes_per_s: int = 0
    """How fast the resting use grows: a cache that fills, or a leak. Over the limit the kernel kills the process."""
    growth_bytes_max: int = 0
    """By how much at most; 0 for without end."""
    disk_bytes: int = 36 << 10
    """In its container's own layer from the start."""
    written: tuple[Written, ...] = ()
    fills: Fill | None = None
    cpu_millis: int = 1
    """At rest."""
    stop_ms: int = 150
    """From SIGTERM to the end of the process; more than the grace period means SIGKILL."""
    stop_code: int = 0
    live: tuple[str, ...] = ()
    """What runs as time goes, for its output depends on the network: an argv of the image's own clients and shell."""
    create_error: str = ""
    """The runtime cannot start it (command not in the image): the text after `failed to create …`; then nothing else counts."""


_NO_HEADERS: Final[Mapping[str, str]] = {}


class Request(NamedTuple):
    """One request to a listening port. For protocols other than HTTP, `body` is the command."""

    method: str = "GET"
    path: str = "/"
    host: str = ""
    headers: Mapping[str, str] = _NO_HEADERS
    body: str = ""
    source_ip: str = ""
    protocol: str = "http"
    timeout_ms: int = 0
    """How long the caller waits; 0 for no limit."""


class Lookup(NamedTuple):
    """The look-up of a name that failed."""

    server: str
    """The name server that was asked, "" when none was."""
    is_refused: bool
    """Whether nothing listens there."""


class Reply(NamedTuple):
    """The answer to a request, or why there is none (`failure`, one of the constants of this module)."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    latency_ms: int = 0
    """From the caller's first packet to the last byte, or to the failure."""
    failure: str = ""
    detail: str = ""

    @property
    def lookup(self) -> Lookup | None:
        """The look-up that failed, None when it was something else."""
        phase, server, word, *_ = (*self.detail.split(" "), "", "")
        return Lookup(server, word == "refused") if phase == "dns" else None

    @property
    def is_ok(self) -> bool:
        """Whether an HTTP answer of the 2xx class (or any answer of another protocol) came."""
        return not self.failure and (self.status == 0 or 200 <= self.status < 300)


END_OF_TIME_MS: Final = 1 << 60
"""A moment that never comes."""


class Served(NamedTuple):
    """What serving one request did to the container."""

    reply: Reply
    log: tuple[Line, ...] = ()
    cpu_ms: int = 0
    """CPU time of the container itself. The data plane stretches it by the CPU limit and adds it to the latency."""
    memory_bytes: int = 0
    """Peak above the resting use; over the limit the container is OOM-killed and the reply is lost."""
    kept_bytes: int = 0
    """What the process keeps of that for good: a leak, request by request."""
    work: int = 0
    """What answering cost the simulator beyond the usual, in units of about a microsecond."""
    ends: int | None = None
    """The code with which the program dies of the request; None when it lives on."""
    ends_after_ms: int = 0
    """So long after the reply."""
    lasts_until_ms: int = 0
    """Until when the same request brings the same if nothing in the world changes, what it asks of others apart; 0 for not."""


class Upstream(Protocol):
    """How a serving program reaches others; time it spends there is in the replies' latency."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, when the request arrived."""

    @property
    def clock_ms(self) -> int:
        """What the clock of the container's machine shows then."""

    def request(self, host: str, port: int, request: Request) -> Reply:
        """Send a request as the container and return the reply (DNS, policies and all)."""

    def resolve(self, host: str) -> Reply:
        """Look a name up as the container; the reply's `failure` says why it has no address, its body the first one, its headers
        (`ADDRESS`) all of them.
        """

    def ask(self, name: str, server: str) -> Reply:
        """Look a whole name up at one name server, as programs with a resolver of their own do; as `resolve` else."""

    def certificate(self, host: str, port: int) -> str:
        """Return what a TLS server shows to the container, as PEM; "" when none answers."""

    def state(self) -> dict[str, str]:
        """Return the container's own durable-for-the-run memory (a copy)."""

    def remember(self, state: dict[str, str]) -> None:
        """Replace the container's memory."""

    def stored(self, path: str) -> Mapping[str, str]:
        """Return what a directory of the container keeps on disk, by name; not to be changed.

        On a volume it outlasts the container, else it goes with it.
        """

    def store(self, path: str, rows: Mapping[str, str]) -> None:
        """Replace what a directory of the container keeps on disk."""

    def free_bytes(self, path: str) -> int | None:
        """Return what is left of the volume on which a path lies, None where no size is known."""

    def has_peer(self, address: str) -> bool:
        """Whether the host at an address is still there; the connections of one that is gone are closed."""

    def takes_ms(self, cpu_ms: int) -> int:
        """Return how long the container needs for so much CPU time, under its limit and beside what else it is asked for."""

    def telemetry(self, path: str, form: str) -> tuple[int, str, str]:
        """Ask what monitors the cluster; return status, body and content type."""


def serve_nothing(_container: Container, _request: Request, _upstream: Upstream) -> Served:
    """Accept and close: what programs without a protocol of their own do."""
    return Served(reply=Reply(failure=EMPTY))


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A container image that the simulated registries hold."""

    repository: str
    """Canonical, without registry defaults: "nginx", "ghcr.io/acme/shop"."""
    tags: tuple[str, ...]
    size_bytes: int
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    binaries: tuple[str, ...] = ()
    """Commands that `exec` finds in it, beside the shell built-ins of its base."""
    base: str = "debian"
    """debian, alpine, distroless (no shell at all)."""
    files: Mapping[str, str] = field(default_factory=dict)
    user: int = 0


class Signalled(NamedTuple):
    """What a signal does to a program."""

    log: tuple[Line, ...] = ()
    """With absolute times."""
    code: int | None = None
    """The code with which it ends; None when it goes on."""
    memory: Mapping[str, str] | None = None
    """What it remembers after it; None for what it did before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A declared behaviour: what it listens on, needs, uses, logs, and how it fails.

    `runs` says whether it is what a container's argv starts (the first match in module order wins among
    the programs that know the image). `launch` is evaluated at container start, `serve` at each request.
    """

    name: str
    images: tuple[Image, ...]
    runs: Callable[[Container], bool]
    launch: Callable[[Container], Launch]
    serve: Callable[[Container, Request, Upstream], Served] = serve_nothing
    starts: Callable[[Container, Launch, Upstream], Launch] | None = None
    """What becomes of a launch by what the container reaches then: names that must resolve, servers that must answer."""
    signalled: Callable[[Container, str, int, Mapping[str, str]], Signalled | None] | None = None
    """What a signal ("TERM", "HUP") at a moment in milliseconds does, by what the container remembers; None for the default of
    the Launch."""
    touched: Callable[[Container, str, int], tuple[Line, ...]] | None = None
    """What it logs of a connection from an address, at a moment in milliseconds, over which nothing comes."""
    filled: Callable[[Container, int], Signalled] | None = None
    """What the end of its disk space does to it at a moment in milliseconds; None when it goes on."""
    processes: Callable[[Container], tuple[str, ...]] | None = None
    """Command lines for `ps`, PID 1 first; the argv when None."""
    is_steady: Callable[[Container, Request], bool] = lambda _container, _request: False
    """Whether the answer to a request cannot change during the run (static files): probes need not repeat it."""
    rereads_files: bool = False
    """Whether it opens mounted files when it needs them, so that it sees them refreshed; else it goes on with what it has loaded."""
    source: str
    unrecorded: str = ""
    """Which part no recording vouches for."""
