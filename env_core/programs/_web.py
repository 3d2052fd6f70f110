"""Small HTTP servers: what their images share (Go's way of answering, listening, stopping)."""

from __future__ import annotations

from env_core.programs._http import header_date
from env_core.programs._model import Container, Listener, Reply, Upstream

TEXT = "text/plain; charset=utf-8"


def go_reply(
    upstream: Upstream, body: str, status: int = 200, content_type: str = TEXT, *extra: tuple[str, str]
) -> Reply:
    """Return an answer as Go's net/http sends it: its own headers sorted, then Date, Content-Length, Content-Type.

    Source: tests/golden/programs/coredns (coredns.ok), app-go.
    """
    headers = (
        *extra,
        ("Date", header_date(upstream.now_ms)),
        ("Content-Length", str(len(body.encode()))),
        ("Content-Type", content_type),
    )
    return Reply(status=status, headers=headers, body=body, latency_ms=1)


def option(argv: tuple[str, ...], name: str, default: str) -> str:
    """Return the value of `--name=value`, `--name value` or the same with one dash."""
    for position, word in enumerate(argv):
        bare = word.lstrip("-")
        if word.startswith("-") and bare.partition("=")[0] == name:
            if "=" in bare:
                return bare.partition("=")[2]
            return argv[position + 1] if position + 1 < len(argv) else default
    return default


def port_of(text: str, default: int) -> int:
    """Return the port of an address such as ":8080"."""
    port = text.rpartition(":")[2].partition("/")[0]
    return int(port) if port.isdigit() else default


def http(port: int, after_ms: int = 50) -> Listener:
    """Return an HTTP listener."""
    return Listener(port=port, protocol="http", after_ms=after_ms)


def is_named(container: Container, *names: str) -> bool:
    """Whether a container's argv starts one of the named binaries."""
    return bool(container.argv) and container.argv[0].rpartition("/")[2] in names
