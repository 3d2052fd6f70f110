"""CoreDNS: the cluster's name server; what it answers is computed by the data plane from its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha512
from typing import Final

from env_core.programs import _corefile
from env_core.programs._commands import final_argv, launch
from env_core.programs._corefile_plugins import DIRECTIVES
from env_core.programs._corefile_words import NODE_RESOLVER
from env_core.programs._http import PORT
from env_core.programs._images import canonical, image_or_first
from env_core.programs._memo import per_container
from env_core.programs._model import (
    EMPTY,
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Served,
    Upstream,
)
from env_core.programs._web import go_reply, option
from env_core.sim.timefmt import go_duration, parse_go_duration

HEALTH_PORT: Final = 8080
READY_PORT: Final = 8181
METRICS_PORT: Final = 9153
LOOP_QUERY: Final = "4547991504243258144.3688648895315093531."
"""A query of the loop plugin; the numbers are drawn at each start."""
_WAITING_EACH_MS: Final = 500
_TAGS: Final = (
    "v1.12.4",
    "v1.12.3",
    "v1.12.2",
    "v1.12.1",
    "v1.12.0",
    "v1.11.4",
    "v1.11.3",
    "v1.11.1",
    "v1.10.1",
    "v1.13.1",
    "v1.14.0",
)


def _image(repository: str, tags: tuple[str, ...]) -> Image:
    return Image(
        repository=repository, tags=tags, size_bytes=20_939_036, entrypoint=("/coredns",), binaries=("coredns",),
        base="distroless", files={"/coredns": ""},
    )  # fmt: skip


IMAGES: Final = (
    _image("registry.k8s.io/coredns/coredns", _TAGS),
    _image("coredns/coredns", ("latest", *(tag.removeprefix("v") for tag in _TAGS))),
)


@dataclass(frozen=True, slots=True)
class Build:
    """What a binary says of itself, and the plugins that it was built with."""

    version: str
    go: str = "go1.24.1"
    revision: str = "707c7c1"
    plugins: frozenset[str] = DIRECTIVES

    @property
    def release(self) -> tuple[int, int]:
        """The release, for what differs between them."""
        major, minor, *_ = (*self.version.split("."), "0", "0")
        return int(major), int(minor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a start yields: lines by stream, the servers, and the exit code if it ends at once."""

    lines: tuple[tuple[str, str], ...]
    zones: tuple[_corefile.Zone, ...] = ()
    code: int | None = None
    wait_ms: int = 0
    """How long it waited for the Kubernetes API before it served."""


def start(
    path: str, text: str | None, *, build: Build, files: Mapping[str, str], env: Mapping[str, str],
    name_server: str = NODE_RESOLVER, own_address: str = "", has_api: bool = True,
    taken: tuple[str, ...] = (),
) -> Start:  # fmt: skip
    """Start CoreDNS with a Corefile (None: the file is not there).

    `taken` are the ports that others listen on ("udp :53").

    Source: github.com/coredns/coredns coremain/run.go, core/dnsserver; tests/golden/promql/coredns,
    tests/golden/programs/coredns.
    """
    lines: list[tuple[str, str]] = [("stdout", "maxprocs: Leaving GOMAXPROCS=4: CPU quota undefined")]
    if text is None:
        return _failed(lines, f"loading Caddyfile via flag: open {path}: no such file or directory")
    try:
        zones, imports, warnings = _corefile.read(
            path, text, tuple(files.items()), tuple(env.items()), build.release, name_server, build.plugins
        )
    except _corefile.CorefileProblem as problem:
        return _failed(lines, problem.text)
    lines += [("stdout", warning) for warning in (*imports, *warnings)]
    wait_ms = 0
    for zone in zones:
        if zone.has("kubernetes") and not has_api and not wait_ms:
            wait_ms = zone.facts.startup_ms
            turns = max((wait_ms - 1) // _WAITING_EACH_MS, 0)
            lines += [
                ("stdout", "[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server")
            ] * turns
            lines.append(
                ("stdout", "[WARNING] plugin/kubernetes: starting server with unsynced Kubernetes API")
            )
    for zone in zones:
        for protocol, what in (("tcp", "Listen"), ("udp", "ListenPacket")):
            if f"{protocol} :{zone.port}" in taken:
                return _failed(lines, f"{what}: listen {protocol} :{zone.port}: bind: address already in use")
    served = sorted(zones, key=lambda zone: (zone.port, zone.name))
    lines += [("stdout", f"{_scheme(zone)}{zone.name}:{zone.port}") for zone in served]
    if any(zone.has("reload") for zone in zones):
        # The plugin reads the file once more for its sum.
        lines += [("stdout", warning) for warning in imports]
        lines.append(("stdout", reloaded(text)))
    lines.append(("stdout", f"CoreDNS-{build.version}"))
    lines.append(("stdout", f"linux/amd64, {build.go}, {build.revision}"))
    looping = next((zone for zone in zones if zone.has("loop") and _is_looping(zone, own_address)), None)
    if looping is not None:
        lines.append(("stdout", _loop(looping)))
        return Start(lines=tuple(lines), zones=zones, code=1, wait_ms=wait_ms)
    return Start(lines=tuple(lines), zones=zones, wait_ms=wait_ms)


def _failed(lines: list[tuple[str, str]], problem: str) -> Start:
    return Start(lines=(*lines, *(("stderr", line) for line in problem.split("\n"))), code=1)


def reloaded(text: str) -> str:
    """Return the reload plugin's line about the Corefile in use."""
    return f"[INFO] plugin/reload: Running configuration SHA512 = {sha512(text.encode()).hexdigest()}"


def reloading(start_of: Start, text: str) -> tuple[str, ...]:
    """Return what is logged when the Corefile has changed to one that starts as given.

    Source: tests/golden/programs/coredns (coredns.reload.*), tests/golden/promql/coredns (run/reload-good).
    """
    if start_of.code is not None:
        problem = start_of.lines[-1][1]
        return (
            "[INFO] Reloading",
            f"[ERROR] Restart failed: {problem}",
            f"[ERROR] plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: {problem}",
        )
    return "[INFO] Reloading", reloaded(text), "[INFO] Reloading complete"


def stopping(zones: tuple[_corefile.Zone, ...]) -> tuple[str, ...]:
    """Return what SIGTERM makes CoreDNS log."""
    lines = ["[INFO] SIGTERM: Shutting down servers then terminating"]
    lame = next((zone.facts.lameduck for zone in zones if zone.facts.lameduck), "")
    if lame:
        lines.append(
            f"[INFO] plugin/health: Going into lameduck mode for {go_duration(parse_go_duration(lame))}"
        )
    return tuple(lines)


def not_ready(waiting: list[str], release: tuple[int, int]) -> tuple[str, ...]:
    """Return what /ready logs when it answers 503; `waiting` are the plugins that are not ready."""
    if not waiting:
        return ()
    what = "Still waiting on" if release < _corefile.HOSTNAMES_SINCE else "Plugins not ready"
    return (f'[INFO] plugin/ready: {what}: "{",".join(waiting)}"',)


def _scheme(zone: _corefile.Zone) -> str:
    return "" if zone.transport == "dns" else f"{zone.transport}://"


def _is_looping(zone: _corefile.Zone, own_address: str) -> bool:
    for each in zone.forwards:
        host, _, port = each.rpartition("://")[2].rpartition(":")
        if port == str(zone.port) and (host.startswith("127.") or (own_address and host == own_address)):
            return True
    return False


def is_flooding(zone: _corefile.Zone, own_address: str) -> bool:
    """Whether queries go round in a server that forwards to itself without the loop plugin."""
    return not zone.has("loop") and _is_looping(zone, own_address)


def _loop(zone: _corefile.Zone) -> str:
    return (
        f'[FATAL] plugin/loop: Loop (127.0.0.1:43210 -> :{zone.port}) detected for zone "{zone.name}", see'
        f' https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO {LOOP_QUERY}"'
    )


def _path(argv: tuple[str, ...]) -> str:
    return option(argv, "conf", "Corefile")


def build_of(reference: str) -> Build:
    """Return what the binary of an image is."""
    version = canonical(reference)[1].removeprefix("v")
    return Build(version if version[:1].isdigit() else "1.12.1")


def _environment(container: Container) -> Mapping[str, str]:
    return {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443", **container.env}


def _begun(container: Container, argv: tuple[str, ...]) -> Start:
    path = _path(argv)
    text = container.files.get(path)
    if text is None and "-conf" not in argv:
        text = ""
    files = {name: each for name, each in container.files.items() if not name.startswith("/var/run/secrets/")}
    return start(
        path, text, build=build_of(container.image), files=files, env=_environment(container), own_address=container.pod_ip
    )  # fmt: skip


@per_container
def zones(container: Container) -> tuple[_corefile.Zone, ...]:
    """Return the server blocks that a running CoreDNS serves."""
    path = _path(final_argv(container))
    directory = path.rpartition("/")[0]
    files = tuple(item for item in container.files.items() if item[0].startswith(directory))
    env = tuple(_environment(container).items())
    try:
        return _corefile.read(
            path, container.files.get(path, ""), files, env, build_of(container.image).release, NODE_RESOLVER
        )[0]
    except _corefile.CorefileProblem:
        return ()


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "coredns":
        return None
    begun = _begun(container, argv)
    log = tuple(
        Line(30 if index == 0 else 80 + begun.wait_ms, text, stream)
        for index, (stream, text) in enumerate(begun.lines)
    )
    if begun.code is not None:
        after_ms = 260 if begun.zones else 70
        return Launch(log=log, exit=Exit(after_ms=after_ms, code=begun.code), memory_bytes=14 << 20)
    ports = {zone.port: "dns" for zone in begun.zones}
    lame_ms = 0
    for zone in begun.zones:
        for address in (zone.facts.health, zone.facts.ready, zone.facts.metrics):
            if address and address.rpartition(":")[2].isdigit():
                ports[int(address.rpartition(":")[2])] = "http"
        if zone.facts.lameduck:
            lame_ms = parse_go_duration(zone.facts.lameduck)
    return Launch(
        listeners=tuple(
            Listener(port=port, protocol=protocol, after_ms=120) for port, protocol in ports.items()
        ),
        log=log,
        memory_bytes=14 << 20,
        cpu_millis=3,
        stop_ms=50 + lame_ms,
        stop_code=0,
    )


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    port = int(request.headers.get(PORT, "0"))
    path = request.path.partition("?")[0]
    if request.protocol != "http":
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    if port == HEALTH_PORT and path == "/health":
        return Served(reply=go_reply(upstream, "OK"))
    if port == READY_PORT and path == "/ready":
        return Served(reply=go_reply(upstream, "OK"))
    if port == METRICS_PORT and path == "/metrics":
        version = canonical(container.image)[1].removeprefix("v")
        body = (
            "# HELP coredns_build_info A metric with a constant '1' value labeled by version, revision, and goversion.\n"
            "# TYPE coredns_build_info gauge\n"
            f'coredns_build_info{{goversion="go1.24.1",revision="707c7c1",version="{version}"}} 1\n'
        )
        return Served(reply=go_reply(upstream, body, 200, "text/plain; version=0.0.4; charset=utf-8"))
    return Served(reply=go_reply(upstream, "404 page not found\n", 404))


PROGRAM = Program(
    name="coredns",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    is_steady=lambda _container, _request: True,
    source="https://github.com/coredns/coredns; tests/golden/programs/coredns",
    unrecorded="releases between 1.12 and 1.15: what they log of their own answers, whether forward takes host names",
)
