"""agnhost: the test image of Kubernetes; netexec, serve-hostname and pause are modelled."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from env_core.programs._commands import FOREVER_MS, final_argv, launch
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Exit, Image, Launch, Line, Program, Request, Served, Upstream
from env_core.programs._web import go_reply, http, option

IMAGES: Final = tuple(
    Image(
        repository=repository, tags=("2.57", "2.56", "2.55", "2.53", "2.52", "2.47", "2.45", "2.43", "2.40", "2.39", "2.33"),
        size_bytes=53_012_771, entrypoint=("/agnhost",), command=("pause",),
        binaries=("agnhost", "curl", "dig", "host", "nslookup", "iperf", "jq", "bash"), base="alpine", files={"/agnhost": ""},
    )
    for repository in ("registry.k8s.io/e2e-test-images/agnhost", "k8s.gcr.io/e2e-test-images/agnhost")
)  # fmt: skip


def _command(argv: tuple[str, ...]) -> str:
    return next((word for word in argv[1:] if not word.startswith("-")), "pause")


def _port(argv: tuple[str, ...]) -> int:
    default = "8080" if _command(argv) == "netexec" else "9376"
    text = option(argv, "http-port", option(argv, "port", default))
    return int(text) if text.isdigit() else int(default)


def _server(_container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "agnhost":
        return None
    command = _command(argv)
    if command == "pause":
        return Launch(log=(Line(15, "Paused", "stdout"),), memory_bytes=5 << 20, stop_ms=20, stop_code=0)
    if command in ("netexec", "serve-hostname"):
        port = _port(argv)
        text = f"Started HTTP server on port {port}" if command == "netexec" else "Serving on port 9376."
        return Launch(
            listeners=(http(port, 20),),
            log=(Line(20, text, "stderr"),),
            memory_bytes=8 << 20,
            stop_ms=FOREVER_MS,
            stop_code=137,
        )
    text = f'Error: unknown command "{command}" for "app"'
    return Launch(log=(Line(15, text, "stderr"),), exit=Exit(after_ms=20, code=1))


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    path, _, query = request.path.partition("?")
    if _command(final_argv(container)) == "serve-hostname" or path == "/hostname":
        return Served(reply=go_reply(upstream, container.pod))
    if path == "/clientip":
        return Served(reply=go_reply(upstream, f"{request.source_ip}:43210"))
    if path == "/echo":
        return Served(reply=go_reply(upstream, parse_qs(query).get("msg", [""])[0]))
    if path in ("/healthz", "/"):
        body = "" if path == "/healthz" else f"NOW: {upstream.now_ms}"
        return Served(reply=go_reply(upstream, body))
    if path == "/shutdown":
        return Served(reply=go_reply(upstream, ""))
    return Served(reply=go_reply(upstream, "404 page not found\n", 404))


PROGRAM = Program(
    name="agnhost",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://github.com/kubernetes/kubernetes/tree/master/test/images/agnhost",
)
