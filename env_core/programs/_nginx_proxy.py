"""nginx as a proxy: upstream servers in turn, what goes to them, what comes back, and how they fail."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from env_core.programs._http import FOREIGN, REASON, VERSION
from env_core.programs._model import (
    EMPTY,
    FILTERED,
    NETWORK_UNREACHABLE,
    REFUSED,
    RESET,
    TIMEOUT,
    UNREACHABLE,
    Reply,
    Request,
)
from env_core.programs._nginx_exchange import Exchange, added_headers, error, expanded, headers_of, page
from env_core.programs._nginx_model import milliseconds, size_bytes
from env_core.programs._nginx_upstreams import UNRESOLVED, distrusted, resolved

DEFAULT_TIMEOUT_MS: Final = 60_000


_HOP_HEADERS: Final = frozenset(
    {"connection", "keep-alive", "te", "transfer-encoding", "upgrade", "host", "content-length", "expect"}
)


_DROPPED_HEADERS: Final = frozenset(
    {"server", "date", "connection", "content-type", "content-length", "keep-alive", "x-pad"}
)


_GLIBC: Final = {
    REFUSED: "connect() failed (111: Connection refused) while connecting to upstream",
    NETWORK_UNREACHABLE: "connect() failed (101: Network is unreachable) while connecting to upstream",
    FILTERED: "connect() failed (113: No route to host) while connecting to upstream",
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


_NOT_TLS: Final = "SSL_do_handshake() failed (SSL: error:0A00010B:SSL routines::wrong version number) while SSL handshaking to upstream"


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
        if "$" in target and not _is_address(servers[0][0]):
            address = resolved(exchange, servers[0][0])
            if not address:
                return page(exchange, 502)
            servers = ((address, servers[0][1]),)
        return _forward(exchange, scheme, authority, servers, uri)
    return _forward(exchange, scheme, authority, _rotated(exchange, authority, servers), uri, authority)


def _is_disabled(exchange: Exchange, name: str, server: tuple[str, int]) -> bool:
    """Whether an upstream's server has failed too often of late."""
    until = exchange.upstream.state().get(f"disabled {name} {server[0]}:{server[1]}")
    return until is not None and exchange.upstream.now_ms < int(until)


def _has_failed(exchange: Exchange, name: str, server: tuple[str, int]) -> bool:
    """Count a failure of an upstream's server; return whether it is disabled now.

    Source: nginx src/http/ngx_http_upstream_round_robin.c ngx_http_upstream_free_round_robin_peer.
    """
    servers = exchange.site.config.upstreams.get(name, ())
    if len(servers) < 2:
        return False
    fails_max, disabled_ms = exchange.site.config.peers[name][servers.index(server)]
    if not fails_max:
        return False
    memory = exchange.upstream.state()
    key = f"{name} {server[0]}:{server[1]}"
    now_ms = exchange.upstream.now_ms
    count, _, since = memory.get(f"fails {key}", "0 0").partition(" ")
    fails = int(count) + 1 if now_ms - int(since) <= disabled_ms else 1
    memory[f"fails {key}"] = f"{fails} {now_ms}"
    if fails >= fails_max:
        memory[f"disabled {key}"] = str(now_ms + disabled_ms)
    exchange.upstream.remember(memory)
    return fails >= fails_max


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
    exchange: Exchange, scheme: str, authority: str, servers: tuple[tuple[str, int], ...], uri: str, name: str = ""
) -> Reply:  # fmt: skip
    read_ms = _duration(exchange, "proxy_read_timeout")
    request = exchange.request
    live = tuple(server for server in servers if not name or not _is_disabled(exchange, name, server))
    if not live:
        exchange.tried.append((name, 502, "-", "-"))
        error(exchange, "no live upstreams while connecting to upstream", upstream=f"{scheme}://{name}{uri}")
        return page(exchange, 502)
    for position, (host, port) in enumerate(live):
        sent = Request(
            method=request.method,
            path=uri,
            host=authority,
            headers=_upstream_headers(exchange, authority),
            body=request.body,
            protocol="tls" if scheme == "https" else "http",
            timeout_ms=read_ms,
        )
        suspicion = distrusted(exchange, host, port, authority) if scheme == "https" else ""
        found = exchange.upstream.request(host, port, sent)
        phase, _, address = found.detail.partition(" ")
        if found.lookup is not None:
            address = ""
        where = f"{address or host}:{port}"
        shown = f"{scheme}://{where}{uri}"
        if scheme == "https" and found.status == 400 and not found.headers:
            exchange.tried.append((where, 502, "0", _seconds(found.latency_ms)))
            error(exchange, _NOT_TLS, upstream=shown)
            return page(exchange, 502)
        if suspicion and not found.failure:
            address = exchange.upstream.resolve(host).body or host
            exchange.tried.append((f"{address}:{port}", 502, "0", _seconds(found.latency_ms)))
            error(
                exchange,
                f"{suspicion} while SSL handshaking to upstream",
                upstream=f"{scheme}://{address}:{port}{uri}",
            )
            return page(exchange, 502)
        if not found.failure or (found.status and phase != "connect"):
            exchange.elapsed_ms += found.latency_ms
            exchange.tried.append(
                (where, found.status, str(len(found.body.encode())), _seconds(found.latency_ms))
            )
            return _checked(exchange, found, shown)
        failure = found.failure
        if failure in UNRESOLVED:
            exchange.elapsed_ms += found.latency_ms
            error(exchange, f"{host} could not be resolved ({UNRESOLVED[failure]})")
            return page(exchange, 502)
        key = failure
        took_ms = found.latency_ms
        if failure == TIMEOUT:
            key = "connect" if phase == "connect" else "read"
            took_ms = _duration(exchange, "proxy_connect_timeout") if key == "connect" else read_ms
        exchange.elapsed_ms += took_ms
        status = 504 if failure == TIMEOUT else 502
        exchange.tried.append((where, status, "0", _seconds(took_ms)))
        texts = _MUSL if exchange.site.is_musl else _GLIBC
        text = texts.get(key, texts[EMPTY])
        error(exchange, text, upstream=shown)
        if name and _has_failed(exchange, name, (host, port)):
            what = text.rpartition(") ")[2] if ")" in text else text[text.index("while") :]
            error(exchange, f"upstream server temporarily disabled {what}", upstream=shown, level="warn")
        is_repeatable = phase == "connect" or request.method not in ("POST", "LOCK", "PATCH")
        if position + 1 < len(live) and is_repeatable:
            continue
        return page(exchange, status)
    return page(exchange, 502)


_LENGTH: Final = "content-length"


def _seconds(duration_ms: int) -> str:
    return f"{duration_ms / 1000:.3f}"


def _checked(exchange: Exchange, found: Reply, shown: str) -> Reply:
    """Pass an answer on, as far as it is one."""
    size, declared = 20, ""
    for name, value in found.headers:
        if name == FOREIGN:
            return _foreign(exchange, found, value, shown)
        size += len(name) + len(value) + 4
        if not declared and len(name) == len(_LENGTH) and name.lower() == _LENGTH:
            declared = value
    buffer = size_bytes((exchange.one("proxy_buffer_size") or ("8k",))[0])
    if size > buffer:
        error(
            exchange,
            "upstream sent too big header while reading response header from upstream",
            upstream=shown,
        )
        return page(exchange, 502)
    if found.failure == "bad-chunk":
        error(exchange, "upstream sent invalid chunked response while reading upstream", upstream=shown)
        return Reply(failure=EMPTY, latency_ms=exchange.elapsed_ms, status=found.status)
    if found.failure == TIMEOUT:
        texts = _MUSL if exchange.site.is_musl else _GLIBC
        error(exchange, texts["read"].replace("reading response header from", "reading"), upstream=shown)
    elif found.failure == RESET:
        error(
            exchange, "recv() failed (104: Connection reset by peer) while reading upstream", upstream=shown
        )
    else:
        if (
            declared.isdigit()
            and len(found.body.encode()) < int(declared)
            and exchange.request.method != "HEAD"
        ):
            error(exchange, "upstream prematurely closed connection while reading upstream", upstream=shown)
    return _passed_on(exchange, found)


def _foreign(exchange: Exchange, found: Reply, text: str, shown: str) -> Reply:
    """Treat bytes that clients refuse as nginx does: a broken header is an error, what has no status line an HTTP/0.9 body."""
    head, _, body = text.partition("\r\n\r\n")
    lines = head.split("\r\n")
    status = _STATUS_LINE.match(lines[0])
    if status is None:
        version = "1.1" if exchange.one("proxy_http_version") == ("1.1",) else "1.0"
        error(
            exchange, f"upstream sent no valid HTTP/{version} header while reading response header from upstream", upstream=shown
        )  # fmt: skip
        return Reply(
            status=9, headers=((FOREIGN, text),), body=found.body or text, latency_ms=exchange.elapsed_ms
        )
    for line in lines[1:]:
        word, space, _ = line.partition(" ")
        if space and ":" not in word:
            error(
                exchange, f'upstream sent invalid header: "{word}\\x20..." while reading response header from upstream',
                upstream=shown,
            )  # fmt: skip
            return page(exchange, 502)
    pairs = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    return _passed_on(
        exchange, found._replace(status=int(status[1]), headers=pairs, body=body), is_chunked=True
    )


_STATUS_LINE: Final = re.compile(r"HTTP/[1-9]\.\d (\d{3})")
"""Source: nginx src/http/ngx_http_parse.c ngx_http_parse_status_line."""


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


def _passed_on(exchange: Exchange, found: Reply, *, is_chunked: bool = False) -> Reply:
    """Return an upstream's answer as nginx passes it on; in chunks when its length is not known."""
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
    chunked = (("Transfer-Encoding", "chunked"),) if is_chunked else ()
    if is_chunked:
        exchange.framing += len(f"{len(found.body.encode()):x}\r\n\r\n0\r\n\r\n")
    headers = (
        *headers_of(exchange, found.status, kind, None if is_chunked else size, *chunked, is_passed_on=True),
        *rest,
        *added_headers(exchange, found.status),
    )
    if reason:
        headers = (*headers, (REASON, reason))
    body = "" if exchange.request.method == "HEAD" else found.body
    return Reply(status=found.status, headers=headers, body=body, latency_ms=exchange.elapsed_ms)
