"""Base images without a server of their own: busybox, Alpine, Debian, Ubuntu, curl, netshoot; they run commands."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import FOREVER_MS, launch
from env_core.programs._http import header_date
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Image, Launch, Program, Reply, Request, Served, Upstream
from env_core.programs._web import http, option

_BUSYBOX_TAGS: Final = (
    "latest",
    "stable",
    "1",
    "1.37",
    "1.37.0",
    "1.36",
    "1.36.1",
    "1.35",
    "1.35.0",
    "1.34",
    "1.33",
    "1.32",
    "1.31",
    "1.30",
    "1.28",
    "1.28.4",
)
_ALPINE_TAGS: Final = (
    "latest",
    "3",
    "3.23",
    "3.22",
    "3.22.2",
    "3.21",
    "3.21.5",
    "3.20",
    "3.20.8",
    "3.19",
    "3.19.9",
    "3.18",
    "3.17",
    "3.16",
    "edge",
)

IMAGES: Final = (
    Image(
        repository="busybox", tags=(*_BUSYBOX_TAGS, *(f"{tag}-{libc}" for tag in _BUSYBOX_TAGS for libc in ("musl", "glibc", "uclibc"))),
        size_bytes=2_156_518, command=("sh",), base="alpine",
    ),
    Image(repository="alpine", tags=_ALPINE_TAGS, size_bytes=3_807_243, command=("/bin/sh",), base="alpine"),
    Image(
        repository="debian",
        tags=(
            "latest", "stable", "stable-slim", "trixie", "trixie-slim", "bookworm", "bookworm-slim", "bullseye", "bullseye-slim",
            "13", "13-slim", "12", "12-slim", "12.12", "11", "11-slim", "sid", "sid-slim",
        ),
        size_bytes=48_480_312, command=("bash",), base="debian",
    ),
    Image(
        repository="ubuntu",
        tags=("latest", "24.04", "22.04", "20.04", "noble", "jammy", "focal", "25.10", "rolling"), size_bytes=29_724_688,
        command=("/bin/bash",), base="debian",
    ),
    Image(
        repository="curlimages/curl",
        tags=("latest", "8.17.0", "8.16.0", "8.15.0", "8.14.1", "8.12.1", "8.11.1", "8.10.1", "8.9.1", "8.8.0", "8.7.1", "8.5.0", "8.00.1"),
        size_bytes=9_800_123, entrypoint=("/entrypoint.sh",), command=("curl",), binaries=("curl",), base="alpine",
        files={"/entrypoint.sh": "#!/bin/sh\n"}, user=100,
    ),
    Image(
        repository="nicolaka/netshoot", tags=("latest", "v0.14", "v0.13", "v0.12", "v0.11"), size_bytes=201_190_003, command=("zsh",),
        binaries=(
            "bash", "curl", "dig", "host", "nslookup", "redis-cli", "jq", "tcpdump", "iperf3", "ss", "nmap", "openssl", "drill",
            "mtr", "socat", "zsh", "httpie", "http", "getent", "ping", "wget", "nc", "fortio",
        ),
        base="alpine",
    ),
    Image(
        repository="registry.k8s.io/e2e-test-images/busybox", tags=("1.29-4", "1.29-2", "1.37.0-1", "1.36.1-1"), size_bytes=735_432,
        command=("sh",), base="alpine",
    ),
    Image(
        repository="registry.k8s.io/e2e-test-images/jessie-dnsutils", tags=("1.7", "1.5", "1.3"), size_bytes=112_030_336, command=("bash",),
        binaries=("dig", "nslookup", "host", "curl"), base="debian",
    ),
)  # fmt: skip


def _server(_container: Container, argv: tuple[str, ...]) -> Launch | None:
    name = argv[0].rpartition("/")[2]
    if name == "busybox" and len(argv) > 1:
        argv = argv[1:]
        name = argv[0]
    if name == "httpd" and "-f" in argv:
        text = option(argv, "p", "80").rpartition(":")[2]
        return Launch(
            listeners=(http(int(text) if text.isdigit() else 80, 10),),
            memory_bytes=1 << 20,
            stop_ms=10,
            stop_code=143,
        )
    if name == "pause":
        return Launch(memory_bytes=1 << 20, stop_ms=FOREVER_MS, stop_code=137)
    return None


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(_container: Container, request: Request, upstream: Upstream) -> Served:
    """Answer as busybox httpd does for a file that is not there."""
    body = "<HTML><HEAD><TITLE>404 Not Found</TITLE></HEAD>\n<BODY><H1>404 Not Found</H1>\nThe requested URL was not found\n</BODY></HTML>\n"
    headers = (
        ("Date", header_date(upstream.now_ms)), ("Connection", "close"), ("Content-type", "text/html"),
        (":version", "1.1"),
    )  # fmt: skip
    shown = "" if request.method == "HEAD" else body
    return Served(reply=Reply(status=404, headers=headers, body=shown, latency_ms=1))


PROGRAM = Program(
    name="toolbox",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://hub.docker.com/_/busybox",
)
