"""The faulty servers that the recorded clients talked to, as scripts: what each answers, and how each fails.

Source: shared oracle `programs/README.md`, "The simulated cluster"; bodies and headers from the recorded exchanges.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from env_core.programs import EMPTY, RESET, TIMEOUT, Reply, Request
from env_core.programs._http import FOREIGN, REASONS
from env_core.programs._http import PORT as PORT_HEADER

DATE: Final = "Sat, 01 Mar 2025 12:00:00 GMT"
_BASE: Final = "http://web.shop.svc.cluster.local:8080"
_TEXTS: Final = {401: "Not authenticated", 504: "Gateway Timeout"}
_ITEMS: Final = '{"items":['

Memory = dict[str, int]
Script = Callable[[Request, Memory], Reply]


def silent(request: Request, _memory: Memory) -> Reply:
    """Accept, and never say anything."""
    return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms, detail="read")


def resetting(_request: Request, _memory: Memory) -> Reply:
    """Reset the connection after the first bytes."""
    return Reply(failure=RESET, latency_ms=1)


def closing(_request: Request, _memory: Memory) -> Reply:
    """Close the connection after the first bytes."""
    return Reply(failure=EMPTY, latency_ms=1)


def ssh(request: Request, _memory: Memory) -> Reply:
    """Greet as an SSH server does."""
    banner = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"
    if request.protocol == "tls":
        return Reply(status=400, latency_ms=1)
    return Reply(headers=((FOREIGN, banner),), body=banner, latency_ms=1)


def web(request: Request, memory: Memory) -> Reply:
    """Answer as the HTTP server of web.shop:8080 does: its faults are chosen by path."""
    path = request.path.partition("?")[0]
    if request.protocol == "tls":
        return Reply(status=400, latency_ms=1)
    if request.protocol not in ("http", "https"):
        return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms, detail="read")
    if request.headers.get(":version") == "2":
        return Reply(failure=EMPTY, latency_ms=1)
    if path.startswith("/status/"):
        return _status(int(path.rpartition("/")[2]))
    if path == "/flaky":
        memory["flaky"] = memory.get("flaky", 0) + 1
        return _status(503) if memory["flaky"] < 3 else _uvicorn(200, '{"status":"ok"}')
    return _healthy(request, path) or _cut(path) or _late(request, path) or _status(404)


def _healthy(request: Request, path: str) -> Reply | None:
    simple: dict[str, tuple[int, str]] = {
        "/health": (200, '{"status":"ok"}'),
        "/": (200, '{"service":"web","version":"1.4.2"}'),
        "/ready": (
            503,
            '{"status":"unavailable","checks":{"redis":"Error connecting to redis:6379. Connection refused."}}',
        ),
        "/api/orders": (201, '{"id":1042,"status":"created"}'),
        "/upload": (413, '{"detail":"Request Entity Too Large"}'),
    }
    if path in simple:
        return _uvicorn(*simple[path])
    if path == "/echo":
        host = request.headers.get("Host", request.host)
        kind = request.headers.get("Content-Type", "")
        told = {"method": request.method, "host": host, "content-type": kind, "length": len(request.body)}
        return _uvicorn(200, json.dumps(told, separators=(",", ":")))
    redirects = {
        "/redirect": (301, f"{_BASE}/health"),
        "/redirect-rel": (302, "/health"),
        "/loop": (302, "/loop"),
        "/redirect-dead": (302, "http://api.tron.svc.cluster.local:8000/"),
        "/redirect-nx": (302, "http://auth.shop.svc.cluster.local:8080/"),
    }
    if path in redirects:
        status, location = redirects[path]
        return _uvicorn(status, "", ("location", location))
    return None


def _cut(path: str) -> Reply | None:
    """Return what breaks off, or is no HTTP."""
    some = _ITEMS + '{"id":1},{"id":2'
    return {
        "/partial": Reply(status=200, headers=_headers(4096), body=some, latency_ms=1),
        "/reset-mid": Reply(
            status=200, headers=_headers(4096), body=_ITEMS, failure=RESET, latency_ms=1
        ),
        "/partial-chunk": Reply(
            status=200, headers=(*_headers(None), (":cut", "")), body=some, latency_ms=1
        ),
        "/badchunk": Reply(status=200, headers=_headers(None), failure="bad-chunk", latency_ms=1),
        "/slow-body": Reply(
            status=200, headers=_headers(60), body=_ITEMS + "  ", failure=TIMEOUT, latency_ms=1
        ),
        "/empty": Reply(failure=EMPTY, latency_ms=1),
        "/binary": Reply(status=200, headers=_headers(8), body="\0\1\2\3\0\1\2\3", latency_ms=1),
        "/badencoding": Reply(
            status=200, headers=(*_headers(8), ("content-encoding", "gzip")), body="not gzip", latency_ms=1
        ),
        "/garbage": _foreign("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"),
        "/http09": _foreign("hello\n"),
        "/badheader": _foreign("HTTP/1.1 200 OK\r\nbroken header line\r\n\r\nok"),
        "/badlength": _foreign("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nok"),
        "/badstatus": _foreign("HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    }.get(path)


def _late(request: Request, path: str) -> Reply | None:
    if path == "/slow5":
        if request.timeout_ms and request.timeout_ms < 5_000:
            return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms)
        reply = _uvicorn(200, '{"status":"ok"}')
        return Reply(status=reply.status, headers=reply.headers, body=reply.body, latency_ms=5_050)
    if path == "/hang":
        return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms or 60_000, detail="read")
    return None


def _status(status: int) -> Reply:
    if status == 500:
        headers = (
            ("date", DATE),
            ("server", "uvicorn"),
            ("content-length", "21"),
            ("content-type", "text/plain; charset=utf-8"),
        )
        return Reply(status=500, headers=headers, body="Internal Server Error", latency_ms=1)
    if status in (204, 304):
        return Reply(status=status, headers=(("date", DATE), ("server", "uvicorn")), latency_ms=1)
    extra = {401: (("www-authenticate", "Bearer"),), 429: (("retry-after", "2"),)}.get(status, ())
    text = _TEXTS.get(status) or REASONS.get(status, "")
    return _uvicorn(status, f'{{"detail":"{text}"}}', *extra)


def _headers(length: int | None) -> tuple[tuple[str, str], ...]:
    body = (("content-length", str(length)),) if length is not None else (("transfer-encoding", "chunked"),)
    return (("date", DATE), ("server", "uvicorn"), *body, ("content-type", "application/json"))


def _uvicorn(status: int, body: str, *extra: tuple[str, str]) -> Reply:
    return Reply(status=status, headers=(*_headers(len(body.encode())), *extra), body=body, latency_ms=1)


def _foreign(text: str) -> Reply:
    return Reply(headers=((FOREIGN, text),), latency_ms=1)


def _nginx_page(status: int, title: str, told: str = "") -> Reply:
    middle = f"<center><h1>{status} {REASONS[status]}</h1></center>\r\n" + (f"<center>{told}</center>\r\n" if told else "")
    body = (
        f"<html>\r\n<head><title>{status} {title}</title></head>\r\n<body>\r\n{middle}"
        "<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
    )
    headers = (
        ("Server", "nginx/1.22.1"), ("Date", DATE), ("Content-Type", "text/html"), ("Content-Length", str(len(body))),
        ("Connection", "close" if told else "keep-alive"),
    )  # fmt: skip
    return Reply(status=status, headers=headers, body=body, latency_ms=1)


def gateway(request: Request, _memory: Memory) -> Reply:
    """Answer as the nginx of gateway.shop does, behind TLS or before it."""
    port = int(request.headers.get(PORT_HEADER, "443"))
    if port == 80:
        page = _nginx_page(301, REASONS[301])
        target = f"https://{request.host.partition(':')[0]}{request.path}"
        return Reply(status=301, headers=(*page.headers, ("Location", target)), body=page.body, latency_ms=1)
    if request.protocol == "http":
        return _nginx_page(
            400, "The plain HTTP request was sent to HTTPS port", "The plain HTTP request was sent to HTTPS port"
        )
    if port in (12443,) and not request.headers.get(":client-certificate"):
        return _nginx_page(400, "No required SSL certificate was sent", "No required SSL certificate was sent")
    body = '{"status":"ok"}'
    headers = (
        ("Server", "nginx/1.22.1"), ("Date", DATE), ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))), ("Connection", "keep-alive"),
    )  # fmt: skip
    return Reply(status=200, headers=headers, body=body, latency_ms=1)


SCRIPTS: Final[dict[str, Script]] = {
    "recorded/web": web,
    "recorded/silent": silent,
    "recorded/resetting": resetting,
    "recorded/closing": closing,
    "recorded/ssh": ssh,
    "recorded/gateway": gateway,
}
"""The scripts by the name of the program in a run."""
