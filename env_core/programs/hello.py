"""nginxdemos/hello: a page that tells the server's name and address."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import launch
from env_core.programs._http import access_date, header, header_date, moment, month_name
from env_core.programs._images import canonical, image_or_first
from env_core.programs._model import Container, Image, Launch, Line, Program, Reply, Request, Served, Upstream
from env_core.programs._web import http

IMAGES: Final = (
    Image(
        repository="nginxdemos/hello", tags=("latest", "plain-text", "0.4", "0.4-plain-text", "0.3", "0.3-plain-text", "0.2"),
        size_bytes=19_540_006, entrypoint=("/docker-entrypoint.sh",), command=("nginx", "-g", "daemon off;"),
        binaries=("nginx", "curl", "envsubst"), base="alpine", files={"/docker-entrypoint.sh": "#!/bin/sh\n"},
    ),
)  # fmt: skip


def _server(_container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "nginx":
        return None
    return Launch(listeners=(http(80, 60),), memory_bytes=5 << 20, stop_ms=60, stop_code=0)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    now_ms = upstream.now_ms
    at = moment(now_ms)
    date = f"{at.day:02d}/{month_name(at.month)}/{at.year}:{at:%H:%M:%S} +0000"
    lines = (
        f"Server address: {container.pod_ip}:80",
        f"Server name: {container.pod}",
        f"Date: {date}",
        f"URI: {request.path}",
        f"Request ID: {now_ms:032x}",
    )
    if "plain" in canonical(container.image)[1]:
        kind, body = "text/plain", "\n".join(lines) + "\n"
    else:
        rows = "".join(f"<p><span>{line}</span></p>\n" for line in lines)
        kind, body = (
            "text/html",
            f"<!DOCTYPE html>\n<html>\n<head>\n<title>Hello World</title>\n</head>\n<body>\n{rows}</body>\n</html>\n",
        )
    headers = (
        ("Server", "nginx/1.27.5"), ("Date", header_date(now_ms)), ("Content-Type", kind),
        ("Content-Length", str(len(body))), ("Connection", "keep-alive"),
        ("Expires", header_date(now_ms - 1000)), ("Cache-Control", "no-cache"),
    )  # fmt: skip
    line = (
        f'{request.source_ip} - - [{access_date(now_ms)}] "{request.method} {request.path} HTTP/1.1" 200 {len(body)} '
        f'"{header(request, "Referer", "-")}" "{header(request, "User-Agent", "-")}" "{header(request, "X-Forwarded-For", "-")}"'
    )
    return Served(
        reply=Reply(status=200, headers=headers, body=body, latency_ms=1), log=(Line(now_ms, line),)
    )


PROGRAM = Program(
    name="hello",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://github.com/nginx/NGINX-Demos (nginx-hello)",
)
