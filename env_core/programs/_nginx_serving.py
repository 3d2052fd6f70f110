"""How nginx answers a request: choosing server and location, returning, proxying, serving files, logging."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache

from env_core.programs import _nginx_pages
from env_core.programs._http import CONTINUE, CONTINUE_TEXT, CUT_SHORT, header, header_date
from env_core.programs._machine import is_full
from env_core.programs._model import (
    EMPTY,
    Reply,
    Request,
    Served,
    Upstream,
)
from env_core.programs._nginx_exchange import (
    Exchange,
    Site,
    access_line,
    added_headers,
    error,
    expanded,
    headers_of,
    page,
    redirect,
    reply_with,
    root_of,
    user_of,
)
from env_core.programs._nginx_framing import TYPED, body_late, is_expecting, is_long, unframed
from env_core.programs._nginx_limits import limited
from env_core.programs._nginx_model import Config, Location, Server, size_bytes
from env_core.programs._nginx_patterns import RequestFailed, pattern
from env_core.programs._nginx_proxy import proxy

_GONE = (
    "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too while sending"
    " request to upstream"
)


def listens_on(config: Config) -> tuple[int, ...]:
    """Return the ports of a configuration, in order, once each."""
    return tuple(dict.fromkeys(port for server in config.servers for _, port in server.listens if port))


@lru_cache(maxsize=2048)
def _server(config: Config, port: int, host: str) -> Server | None:
    candidates = [server for server in config.servers if any(each == port for _, each in server.listens)]
    for server in candidates:
        if host in server.names:
            return server
    for server in candidates:
        for name in server.names:
            if name.startswith("*.") and host.endswith(name[1:]):
                return server
            if name.startswith("~") and pattern(name[1:], ignores_case=True).search(host):
                return server
    for server in candidates:
        if server.is_default:
            return server
    return candidates[0] if candidates else (config.servers[0] if config.servers else None)


@lru_cache(maxsize=4096)
def location_of(owner: Server | Location, path: str) -> Location | None:
    """Return the location of a path: exact, longest prefix, then regular expressions in order.

    Source: https://nginx.org/en/docs/http/ngx_http_core_module.html#location
    """
    locations = owner.locations if isinstance(owner, Server) else owner.inner
    best: Location | None = None
    for each in locations:
        if each.modifier == "=":
            if each.path == path:
                return each
        elif each.modifier in ("", "^~") and path.startswith(each.path):
            if best is None or len(each.path) > len(best.path):
                best = each
    if best is not None and best.inner:
        deeper = location_of(best, path)
        if deeper is not None:
            return deeper
    if best is None or best.modifier != "^~":
        for each in locations:
            if each.pattern is not None and each.pattern.search(path):
                return each
    return best


def answer(site: Site, port: int, request: Request, upstream: Upstream) -> Served:
    """Answer one HTTP request that came in on `port`."""
    if request.protocol == TYPED and not request.body:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    host = (header(request, "Host") or request.host).partition(":")[0].lower()
    path, _, query = request.path.partition("?")
    try:
        server = _server(site.config, port, host)
    except RequestFailed as failed:
        exchange = Exchange(site, site.config.servers[0], request, upstream, path, query)
        error(exchange, failed.text, level=failed.level)
        return Served(reply=Reply(failure=EMPTY), log=tuple(exchange.log or ()))
    if server is None:
        return Served(reply=Reply(failure=EMPTY))
    exchange = Exchange(site, server, request, upstream, path or "/", query)
    try:
        reply = _early(exchange) or _answer_path(exchange, 0)
        if exchange.has_continued:
            reply = reply._replace(headers=(*reply.headers, (CONTINUE, "")))
    except RequestFailed as failed:
        reply = _given_up(exchange, failed)
    if request.method == "HEAD":
        shown = 0
    else:
        shown = len(reply.body.encode()) if not reply.body.isascii() else len(reply.body)
    shown += exchange.framing
    lines = exchange.log or []
    if request.timeout_ms and exchange.elapsed_ms > request.timeout_ms:
        gone_ms = upstream.now_ms + request.timeout_ms
        lines = [line for line in lines if line.at_ms <= gone_ms]
        if exchange.tried:
            where = exchange.tried[-1][0]
            exchange.log = None
            error(exchange, _GONE, upstream=f"http://{where}{request.path}", level="info", at_ms=gone_ms)
            lines += exchange.log or []
        lines.append(access_line(exchange, 499, 0, gone_ms))
        return Served(reply=reply, log=tuple(lines), cpu_ms=1, memory_bytes=64 << 10)
    if exchange.one("access_log") != ("off",):
        lines = [*lines, access_line(exchange, reply.status, shown, upstream.now_ms + exchange.elapsed_ms)]
    if reply.failure == EMPTY:
        reply = reply._replace(status=0)
    return Served(reply=reply, log=tuple(lines), cpu_ms=1, memory_bytes=64 << 10)


def _given_up(exchange: Exchange, failed: RequestFailed) -> Reply:
    """Answer what cannot be answered; without even the headers of that, close the connection."""
    error(exchange, failed.text, level=failed.level)
    try:
        return page(exchange, 500)
    except RequestFailed as again:
        error(exchange, again.text, level=again.level)
        return Reply(failure=EMPTY, latency_ms=exchange.elapsed_ms)


def _early(exchange: Exchange) -> Reply | None:
    request = exchange.request
    if request.protocol == "tls":
        return page(exchange, 400)
    if request.protocol == TYPED or CUT_SHORT in request.headers or is_long(request):
        refused = unframed(exchange)
        if refused is not None:
            return refused
    if not request.body:
        return None
    exchange.location = location_of(exchange.server, exchange.path)
    limit = size_bytes((exchange.one("client_max_body_size") or ("1m",))[0])
    if limit and len(request.body) > limit:
        error(exchange, f"client intended to send too large body: {len(request.body)} bytes")
        return page(exchange, 413)
    return None


def _answer_path(exchange: Exchange, turns: int) -> Reply:
    server = exchange.server
    returned = server.settings.get("return")
    if returned:
        return _return(exchange, returned[0])
    exchange.location = location = location_of(server, exchange.path)
    settings = exchange.settings
    if location is not None and location.pattern is not None:
        found = location.pattern.search(exchange.path)
        exchange.captures = tuple(each or "" for each in found.groups()) if found else ()
    if "rewrite" in settings:
        _rewrite(exchange, settings["rewrite"])
    returned = settings.get("return")
    if returned:
        return _return(exchange, returned[0])
    if "auth_basic" in settings and settings["auth_basic"][-1] != ("off",):
        refused = _authenticate(exchange)
        if refused is not None:
            return refused
    if any(each == ("all",) for each in settings.get("deny", ())):
        error(exchange, "access forbidden by rule")
        return page(exchange, 403)
    if "limit_req" in settings:
        refused = limited(exchange)
        if refused is not None:
            return refused
    proxied = settings.get("proxy_pass")
    if proxied:
        return (_keep_body(exchange) if exchange.request.body else None) or proxy(exchange, proxied[-1][0])
    if "try_files" in settings:
        return _try_files(exchange, settings["try_files"][-1], turns)
    return _static(exchange, exchange.path)


def _keep_body(exchange: Exchange) -> Reply | None:
    """Read a request's body before it goes to an upstream, a large one into a file; return why that fails."""
    late = body_late(exchange)
    if late is not None:
        return late
    if is_expecting(exchange.request):
        exchange.has_continued = True
        exchange.framing += len(CONTINUE_TEXT)
    buffer = size_bytes((exchange.one("client_body_buffer_size") or ("16k",))[0])
    if len(exchange.request.body) <= buffer:
        return None
    memory = exchange.upstream.state()
    number = int(memory.get("bodies", "0")) + 1
    memory["bodies"] = str(number)
    exchange.upstream.remember(memory)
    path = f"{(exchange.one('client_body_temp_path') or (exchange.site.body_path,))[0]}/{number:010d}"
    error(exchange, f"a client request body is buffered to a temporary file {path}", level="warn")
    if not is_full(exchange.site.machine, path):
        return None
    error(exchange, f'pwrite() "{path}" failed (28: No space left on device)', level="crit")
    return page(exchange, 500)


def _rewrite(exchange: Exchange, rules: tuple[tuple[str, ...], ...]) -> None:
    for rule in rules:
        found = pattern(rule[0]).search(exchange.path)
        if found is None:
            continue
        exchange.captures = tuple(each or "" for each in found.groups())
        target = expanded(exchange, rule[1])
        exchange.path, _, query = target.partition("?")
        exchange.query = query or exchange.query
        if len(rule) > 2 and rule[2] in ("break", "last"):
            return


def _return(exchange: Exchange, words: tuple[str, ...]) -> Reply:
    if not words[0].isdigit():
        return redirect(exchange, 302, expanded(exchange, words[0]))
    status = int(words[0])
    if status == 444:
        return Reply(failure=EMPTY, latency_ms=exchange.elapsed_ms)
    if len(words) == 1:
        return page(exchange, status)
    text = expanded(exchange, words[1])
    if status in (301, 302, 303, 307, 308):
        return redirect(exchange, status, text)
    kind = (exchange.one("default_type") or ("text/plain",))[0]
    headers = (*headers_of(exchange, status, kind, len(text.encode())), *added_headers(exchange, status))
    return reply_with(exchange, status, headers, text)


def _authenticate(exchange: Exchange) -> Reply | None:
    path = (exchange.one("auth_basic_user_file") or ("",))[0]
    path = path if path.startswith("/") else f"/etc/nginx/{path}"
    realm = (exchange.one("auth_basic") or ("",))[0]
    user = user_of(exchange.request)
    challenge = ("WWW-Authenticate", f'Basic realm="{realm}"')
    if user is None:
        return page(exchange, 401, challenge)
    text = exchange.site.files.get(path)
    if text is None:
        error(exchange, f'open() "{path}" failed (2: No such file or directory)')
        return page(exchange, 403)
    stored = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    if user not in stored:
        error(exchange, f'user "{user}" was not found in "{path}"')
        return page(exchange, 401, challenge)
    secret = (
        b64decode(header(exchange.request, "Authorization").partition(" ")[2])
        .decode("utf-8", "replace")
        .partition(":")[2]
    )
    if stored[user] == f"{{PLAIN}}{secret}":
        return None
    error(exchange, f'user "{user}": password mismatch')
    return page(exchange, 401, challenge)


def _file_path(exchange: Exchange, uri: str) -> str:
    alias = exchange.one("alias")
    if alias is not None and exchange.location is not None:
        return alias[0] + uri[len(exchange.location.path) :]
    return root_of(exchange) + uri


def _is_directory(files: Mapping[str, str], path: str) -> bool:
    prefix = path.rstrip("/") + "/"
    return any(each.startswith(prefix) for each in files)


def _static(exchange: Exchange, uri: str) -> Reply:
    files = exchange.site.files
    path = _file_path(exchange, uri)
    if uri.endswith("/"):
        names = exchange.one("index") or ("index.html",)
        for name in names:
            if path + name in files:
                return _file(exchange, path + name)
        if not _is_directory(files, path):
            error(exchange, f'"{path}{names[-1]}" is not found (2: No such file or directory)')
            return page(exchange, 404)
        error(exchange, f'directory index of "{path}" is forbidden')
        return page(exchange, 403)
    if path in files:
        if path in exchange.site.machine.forbidden:
            error(exchange, f'open() "{path}" failed (13: Permission denied)')
            return page(exchange, 403)
        return _file(exchange, path)
    if _is_directory(files, path):
        return redirect(exchange, 301, uri + "/")
    if exchange.one("log_not_found") != ("off",):
        error(exchange, f'open() "{path}" failed (2: No such file or directory)')
    return page(exchange, 404)


def _file(exchange: Exchange, path: str) -> Reply:
    if exchange.request.method not in ("GET", "HEAD"):
        return page(exchange, 405)
    text = exchange.site.files[path]
    size = len(text.encode())
    changed_ms = exchange.site.changed_ms
    kind = _nginx_pages.TYPES.get(
        path.rpartition(".")[2], (exchange.one("default_type") or ("application/octet-stream",))[0]
    )
    headers = (
        *headers_of(exchange, 200, kind, size, ("Last-Modified", header_date(changed_ms))),
        ("ETag", f'"{changed_ms // 1000:x}-{size:x}"'),
        ("Accept-Ranges", "bytes"),
        *added_headers(exchange, 200),
    )
    return reply_with(exchange, 200, headers, text)


def _try_files(exchange: Exchange, words: tuple[str, ...], turns: int) -> Reply:
    for word in words[:-1]:
        uri = expanded(exchange, word)
        path = _file_path(exchange, uri)
        if uri.endswith("/"):
            if _is_directory(exchange.site.files, path):
                return _static(exchange, uri)
        elif path in exchange.site.files:
            return _file(exchange, path)
    last = words[-1]
    if last.startswith("="):
        return page(exchange, int(last[1:]))
    target = expanded(exchange, last)
    if turns >= 9:
        error(exchange, f'rewrite or internal redirection cycle while internally redirecting to "{target}"')
        return page(exchange, 500)
    if last.startswith("@"):
        for each in exchange.server.locations:
            if each.path == last:
                exchange.location = each
                proxied = each.one("proxy_pass")
                returned = each.one("return")
                if returned is not None:
                    return _return(exchange, returned)
                return proxy(exchange, proxied[0]) if proxied else page(exchange, 404)
    exchange.path, _, query = target.partition("?")
    exchange.query = query or exchange.query
    return _answer_path(exchange, turns + 1)
