"""The small cluster in which the client programs were recorded, as a wire.

Source: shared oracle `programs/README.md`: the servers, their addresses and how each of them fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from env_core.programs import Container, Reply, Request, Run, Served
from env_core.programs import nginx as nginx_program
from env_core.programs._http import FOREIGN, REASONS
from env_core.programs._model import Launch
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    EMPTY,
    FILTERED,
    NETWORK_UNREACHABLE,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
    Answer,
    Connection,
    Resolution,
)

NOW_MS = 1_796_000_000_000
SEARCH = ("tron.svc.cluster.local", "svc.cluster.local", "cluster.local")
DATE = "Sat, 01 Mar 2025 12:00:00 GMT"
ROOT_AUTHORITY = "."

SERVICES = {
    "web.shop": "10.96.20.1", "cart.shop": "10.96.20.2", "checkout.shop": "10.96.20.3", "gateway.shop": "10.96.20.4",
    "payments.shop": "10.96.20.5", "orders.shop": "10.96.20.6", "search.shop": "10.96.20.7", "ads.shop": "10.96.20.8",
    "audit.shop": "10.96.20.9", "email.shop": "10.96.20.10", "redis.tron": "10.96.10.1", "postgres.tron": "10.96.10.2",
    "api.tron": "10.96.10.3", "mysql.tron": "10.96.10.4", "rabbitmq.tron": "10.96.10.5", "kubernetes.default": "10.96.0.1",
}  # fmt: skip
NAMES = {f"{name}.svc.cluster.local": (address,) for name, address in SERVICES.items()}
NAMES["web-headless.shop.svc.cluster.local"] = ("10.244.2.10", "10.244.2.11", "10.244.2.12")
OUTSIDE = {"shop.example.com": "203.0.113.10", "github.example.net": "203.0.113.11"}
FAILURES = {
    "10.96.20.5": TIMEOUT, "10.96.20.6": REFUSED, "10.96.20.7": UNREACHABLE, "10.96.20.8": REFUSED,
    "10.96.20.9": FILTERED, "10.96.20.10": NETWORK_UNREACHABLE,
}  # fmt: skip
OPEN = {
    ("10.96.20.1", 8080), ("10.96.20.1", 80), ("10.96.20.1", 2222), ("10.96.20.1", 9090), ("10.96.20.1", 9443),
    ("10.96.20.2", 8080), ("10.96.20.2", 8081), ("10.96.20.2", 8443), ("10.96.20.3", 8080), ("10.96.20.3", 8443),
    *(("10.96.20.4", port) for port in (80, 443, 8443, 8444, 9443, 10443, 11443, 12443, 13443, 14443)),
    ("10.96.0.10", 53),
}  # fmt: skip
STATUS_TEXTS = {401: "Not authenticated", 504: "Gateway Timeout"}
NGINX = """server {
  listen 80;
  server_name localhost;
  location = /301 { return 301 /index.html; }
  location = /302 { return 302 http://$host/login; }
  location = /400 { return 400; } location = /401 { return 401; } location = /403 { return 403; }
  location = /404 { return 404; } location = /405 { return 405; } location = /413 { return 413; }
  location = /429 { return 429; } location = /500 { return 500; } location = /502 { return 502; }
  location = /503 { return 503; } location = /504 { return 504; } location = /204 { return 204; }
  location / { root /usr/share/nginx/html; }
}
"""
SHOP_PAGE = "<!DOCTYPE html>\n<html>\n<head><title>Shop</title></head>\n<body><h1>Shop</h1></body>\n</html>\n"


@dataclass
class _Upstream:
    now_ms: int = NOW_MS
    memory: dict[str, str] = field(default_factory=dict)
    disk: dict[str, dict[str, str]] = field(default_factory=dict)

    def request(self, host: str, port: int, request: Request) -> Reply:
        return Reply(failure=REFUSED)

    def free_bytes(self, path: str) -> int | None:
        return None

    def stored(self, path: str) -> dict[str, str]:
        return self.disk.get(path, {})

    def store(self, path: str, rows: dict[str, str]) -> None:
        self.disk[path] = dict(rows)

    def state(self) -> dict[str, str]:
        return dict(self.memory)

    def remember(self, state: dict[str, str]) -> None:
        self.memory = state


def _nginx(request: Request) -> Served:
    files = {"/etc/nginx/conf.d/default.conf": NGINX, "/usr/share/nginx/html/index.html": SHOP_PAGE}
    container = Container(
        namespace="shop", pod="web", pod_uid="u", name="nginx", image="nginx:1.22", argv=("nginx", "-g", "daemon off;"), env={},
        files=files, pod_ip="10.96.20.1", node="", cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=None,
        started_ms=NOW_MS, restarts=0,
    )  # fmt: skip
    return nginx_program.PROGRAM.serve(container, request, _Upstream())


class RecordedCluster:
    """Answers clients as the recorded servers did. `dns` is what became of the name server."""

    def __init__(
        self, dns: str = "", server: str = "10.96.0.10", options: dict[str, Any] | None = None
    ) -> None:
        self.dns = dns
        self.server = server
        self.search: tuple[str, ...] = SEARCH
        self.ndots = 5
        self.flaky = 0
        for name, value in (options or {}).items():
            setattr(self, name, value)

    own_address = "10.244.1.5"

    def resolver(self) -> tuple[tuple[str, ...], int, str]:
        return self.search, self.ndots, self.server

    # Names

    def resolve(self, host: str) -> Resolution:
        if host.replace(".", "").isdigit() and host.count(".") == 3:
            if all(int(part) < 256 for part in host.split(".")):
                return Resolution(addresses=(host,), name=host)
            return Resolution(failure=NXDOMAIN)
        if host == "localhost":
            return Resolution(addresses=("127.0.0.1",), name=host, is_local=True)
        if self.dns == "timeout":
            return Resolution(failure=DNS_TIMEOUT, latency_ms=10_000)
        if self.dns == "refused":
            return Resolution(failure=SERVFAIL, latency_ms=1)
        bare = host.rstrip(".")
        failure = NXDOMAIN
        for name in (
            [bare]
            if host.endswith(".") or bare.count(".") >= self.ndots
            else [*(f"{bare}.{each}" for each in self.search), bare]
        ):
            answer = self.query(name, "A")
            if answer.values("A"):
                return Resolution(addresses=answer.values("A"), name=name, latency_ms=1)
            if answer.rcode in ("SERVFAIL", "REFUSED"):
                failure = SERVFAIL
        return Resolution(failure=failure, latency_ms=1)

    def query(self, name: str, kind: str, server: str = "", protocol: str = "UDP") -> Answer:
        server = server or self.server
        if server in FAILURES or server != "10.96.0.10":
            failure = FAILURES.get(server, REFUSED)
            return Answer(failure=failure if failure == REFUSED else TIMEOUT)
        name = name.lower()
        if kind == "ANY" and protocol == "UDP":
            return self.query(name, kind, server, "TCP")
        if name.endswith(".in-addr.arpa"):
            address = ".".join(reversed(name.removesuffix(".in-addr.arpa").split(".")))
            for each, addresses in NAMES.items():
                if address in addresses:
                    return Answer(records=((name, "PTR", each),))
            return Answer(rcode="NXDOMAIN", authority=".", is_recursive=True)
        if name in NAMES:
            values = NAMES[name]
            if kind == "A":
                return Answer(records=tuple((name, "A", value) for value in values))
            return Answer(authority="cluster.local")
        if name == "stripe.shop.svc.cluster.local":
            return Answer(records=((name, "CNAME", "api.stripe.example.com"),))
        if name.startswith("_http._tcp.") and name.endswith(".svc.cluster.local") and kind in ("SRV", "ANY"):
            base = name.removeprefix("_http._tcp.")
            if base in NAMES:
                values = NAMES[base]
                if len(values) == 1:
                    return Answer(records=((name, "SRV", f"0 100 8080 {base}."),))
                return Answer(
                    records=tuple(
                        (name, "SRV", f"0 {100 // len(values)} 8080 web-headless-{index}.{base}.")
                        for index in range(len(values))
                    )
                )
        if name.endswith(".pod.cluster.local"):
            return Answer(records=((name, "A", name.split(".")[0].replace("-", ".")),))
        if name.endswith("cluster.local"):
            return Answer(rcode="NXDOMAIN", authority="cluster.local")
        if name in OUTSIDE:
            is_own = name == "shop.example.com"
            if kind == "A":
                return Answer(
                    records=((name, "A", OUTSIDE[name]),), is_recursive=not is_own, is_authoritative=is_own
                )
            return Answer(is_recursive=not is_own, authority=ROOT_AUTHORITY)
        if name == "broken.example.org":
            return Answer(rcode="SERVFAIL", is_recursive=True, is_authoritative=False)
        if name == "refused.example.org":
            return Answer(rcode="REFUSED", is_recursive=True, is_authoritative=False)
        if name.endswith("example.com"):
            return Answer(rcode="NXDOMAIN", authority="example.com")
        return Answer(rcode="NXDOMAIN", authority=ROOT_AUTHORITY, is_recursive=True)

    # Connections

    def connect(self, address: str, port: int, protocol: str = "TCP") -> Connection:
        failure = FAILURES.get(address, "")
        if (address, port) == ("10.96.20.1", 9091):
            failure = TIMEOUT
        if not failure and (address, port) not in OPEN:
            failure = REFUSED
        return Connection(failure=failure, address=address, port=port)

    def ping(self, address: str) -> str:
        if address == "10.244.1.77":
            return "arp"
        return FAILURES.get(address, "")

    def exchange(self, connection: Connection, request: Request) -> Reply:
        address, port = connection.address, connection.port
        timeout = Reply(failure=TIMEOUT, latency_ms=request.timeout_ms, detail="read")
        if request.protocol == "tls":
            if (address, port) == ("10.96.20.1", 9443):
                return timeout
            if address in ("10.96.20.2", "10.96.20.3"):
                return Reply(failure=RESET if address == "10.96.20.2" else EMPTY, latency_ms=1)
            return Reply(status=400, latency_ms=1)
        if address == "10.96.20.2":
            return Reply(failure=RESET, latency_ms=1)
        if address == "10.96.20.3":
            return Reply(failure=EMPTY, latency_ms=1)
        if (address, port) == ("10.96.20.1", 80):
            return _nginx(request).reply
        if (address, port) == ("10.96.20.1", 2222):
            return Reply(
                headers=((FOREIGN, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"),),
                body="SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n",
                latency_ms=1,
            )
        if (address, port) == ("10.96.20.1", 8080):
            return self._web(request)
        return timeout

    def _web(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        base = "http://web.shop.svc.cluster.local:8080"
        if request.headers.get(":version") == "2":
            return Reply(failure=EMPTY, latency_ms=1)
        if path.startswith("/status/"):
            return self._status(int(path.rpartition("/")[2]))
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
            body = json.dumps(
                {"method": request.method, "host": host, "content-type": kind, "length": len(request.body)},
                separators=(",", ":"),
            )
            return _uvicorn(200, body)
        redirects = {
            "/redirect": (301, f"{base}/health"), "/redirect-rel": (302, "/health"), "/loop": (302, "/loop"),
            "/redirect-dead": (302, "http://api.tron.svc.cluster.local:8000/"),
            "/redirect-nx": (302, "http://auth.shop.svc.cluster.local:8080/"),
        }  # fmt: skip
        if path in redirects:
            status, location = redirects[path]
            return _uvicorn(status, "", ("location", location))
        if path == "/flaky":
            self.flaky += 1
            return self._status(503) if self.flaky < 3 else _uvicorn(200, '{"status":"ok"}')
        if path == "/slow5":
            if request.timeout_ms and request.timeout_ms < 5_000:
                return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms)
            return _later(_uvicorn(200, '{"status":"ok"}'), 5_050)
        items = '{"items":['
        cut = {
            "/partial": Reply(
                status=200, headers=_headers(4096), body=items + '{"id":1},{"id":2', latency_ms=1
            ),
            "/reset-mid": Reply(status=200, headers=_headers(4096), body=items, failure=RESET, latency_ms=1),
            "/partial-chunk": Reply(
                status=200,
                headers=(*_headers(None), (":cut", "")),
                body=items + '{"id":1},{"id":2',
                latency_ms=1,
            ),
            "/badchunk": Reply(status=200, headers=_headers(None), failure="bad-chunk", latency_ms=1),
            "/slow-body": Reply(
                status=200, headers=_headers(60), body=items + "  ", failure=TIMEOUT, latency_ms=1
            ),
            "/garbage": _foreign("SSH-2.0-OpenSSH_9.2p1\r\n"),
            "/http09": _foreign("hello\n"),
            "/badheader": _foreign("HTTP/1.1 200 OK\r\nbroken header line\r\n\r\nok"),
            "/badlength": _foreign("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nok"),
            "/badstatus": _foreign("HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        }
        if path in cut:
            return cut[path]
        if path == "/hang":
            return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms or 60_000, detail="read")
        return self._status(404)

    def _status(self, status: int) -> Reply:
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
        text = STATUS_TEXTS.get(status) or REASONS[status]
        return _uvicorn(status, f'{{"detail":"{text}"}}', *extra)


def _headers(length: int | None) -> tuple[tuple[str, str], ...]:
    body = (("content-length", str(length)),) if length is not None else (("transfer-encoding", "chunked"),)
    return (("date", DATE), ("server", "uvicorn"), *body, ("content-type", "application/json"))


def _uvicorn(status: int, body: str, *extra: tuple[str, str]) -> Reply:
    return Reply(status=status, headers=(*_headers(len(body.encode())), *extra), body=body, latency_ms=1)


def _later(reply: Reply, latency_ms: int) -> Reply:
    return Reply(status=reply.status, headers=reply.headers, body=reply.body, latency_ms=latency_ms)


def _foreign(text: str) -> Reply:
    return Reply(headers=((FOREIGN, text),), latency_ms=1)


def cluster_for(record: dict[str, Any]) -> RecordedCluster:
    """Return the cluster in the state of a recording."""
    kind = record["condition"]["kind"]
    has_server = any(
        word in ("10.96.20.5", "10.96.20.6", "10.96.20.7", "10.96.10.3") or word.startswith("@")
        for word in record["argv"]
    )
    if kind == "dns_timeout" and not has_server:
        return RecordedCluster("timeout", "10.96.20.5")
    if kind in ("dns_server_refused", "no_resolv_conf") and not has_server:
        return RecordedCluster("refused", "10.96.20.6")
    return RecordedCluster()


__all__ = ["Launch", "RecordedCluster", "Run", "cluster_for"]
