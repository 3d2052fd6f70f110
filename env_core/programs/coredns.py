"""CoreDNS: the cluster's name server; what it answers is computed by the data plane from its configuration."""

from __future__ import annotations

from hashlib import sha512
from typing import Final

from env_core.programs import _corefile
from env_core.programs._commands import final_argv, launch
from env_core.programs._http import PORT
from env_core.programs._images import canonical, image_or_first
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

HEALTH_PORT: Final = 8080
READY_PORT: Final = 8181
METRICS_PORT: Final = 9153
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


def _path(argv: tuple[str, ...]) -> str:
    return option(argv, "conf", "Corefile")


def zones(container: Container) -> tuple[_corefile.Zone, ...]:
    """Return the server blocks that a running CoreDNS serves."""
    path = _path(final_argv(container))
    try:
        return _corefile.read(path, container.files.get(path, ""))[0]
    except _corefile.CorefileProblem:
        return ()


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "coredns":
        return None
    path = _path(argv)
    first = Line(30, "maxprocs: Leaving GOMAXPROCS=4: CPU quota undefined")
    text = container.files.get(path)
    if text is None:
        if "-conf" in argv:
            problem = f"loading Caddyfile via flag: open {path}: no such file or directory"
            return _failed(first, problem)
        text = ".:53 {\n whoami\n log\n}\n"
    try:
        found, warnings = _corefile.read(path, text)
    except _corefile.CorefileProblem as problem:
        return _failed(first, problem.text)
    version = canonical(container.image)[1].removeprefix("v")
    log = [first, *(Line(60, warning) for warning in warnings)]
    log += [Line(80, f"{zone.name}:{zone.port}") for zone in found]
    log += [
        Line(80, f"[INFO] plugin/reload: Running configuration SHA512 = {sha512(text.encode()).hexdigest()}"),
        Line(80, f"CoreDNS-{version if version[:1].isdigit() else '1.12.1'}"),
        Line(80, "linux/amd64, go1.24.1, 707c7c1"),
    ]
    looping = next(
        (zone for zone in found if zone.has_loop and any(_is_own(container, each) for each in zone.forwards)),
        None,
    )
    if looping is not None:
        text = (
            f'[FATAL] plugin/loop: Loop (127.0.0.1:43210 -> :{looping.port}) detected for zone "{looping.name}", see'
            ' https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 4547991504243258144.3688648895315093531."'
        )
        return Launch(log=(*log, Line(250, text)), exit=Exit(after_ms=260, code=1), memory_bytes=14 << 20)
    ports = {zone.port: "dns" for zone in found}
    if any(zone.has_health for zone in found):
        ports[HEALTH_PORT] = "http"
    if any(zone.has_ready for zone in found):
        ports[READY_PORT] = "http"
    if "prometheus" in text:
        ports[METRICS_PORT] = "http"
    return Launch(
        listeners=tuple(
            Listener(port=port, protocol=protocol, after_ms=120) for port, protocol in ports.items()
        ),
        log=tuple(log),
        memory_bytes=14 << 20,
        cpu_millis=3,
        stop_ms=5_050 if "lameduck 5s" in text else 60,
        stop_code=0,
    )


def _is_own(container: Container, address: str) -> bool:
    host = address.partition(":")[0]
    return host.startswith("127.") or (bool(container.pod_ip) and host == container.pod_ip)


def _failed(first: Line, problem: str) -> Launch:
    return Launch(
        log=(first, Line(60, problem, "stderr")), exit=Exit(after_ms=70, code=1), memory_bytes=14 << 20
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
)
