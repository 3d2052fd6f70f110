"""What nginx says of requests that are too long, or that do not come whole in time.

Source: nginx src/http/ngx_http_request.c (ngx_http_process_request_line, ngx_http_process_request_headers),
ngx_http_request_body.c; tests/golden/programs/nginx (nginx.414, nginx.400.header, nginx.408).
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _nginx_pages
from env_core.programs._http import CUT_SHORT, LONG, LONG_MIN, header, slash_date, version
from env_core.programs._model import EMPTY, Line, Reply, Request
from env_core.programs._nginx_exchange import RAW, Exchange, error, headers_of, log_level, reply_with
from env_core.programs._nginx_model import milliseconds, size_bytes
from env_core.programs._nginx_signals import logs

BUFFER_BYTES: Final = 8_192
"""The default of large_client_header_buffers."""
_LINE_MAX: Final = 2_047
"""Characters of a line of the error log: NGX_MAX_ERROR_STR without the end of the line."""
_SHOWN_MAX: Final = 2_048 - 300
TYPED: Final = "redis"
"""The protocol of requests that are just text, as nc sends them."""
_TIMEOUT: Final = "60s"
_TOO_LARGE: Final = "Request Header Or Cookie Too Large"


def unframed(exchange: Exchange) -> Reply | None:
    """Answer a request whose line or headers do not fit their buffer, or never end; None for all others."""
    request = exchange.request
    if request.protocol == TYPED:
        return _no_request(exchange, request.body.partition("\n")[0].rstrip("\r"))
    if CUT_SHORT in request.headers and request.headers[CUT_SHORT] == "headers":
        return _headers_late(exchange)
    words = exchange.one("large_client_header_buffers")
    buffer = size_bytes(words[1]) if words else BUFFER_BYTES
    line = f"{request.method} {request.path} HTTP/{version(request)}"
    if len(line) + 2 > buffer:
        return _line_too_long(exchange, line[:buffer])
    for name, value in request.headers.items():
        if len(name) + len(value) + 4 > buffer:
            shown = f"{name}: {value}"[:_SHOWN_MAX]
            problem = f'client sent too long header line: "{shown}..." while reading client request headers'
            error(exchange, problem, level="info")
            return _header_too_large(exchange)
    return None


def is_long(request: Request) -> bool:
    """Whether a request may not fit its buffers: cheap to tell for all others."""
    return len(request.path) > LONG_MIN or LONG in request.headers


def body_late(exchange: Exchange) -> Reply | None:
    """Give up waiting for the rest of a body that an upstream needs whole; None for bodies that are whole."""
    if CUT_SHORT not in exchange.request.headers:
        return None
    exchange.elapsed_ms += _patience(exchange, "client_body_timeout")
    return Reply(status=408, failure=EMPTY, latency_ms=exchange.elapsed_ms)


def _patience(exchange: Exchange, name: str) -> int:
    return milliseconds((exchange.one(name) or (_TIMEOUT,))[0])


def _headers_late(exchange: Exchange) -> Reply:
    exchange.elapsed_ms += _patience(exchange, "client_header_timeout")
    problem = "client timed out (110: Connection timed out) while reading client request headers"
    error(exchange, problem, level="info")
    return Reply(status=408, failure=EMPTY, latency_ms=exchange.elapsed_ms)


def _line_too_long(exchange: Exchange, line: str) -> Reply:
    _read_only(exchange, line, "client sent too long URI while reading client request line")
    return _refusal(exchange, 414, _nginx_pages.page(414, exchange.banner))


def _no_request(exchange: Exchange, line: str) -> Reply:
    """Refuse what is no request of HTTP."""
    method = line.partition(" ")[0]
    is_method = method.replace("_", "").replace("-", "").isupper() and method.isascii()
    _read_only(
        exchange,
        line,
        f"client sent invalid {'request' if is_method else 'method'} while reading client request line",
    )
    return _refusal(exchange, 400, _nginx_pages.page(400, exchange.banner))


def _read_only(exchange: Exchange, line: str, problem: str) -> None:
    """Log why a request line is refused: nothing after it was read, and what was read is all that the logs know."""
    request = exchange.request
    method, _, target = line.partition(" ")
    exchange.request = Request(
        method=method, path=target, body="", source_ip=request.source_ip, timeout_ms=request.timeout_ms, headers={RAW: line},
    )  # fmt: skip
    if not logs(log_level(exchange), "info"):
        return
    at_ms = exchange.upstream.now_ms + exchange.elapsed_ms
    worker = exchange.site.worker
    text = (
        f"{slash_date(at_ms)} [info] {worker}#{worker}: *{exchange.connection()} {problem}, client: {request.source_ip},"
        f' server: {exchange.server.names[0]}, request: "{line}"'
    )
    exchange.log = [*(exchange.log or ()), Line(at_ms, text[:_LINE_MAX], "stderr")]


def _header_too_large(exchange: Exchange) -> Reply:
    """Answer with the page of the status 494, which clients are told as 400."""
    title = _nginx_pages.TITLES[400]
    body = (
        f"<html>\r\n<head><title>400 {_TOO_LARGE}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
        f"<center>{_TOO_LARGE}</center>\r\n<hr><center>{exchange.banner}</center>\r\n</body>\r\n</html>\r\n"
    )
    return _refusal(exchange, 400, body)


def _refusal(exchange: Exchange, status: int, body: str) -> Reply:
    headers = headers_of(exchange, status, "text/html", len(body))
    return reply_with(exchange, status, headers, body)


def is_expecting(request: Request) -> bool:
    """Whether the client waits for "100 Continue" before it sends its body."""
    return bool(request.body) and header(request, "Expect").lower() == "100-continue"
