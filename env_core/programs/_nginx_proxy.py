"""nginx as a proxy: upstream servers in turn, what goes to them, what comes back, and how they fail."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.programs._http import REASON, VERSION
from env_core.programs._model import (
    DNS_TIMEOUT,
    EMPTY,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
    Reply,
    Request,
)
from env_core.programs._nginx_config import milliseconds
from env_core.programs._nginx_exchange import Exchange, added_headers, error, expanded, headers_of, page

DEFAULT_TIMEOUT_MS: Final = 60_000


_HOP_HEADERS: Final = frozenset(
    {"connection", "keep-alive", "te", "transfer-encoding", "upgrade", "host", "content-length", "expect"}
)


_DROPPED_HEADERS: Final = frozenset(
    {"server", "date", "connection", "content-type", "content-length", "keep-alive", "x-pad"}
)


_GLIBC: Final = {
    REFUSED: "connect() failed (111: Connection refused) while connecting to upstream",
    UNREACHABLE: "connect() failed (113: No route to host) while connecting to upstream",
    "connect": "upstream timed out (110: Connection timed out) while connecting to upstream",
    "read": "upstream timed out (110: Connection timed out) while reading response header from upstream",
    EMPTY: "upstream prematurely closed connection while reading response header from upstream",
    RESET: "recv() failed (104: Connection reset by peer) while reading response header from upstream",
}


_MUSL: Final = {
    **_GLIBC,
    UNREACHABLE: "connect() failed (113: Host is unreachable) while connecting to upstream",
    "connect": "upstream timed out (110: Operation timed out) while connecting to upstream",
    "read": "upstream timed out (110: Operation timed out) while reading response header from upstream",
}


_UNRESOLVED: Final = {
    NXDOMAIN: "3: Host not found",
    DNS_TIMEOUT: "110: Operation timed out",
    SERVFAIL: "2: Server failure",
}


def _duration(exchange: Exchange, name: str) -> int:
    words = exchange.settings.get(name)
    return milliseconds(words[-1][0]) if words else DEFAULT_TIMEOUT_MS


def proxy(exchange: Exchange, target: str) -> Reply:
    url = expanded(exchange, target)
    scheme, _, rest = url.partition("://")
    authority, slash, tail = rest.partition("/")
    uri = _upstream_uri(exchange, slash + tail, has_variables="$" in target)
    servers = exchange.site.config.upstreams.get(authority)
    if servers is None:
        host, colon, port = authority.rpartition(":")
        is_numbered = bool(colon) and port.isdigit()
        servers = (
            (
                host if is_numbered else authority,
                int(port) if is_numbered else (443 if scheme == "https" else 80),
            ),
        )
        if (
            "$" in target
            and "resolver" not in exchange.settings
            and "resolver" not in exchange.server.settings
            and not _is_address(servers[0][0])
        ):
            error(exchange, f"no resolver defined to resolve {servers[0][0]}")
            return page(exchange, 502)
        return _forward(exchange, scheme, authority, servers, uri)
    return _forward(exchange, scheme, authority, _rotated(exchange, authority, servers), uri)


def _rotated(
    exchange: Exchange, name: str, servers: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    """Return an upstream block's servers from the next one in turn on."""
    if len(servers) == 1:
        return servers
    memory = exchange.upstream.state()
    turn = int(memory.get(f"turn {name}", "0")) % len(servers)
    memory[f"turn {name}"] = str(turn + 1)
    exchange.upstream.remember(memory)
    return servers[turn:] + servers[:turn]


@lru_cache(maxsize=1024)
def _is_address(text: str) -> bool:
    return all(part.isdigit() for part in text.split(".")) or text.startswith("[") or text == "localhost"


def _upstream_uri(exchange: Exchange, uri: str, *, has_variables: bool) -> str:
    query = f"?{exchange.query}" if exchange.query else ""
    if not uri:
        return exchange.path + query
    if has_variables:
        return uri
    matched = exchange.location.path if exchange.location is not None else ""
    return uri + exchange.path[len(matched) :] + query


def _forward(
    exchange: Exchange, scheme: str, authority: str, servers: tuple[tuple[str, int], ...], uri: str
) -> Reply:
    read_ms = _duration(exchange, "proxy_read_timeout")
    request = exchange.request
    for position, (host, port) in enumerate(servers):
        sent = Request(
            method=request.method,
            path=uri,
            host=authority,
            headers=_upstream_headers(exchange, authority),
            body=request.body,
            protocol="tls" if scheme == "https" else "http",
            timeout_ms=read_ms,
        )
        found = exchange.upstream.request(host, port, sent)
        if not found.failure:
            exchange.elapsed_ms += found.latency_ms
            return _passed_on(exchange, found)
        phase, _, address = found.detail.partition(" ")
        failure = found.failure
        if failure in _UNRESOLVED:
            exchange.elapsed_ms += found.latency_ms
            error(exchange, f"{host} could not be resolved ({_UNRESOLVED[failure]})")
            return page(exchange, 502)
        key = failure
        if failure == TIMEOUT:
            key = "connect" if phase == "connect" else "read"
            exchange.elapsed_ms += (
                _duration(exchange, "proxy_connect_timeout") if key == "connect" else read_ms
            )
        else:
            exchange.elapsed_ms += found.latency_ms
        texts = _MUSL if exchange.site.is_musl else _GLIBC
        shown = f"{scheme}://{address or host}:{port}{uri}"
        error(exchange, texts.get(key, texts[EMPTY]), upstream=shown)
        if position + 1 < len(servers) and request.method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
            error(
                exchange,
                f"upstream server temporarily disabled {texts.get(key, '').rpartition(') ')[2]}",
                upstream=shown,
                level="warn",
            )
            continue
        return page(exchange, 504 if failure == TIMEOUT else 502)
    return page(exchange, 502)


@lru_cache(maxsize=512)
def _is_hop(name: str) -> bool:
    """Whether a header is between two neighbours only."""
    return name.startswith(":") or name.lower() in _HOP_HEADERS


def _upstream_headers(exchange: Exchange, authority: str) -> dict[str, str]:
    set_by = exchange.settings.get("proxy_set_header", ())
    is_modern = exchange.one("proxy_http_version") in (("1.1",), ("2",))
    found = {"Host": authority} if is_modern else {"Host": authority, "Connection": "close", VERSION: "1.0"}
    found.update({name: value for name, value in exchange.request.headers.items() if not _is_hop(name)})
    for words in set_by:
        value = expanded(exchange, words[1])
        if value:
            found[words[0]] = value
        else:
            found.pop(words[0], None)
    return found


@lru_cache(maxsize=512)
def _role(name: str) -> str:
    """Return what an upstream's header is to nginx; "" for those that it drops."""
    lower = name.lower()
    if lower in ("content-type", "content-length", REASON):
        return lower
    return "" if lower in _DROPPED_HEADERS or name.startswith(":") else "other"


def _passed_on(exchange: Exchange, found: Reply) -> Reply:
    """Return an upstream's answer as nginx passes it on."""
    kind = length = ""
    rest: list[tuple[str, str]] = []
    reason = ""
    for name, value in found.headers:
        role = _role(name)
        if role == "content-type":
            kind = value
        elif role == "content-length":
            length = value
        elif role == REASON:
            reason = value
        elif role:
            rest.append((name, value))
    size = int(length) if length.isdigit() else len(found.body.encode())
    headers = (
        *headers_of(exchange, found.status, kind, size, is_passed_on=True),
        *rest,
        *added_headers(exchange, found.status),
    )
    if reason:
        headers = (*headers, (REASON, reason))
    body = "" if exchange.request.method == "HEAD" else found.body
    return Reply(status=found.status, headers=headers, body=body, latency_ms=exchange.elapsed_ms)
