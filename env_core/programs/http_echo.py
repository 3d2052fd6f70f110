"""hashicorp/http-echo: answers every request with one text."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import final_argv, launch
from env_core.programs._http import header, slash_date
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Exit, Image, Launch, Line, Program, Request, Served, Upstream
from env_core.programs._web import TEXT, go_reply, http, option, port_of

IMAGES: Final = (
    Image(
        repository="hashicorp/http-echo", tags=("latest", "1.0", "1.0.0", "0.2.3", "0.2.2", "alpine"), size_bytes=2_941_083,
        entrypoint=("/http-echo",), binaries=("http-echo",), base="distroless", files={"/http-echo": ""},
    ),
)  # fmt: skip


def _text(container: Container, argv: tuple[str, ...]) -> str:
    return option(argv, "text", container.env.get("ECHO_TEXT", ""))


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "http-echo":
        return None
    if not _text(container, argv):
        line = Line(20, "Missing -text option!", "stderr")
        return Launch(log=(line,), exit=Exit(after_ms=30, code=127))
    port = port_of(option(argv, "listen", ":5678"), 5678)
    stamp = slash_date(container.started_ms + 20)
    line = Line(20, f"{stamp} [INFO] server is listening on :{port}", "stderr")
    return Launch(listeners=(http(port, 20),), log=(line,), memory_bytes=3 << 20, stop_ms=30, stop_code=0)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    reply = go_reply(
        upstream,
        _text(container, final_argv(container)) + "\n",
        200,
        TEXT,
        ("X-App-Name", "http-echo"),
        ("X-App-Version", "1.0.0"),
    )
    stamp = slash_date(upstream.now_ms)
    line = (
        f'{stamp} {header(request, "Host") or request.host} {request.source_ip}:43210 "{request.method} {request.path} HTTP/1.1" '
        f'200 {len(reply.body)} "{header(request, "User-Agent")}" 21.3µs'
    )
    return Served(reply=reply, log=(Line(upstream.now_ms, line),))


PROGRAM = Program(
    name="http-echo",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    is_steady=lambda _container, _request: True,
    source="https://github.com/hashicorp/http-echo",
)
