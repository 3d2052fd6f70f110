"""traefik/whoami: tells who answers and what was asked."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import final_argv, launch
from env_core.programs._http import header, slash_date
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Image, Launch, Line, Program, Request, Served, Upstream
from env_core.programs._web import go_reply, http, option

IMAGES: Final = tuple(
    Image(
        repository=repository, tags=("latest", "v1.11", "v1.11.0", "v1.10", "v1.10.4", "v1.10.3", "v1.9", "v1.8", "v1.8.7"),
        size_bytes=2_821_300, entrypoint=("/whoami",), binaries=("whoami",), base="distroless", files={"/whoami": ""},
    )
    for repository in ("traefik/whoami", "containous/whoami")
)  # fmt: skip


def _port(container: Container) -> int:
    text = option(final_argv(container), "port", container.env.get("WHOAMI_PORT_NUMBER", "80"))
    return int(text) if text.isdigit() else 80


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "whoami":
        return None
    port = _port(container)
    line = Line(15, f"{slash_date(container.started_ms + 15)} Starting up on port {port}", "stderr")
    return Launch(listeners=(http(port, 15),), log=(line,), memory_bytes=3 << 20, stop_ms=30, stop_code=2)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    path = request.path.partition("?")[0]
    if path == "/health":
        return Served(reply=go_reply(upstream, "", 200))
    shown = [
        (name.title(), value)
        for name, value in request.headers.items()
        if not name.startswith(":") and name.lower() != "host"
    ]
    lines = [
        f"Hostname: {container.pod}",
        "IP: 127.0.0.1",
        "IP: ::1",
        f"IP: {container.pod_ip}",
        f"RemoteAddr: {request.source_ip}:43210",
        f"{request.method} {request.path} HTTP/1.1",
        f"Host: {header(request, 'Host') or request.host}",
        *(f"{name}: {value}" for name, value in sorted(shown)),
        "",
    ]
    return Served(reply=go_reply(upstream, "\n".join(lines) + "\n"))


PROGRAM = Program(
    name="whoami",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://github.com/traefik/whoami",
)
