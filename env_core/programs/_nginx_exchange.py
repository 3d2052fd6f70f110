"""One request on its way through nginx: its variables, the answers nginx makes up itself, its log lines."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from env_core.programs import _nginx_pages
from env_core.programs._http import REASON, access_date, header, header_date, slash_date, version
from env_core.programs._machine import PLAIN, Machine
from env_core.programs._model import Line, Reply, Request, Upstream
from env_core.programs._nginx_model import Config, Location, Server, Settings
from env_core.programs._nginx_patterns import RequestFailed
from env_core.programs._nginx_signals import logs
from env_core.sim.timefmt import rfc3339

RAW: Final = ":raw"
"""Pseudo header: the request line as it was read, where that is not all of it."""
_EXPANDED_MAX: Final = 2 * 1024 * 1024
"""Characters that the variables of one request may stand for: variables of variables double with each `set`."""
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))")


@dataclass(frozen=True, slots=True)
class Site:
    """What an nginx serves: its configuration, files, and what it tells of itself."""

    config: Config
    files: Mapping[str, str]
    version: str
    is_musl: bool
    changed_ms: int
    """When its files were made: their Last-Modified."""
    worker: int = 29
    """The process id of its first worker."""
    body_path: str = "/var/cache/nginx/client_temp"
    """Where its build keeps bodies of requests."""
    machine: Machine = PLAIN


@dataclass(slots=True)
class Exchange:
    """One request on its way through nginx."""

    site: Site
    server: Server
    request: Request
    upstream: Upstream
    path: str
    query: str
    location: Location | None = None
    log: list[Line] | None = None
    elapsed_ms: int = 1
    has_continued: bool = False
    """Whether it told the client to go on with its body."""
    framing: int = 0
    """Bytes that are sent beside headers and body."""
    expanded: int = 0
    """Characters that its variables stood for so far."""
    captures: tuple[str, ...] = ()
    tried: list[tuple[str, int, str, str]] = field(default_factory=list)
    """(address, status, length of the answer, seconds) of each upstream server that was asked."""

    def connection(self) -> int:
        """Return the number of the next connection that the error log names."""
        memory = self.upstream.state()
        number = int(memory.get("connections", "0")) + 1
        memory["connections"] = str(number)
        self.upstream.remember(memory)
        return number

    @property
    def settings(self) -> Settings:
        return self.server.settings if self.location is None else self.location.settings

    def one(self, name: str) -> tuple[str, ...] | None:
        found = self.settings.get(name)
        return found[-1] if found else None

    @property
    def banner(self) -> str:
        tokens = self.one("server_tokens") or self.site.config.settings.get("server_tokens", (("",),))[-1]
        return "nginx" if tokens[0] == "off" else f"nginx/{self.site.version}"


def expanded(exchange: Exchange, text: str, values: dict[str, str] | None = None) -> str:
    """Replace variables in a value; `values` holds those that the configuration sets, as far as they are known.

    Raises:
        RequestFailed: if the values of the request take more memory than there is.
    """
    if "$" not in text:
        return text
    values = {} if values is None else values
    shown: list[str] = []
    start = 0
    for found in _VARIABLE.finditer(text):
        shown += (text[start : found.start()], variable(exchange, found[1] or found[2], values))
        start = found.end()
        exchange.expanded += len(shown[-1])
        if exchange.expanded > _EXPANDED_MAX:
            raise RequestFailed(f"malloc({exchange.expanded}) failed (12: Cannot allocate memory)", "emerg")
    return "".join(shown) + text[start:]


def variable(exchange: Exchange, name: str, values: dict[str, str] | None = None) -> str:
    """Return a variable's value; one that is set by way of itself is empty there, as before its first `set`."""
    request = exchange.request
    if name.isdigit():
        number = int(name)
        return exchange.captures[number - 1] if 0 < number <= len(exchange.captures) else ""
    host = header(request, "Host") or request.host
    known = {
        "host": host.partition(":")[0].lower() or exchange.server.names[0],
        "http_host": host,
        "uri": exchange.path,
        "document_uri": exchange.path,
        "request_uri": request.path,
        "args": exchange.query,
        "query_string": exchange.query,
        "is_args": "?" if exchange.query else "",
        "remote_addr": request.source_ip,
        "scheme": "http",
        "request_method": request.method,
        "server_name": exchange.server.names[0],
        "server_protocol": f"HTTP/{version(request)}",
        "server_port": str(exchange.server.listens[0][1]),
        "remote_user": user_of(request) or "",
        "nginx_version": exchange.site.version,
        "status": "200",
    }
    if name in known:
        return known[name]
    if name == "proxy_add_x_forwarded_for":
        before = header(request, "X-Forwarded-For")
        return f"{before}, {request.source_ip}" if before else request.source_ip
    if name == "proxy_host":
        return ""
    if name.startswith("http_"):
        return header(request, name[5:].replace("_", "-"))
    if name.startswith("arg_"):
        for part in exchange.query.split("&"):
            key, _, value = part.partition("=")
            if key == name[4:]:
                return value
        return ""
    values = {} if values is None else values
    if name in values:
        return values[name]
    for settings in (exchange.settings, exchange.server.settings):
        for words in settings.get("set", ()):
            if words[0] == f"${name}":
                values[name] = ""
                values[name] = expanded(exchange, words[1], values)
                return values[name]
    return ""


def headers_of(
    exchange: Exchange, status: int, content_type: str, length: int | None, *extra: tuple[str, str],
    is_passed_on: bool = False,
) -> tuple[tuple[str, str], ...]:  # fmt: skip
    """Return the headers of an answer in nginx's order; `extra` go before Connection."""
    found = [
        ("Server", exchange.banner),
        ("Date", header_date(exchange.upstream.now_ms + exchange.elapsed_ms)),
    ]
    if content_type and status != 204:
        found.append(("Content-Type", content_type))
    if length is not None and status not in (204, 304):
        found.append(("Content-Length", str(length)))
    found += extra
    is_open = (is_passed_on or status not in _nginx_pages.CLOSING) and _stays(exchange.request)
    found.append(("Connection", "keep-alive" if is_open else "close"))
    return tuple(found)


def _stays(request: Request) -> bool:
    """Whether the client wants the connection kept. Source: nginx src/http/ngx_http_request.c, connection_type."""
    wanted = header(request, "Connection").lower()
    if "close" in wanted:
        return False
    return "keep-alive" in wanted or version(request) != "1.0"


def added_headers(exchange: Exchange, status: int) -> tuple[tuple[str, str], ...]:
    added = exchange.settings.get("add_header")
    if not added:
        return ()
    return tuple(
        (words[0], expanded(exchange, words[1]))
        for words in added
        if status in (200, 201, 204, 206, 301, 302, 303, 304, 307, 308) or words[2:] == ("always",)
    )


def page(
    exchange: Exchange, status: int, *after: tuple[str, str], before: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """Answer with nginx's own page."""
    body = _nginx_pages.page(status, exchange.banner)
    for words in exchange.settings.get("error_page", ()):
        if str(status) in words[:-1]:
            text = exchange.site.files.get(root_of(exchange) + words[-1])
            if text is not None:
                body = text
    kind = "text/html" if body else ""
    headers = (
        *headers_of(exchange, status, kind, len(body.encode()), *before),
        *after,
        *added_headers(exchange, status),
    )
    return reply_with(exchange, status, headers, body)


def reply_with(exchange: Exchange, status: int, headers: tuple[tuple[str, str], ...], body: str) -> Reply:
    reason = _nginx_pages.reason(status)
    return Reply(
        status=status,
        headers=(*headers, (REASON, reason)) if status != 200 else headers,
        body="" if exchange.request.method == "HEAD" or status in (204, 304) else body,
        latency_ms=exchange.elapsed_ms,
    )


def redirect(exchange: Exchange, status: int, target: str) -> Reply:
    if target.startswith("/"):
        host = header(exchange.request, "Host") or exchange.request.host
        port = exchange.server.listens[0][1]
        base = host.partition(":")[0] + ("" if port == 80 else f":{port}")
        return page(exchange, status, before=(("Location", f"http://{base}{target}"),))
    return page(exchange, status, ("Location", target))


def user_of(request: Request) -> str | None:
    """Return the user of basic authentication, or None."""
    kind, _, encoded = header(request, "Authorization").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        return b64decode(encoded).decode("utf-8", "replace").partition(":")[0]
    except Base64Error:
        return None


def root_of(exchange: Exchange) -> str:
    return (exchange.one("root") or ("/etc/nginx/html",))[0].rstrip("/")


def log_level(exchange: Exchange) -> str:
    words = exchange.one("error_log") or exchange.site.config.settings.get("error_log", ((),))[-1]
    words = words or exchange.site.config.main.get("error_log", (("", "error"),))[-1]
    return words[1] if len(words) > 1 else "error"


def error(
    exchange: Exchange, text: str, *, upstream: str = "", level: str = "error", at_ms: int | None = None
) -> None:
    """Log a problem of a request, as far as the error log's level lets it through."""
    if not logs(log_level(exchange), level):
        return
    request = exchange.request
    connection, worker = exchange.connection(), exchange.site.worker
    at_ms = exchange.upstream.now_ms + exchange.elapsed_ms if at_ms is None else at_ms
    host = header(request, "Host") or request.host
    parts = [
        f"{slash_date(at_ms)} [{level}] {worker}#{worker}: *{connection} {text}, client: {request.source_ip}",
        f"server: {exchange.server.names[0]}",
        f'request: "{request.method} {request.path} HTTP/{version(request)}"',
    ]
    if upstream:
        parts.append(f'upstream: "{upstream}"')
    if host:
        parts.append(f'host: "{host}"')
    line = Line(at_ms, ", ".join(parts), "stderr")
    exchange.log = [*(exchange.log or ()), line]


def access_line(exchange: Exchange, status: int, size: int, at_ms: int) -> Line:
    words = exchange.one("access_log")
    text = exchange.site.config.formats.get(words[1]) if words is not None and len(words) > 1 else None
    if text is not None and text != _MAIN_FORMAT:
        return Line(at_ms, _logged(exchange, text, status, size, at_ms))
    request = exchange.request
    headers = request.headers
    agent = headers.get("User-Agent") or header(request, "User-Agent", "-")
    user = user_of(request) if "Authorization" in headers else None
    forwarded = "" if text is None else f' "{header(request, "X-Forwarded-For", "-")}"'
    line = headers.get(RAW) or f"{request.method} {request.path} HTTP/{version(request)}"
    text = (
        f"{request.source_ip} - {user or '-'} [{access_date(at_ms)}] "
        f'"{line}" {status:03d} {size} '
        f'"{header(request, "Referer", "-")}" "{agent}"{forwarded}'
    )
    return Line(at_ms, text)


_MAIN_FORMAT: Final = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
    ' "$http_x_forwarded_for"'
)
"""The format of the images' own configuration."""


def _logged(exchange: Exchange, text: str, status: int, size: int, at_ms: int) -> str:
    """Return a line of a log format of the configuration's own; empty values are shown as "-"."""
    request = exchange.request
    known = {
        "time_local": access_date(at_ms), "time_iso8601": rfc3339(at_ms).replace("Z", "+00:00"), "msec": f"{at_ms / 1000:.3f}",
        "request": request.headers.get(RAW) or f"{request.method} {request.path} HTTP/{version(request)}", "status": f"{status:03d}",
        "body_bytes_sent": str(size), "bytes_sent": str(size + 200), "request_length": str(_request_length(request)),
        "request_time": f"{exchange.elapsed_ms / 1000:.3f}", "request_id": _request_id(exchange),
        "upstream_addr": ", ".join(each[0] for each in exchange.tried),
        "upstream_status": ", ".join(str(each[1]) for each in exchange.tried),
        "upstream_response_length": ", ".join(each[2] for each in exchange.tried),
        "upstream_response_time": ", ".join(each[3] for each in exchange.tried), "pid": "29", "connection": "1",
        "connection_requests": "1", "pipe": ".",
    }  # fmt: skip

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        try:
            shown = known[name] if name in known else _mapped(exchange, name, known)
        except RequestFailed:
            shown = ""
        return shown or ("" if _is_set(exchange, name) else "-")

    return _VARIABLE.sub(value, text)


def _is_set(exchange: Exchange, name: str) -> bool:
    """Whether a variable is one that the configuration sets: its empty value is shown as such."""
    return any(
        words[0] == f"${name}"
        for settings in (exchange.settings, exchange.server.settings)
        for words in settings.get("set", ())
    )


def _mapped(exchange: Exchange, name: str, known: Mapping[str, str]) -> str:
    source = exchange.site.config.maps.get(name)
    if source is not None:
        return known.get(source) or variable(exchange, source)
    return variable(exchange, name)


def _request_length(request: Request) -> int:
    """Return the bytes of a request, as clients of HTTP/1.1 send it."""
    line = f"{request.method} {request.path} HTTP/{version(request)}\r\n"
    shown = {name: text for name, text in request.headers.items() if not name.startswith(":")}
    if not any(name.lower() == "host" for name in shown):
        shown["Host"] = request.host
    return len(line) + sum(len(name) + len(text) + 4 for name, text in shown.items()) + 2 + len(request.body)


def _request_id(exchange: Exchange) -> str:
    """Return the request's identifier: 32 hexadecimal digits, drawn from what tells requests apart."""
    seed = f"{exchange.upstream.now_ms} {exchange.request.source_ip} {exchange.request.path}"
    return sha256(seed.encode()).hexdigest()[:32]
