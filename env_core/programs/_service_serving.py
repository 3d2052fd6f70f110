"""How our services answer: their endpoints, the calls upstream that these take, health, and what a bad release does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from env_core.programs import _postgres_wire, _rabbitmq_wire, _redis_session
from env_core.programs import _service_logs as logs
from env_core.programs._http import header_date
from env_core.programs._model import END_OF_TIME_MS, Container, Line, Reply, Request, Served, Upstream
from env_core.programs._service_errors import Failed, text
from env_core.programs._service_model import (
    AMQP,
    GO,
    HTTP,
    JAVA,
    NODE,
    POSTGRES,
    PYTHON,
    REDIS,
    RETRIES_VARIABLE,
    TIMEOUT_VARIABLE,
    Call,
    Endpoint,
    Product,
    Release,
)
from env_core.programs._service_starting import is_on, number, password

_JSON: Final = {
    GO: "application/json", NODE: "application/json; charset=utf-8", PYTHON: "application/json", JAVA: "application/json",
}  # fmt: skip
_BACKLOG_MAX: Final = 200
_ALIVE: Final = {REDIS: "PING", POSTGRES: _postgres_wire.ALIVE, AMQP: "connect"}
"""What a product asks of its stores to learn whether they answer."""
_BATCH: Final = 20
"""How many messages a product takes from a queue at once."""
_PART: Final = re.compile(r"\{(\w+)\}")


class Outcome(NamedTuple):
    """What a call brought: the decoded answer, or how it failed."""

    answer: object = None
    failed: Failed | None = None
    took_ms: int = 0


@lru_cache(maxsize=1024)
def _parts(url: str) -> tuple[str, int, str]:
    """Return host, port and base path of a URL."""
    found = urlsplit(url)
    try:
        port = found.port
    except ValueError:
        port = None
    return found.hostname or "", port or (443 if found.scheme == "https" else 80), found.path.rstrip("/")


def serve(
    product: Product, release: Release, container: Container, request: Request, upstream: Upstream
) -> Served:
    """Answer one request."""
    path = request.path.partition("?")[0]
    if path in ("/healthz", "/readyz"):
        return _health(product, container, path, upstream)
    endpoint = _endpoint(product, path)
    if endpoint is None:
        return _answer(
            product, container, request, upstream, 404, {"error": "not found", "path": path}, 0, ()
        )
    if request.method not in endpoint.methods and request.method != "HEAD":
        return _answer(product, container, request, upstream, 405, {"error": "method not allowed"}, 0, ())
    if release.failing_every and _is_turn(release.failing_every, upstream):
        lines = logs.crashed_request(product, path, upstream.now_ms)
        error = {"error": "internal server error"}
        return _answer(product, container, request, upstream, 500, error, 0, lines, endpoint, release)
    fields: dict[str, object] = {"service": product.name, "version": release.tag, **endpoint.fields}
    took_ms = 0
    lines = ()
    for call in endpoint.calls:
        found = _call(product, container, call, path, upstream)
        took_ms += found.took_ms
        if found.failed is not None:
            at_ms = upstream.now_ms + took_ms
            what = call.name or call.variable.lower().removesuffix("_url")
            lines += logs.failed_call(product, what, text(product.language, found.failed), at_ms)
            if not call.is_optional:
                status = 504 if found.failed.failure == "timeout" else 502 if call.protocol == HTTP else 500
                error = {"error": f"{what} unavailable"}
                return _answer(product, container, request, upstream, status, error, took_ms, lines, endpoint, release)  # fmt: skip
        elif call.name:
            fields[call.name] = found.answer
    if product.is_broker:
        more, spent_ms = _deliver(product, container, request, upstream, fields)
        lines += more
        took_ms += spent_ms
    return _answer(product, container, request, upstream, endpoint.status, fields, took_ms, lines, endpoint, release)  # fmt: skip


@lru_cache(maxsize=1024)
def _endpoint(product: Product, path: str) -> Endpoint | None:
    found = [each for each in product.endpoints if path == each.path or path.startswith(each.path.rstrip("/") + "/")]  # fmt: skip
    return max(found, key=lambda each: len(each.path), default=None)


def _is_turn(every: int, upstream: Upstream) -> bool:
    memory = upstream.state()
    count = int(memory.get("requests", "0")) + 1
    upstream.remember({**memory, "requests": str(count)})
    return count % every == 0


def _answer(
    product: Product, container: Container, request: Request, upstream: Upstream, status: int, fields: Mapping[str, object],
    took_ms: int, lines: tuple[Line, ...], endpoint: Endpoint | None = None, release: Release | None = None,
) -> Served:  # fmt: skip
    cpu_ms = endpoint.cpu_ms if endpoint is not None else 1
    body = json.dumps(fields, separators=(",", ":"))
    spent_ms = took_ms + upstream.takes_ms(cpu_ms)
    at_ms = upstream.now_ms + spent_ms
    log = (*lines, logs.request(product, request, status, len(body), spent_ms, at_ms))
    reply = Reply(
        status=status,
        headers=_headers(product, body, at_ms),
        body="" if request.method == "HEAD" else body,
        latency_ms=took_ms + 1,
    )
    return Served(
        reply=reply,
        log=log,
        cpu_ms=cpu_ms,
        memory_bytes=endpoint.memory_bytes if endpoint is not None else 0,
        kept_bytes=release.kept_bytes if release is not None else 0,
    )


def _headers(product: Product, body: str, at_ms: int) -> tuple[tuple[str, str], ...]:
    """Return the headers in the order in which the recorded servers of each language send them."""
    date, length = header_date(at_ms), str(len(body.encode()))
    kind = _JSON[product.language]
    if product.language == PYTHON:
        return (("date", date), ("server", "uvicorn"), ("content-length", length), ("content-type", kind))
    if product.language == NODE:
        return (
            ("X-Powered-By", "Express"),
            ("Content-Type", kind),
            ("Content-Length", length),
            ("Date", date),
        )
    if product.language == JAVA:
        return (("Date", date), ("Content-length", length), ("Content-type", kind))
    return (("Content-Type", kind), ("Date", date), ("Content-Length", length))


def checks_stores(product: Product, container: Container, path: str) -> bool:
    """Whether a health path asks the servers that a product depends on."""
    if not product.stores:
        return False
    return is_on(container.env, "LIVENESS_DEPENDENCIES" if path == "/healthz" else "READINESS_DEPENDENCIES")


def _health(product: Product, container: Container, path: str, upstream: Upstream) -> Served:
    problems = []
    took_ms = 0
    lines: tuple[Line, ...] = ()
    if checks_stores(product, container, path):
        for protocol, prefix in product.stores:
            target = _ALIVE[protocol]
            found = _call(product, container, Call(protocol=protocol, variable=prefix, target=target), path, upstream)  # fmt: skip
            took_ms += found.took_ms
            if found.failed is not None:
                problems.append(prefix.lower())
                shown = text(product.language, found.failed)
                lines += logs.failed_call(product, prefix.lower(), shown, upstream.now_ms + took_ms)
    fields = {"status": "unavailable", "failed": problems} if problems else {"status": "ok"}
    body = json.dumps(fields, separators=(",", ":"))
    status = 503 if problems else 200
    headers = _headers(product, body, upstream.now_ms + took_ms)
    reply = Reply(status=status, headers=headers, body=body, latency_ms=took_ms + 1)
    return Served(reply=reply, log=lines, cpu_ms=1, lasts_until_ms=0 if problems else END_OF_TIME_MS)


def _call(product: Product, container: Container, call: Call, path: str, upstream: Upstream) -> Outcome:
    timeout_ms = max(number(container.env, TIMEOUT_VARIABLE, 2000), 1)
    attempts = 1 + min(max(number(container.env, RETRIES_VARIABLE, 0), 0), call.attempts_max - 1)
    kind = {HTTP: _http, REDIS: _redis, POSTGRES: _postgres, AMQP: _amqp}[call.protocol]
    took_ms = 0
    found = Outcome()
    for _ in range(attempts):
        found = kind(container, call, path, upstream, timeout_ms)
        took_ms += found.took_ms
        if found.failed is None:
            break
    return found._replace(took_ms=took_ms)


def _http(container: Container, call: Call, path: str, upstream: Upstream, timeout_ms: int) -> Outcome:
    url = container.env.get(call.variable, "")
    host, port, before = _parts(url)
    target = before + _PART.sub(lambda found: path.rpartition("/")[2], call.target)
    headers = {"User-Agent": "internal", "Accept": "application/json"}
    asked = Request(
        method=call.method, path=target, host=host if port == 80 else f"{host}:{port}", headers=headers, timeout_ms=timeout_ms,
    )  # fmt: skip
    reply = upstream.request(host, port, asked)
    shown = f"http://{host}{'' if port == 80 else f':{port}'}{target}"
    if reply.failure or not 200 <= reply.status < 300:
        failed = _failure(HTTP, host, port, reply, container, timeout_ms)
        return Outcome(
            None, failed._replace(url=shown, method=call.method, status=reply.status), reply.latency_ms
        )
    try:
        return Outcome(json.loads(reply.body), None, reply.latency_ms)
    except json.JSONDecodeError:
        failed = _failure(HTTP, host, port, reply, container, timeout_ms)
        return Outcome(
            None, failed._replace(url=shown, method=call.method, status=reply.status), reply.latency_ms
        )


def _failure(
    protocol: str, host: str, port: int, reply: Reply, container: Container, timeout_ms: int
) -> Failed:
    phase, _, address = reply.detail.partition(" ")
    if reply.lookup is not None:
        address = ""
    return Failed(
        protocol, host, port, reply.failure, address, is_connecting=phase == "connect", source_ip=container.pod_ip,
        timeout_ms=timeout_ms, lookup=reply.lookup,
    )  # fmt: skip


def _redis(container: Container, call: Call, _path: str, upstream: Upstream, timeout_ms: int) -> Outcome:
    env, prefix = container.env, call.variable
    host, port = env.get(f"{prefix}_HOST", ""), number(env, f"{prefix}_PORT", 6379)
    secret = password(container, prefix)
    body = _redis_session.encode("AUTH", secret) if secret else ""
    body += _redis_session.encode(*call.target.split(" "))
    asked = Request(method="", path="", host=host, body=body, protocol="redis", timeout_ms=timeout_ms)
    reply = upstream.request(host, port, asked)
    error = next((line for line in reply.body.split("\r\n") if line.startswith("-")), "")
    if reply.failure or error:
        failed = _failure(REDIS, host, port, reply, container, timeout_ms)
        return Outcome(None, failed._replace(message=error[1:]), reply.latency_ms)
    return Outcome("hit" if "$-1" not in reply.body else "miss", None, reply.latency_ms)


def _postgres(container: Container, call: Call, _path: str, upstream: Upstream, timeout_ms: int) -> Outcome:
    env, prefix = container.env, call.variable
    host, port = env.get(f"{prefix}_HOST", ""), number(env, f"{prefix}_PORT", 5432)
    query = _postgres_wire.Query(
        user=env.get(f"{prefix}_USER", ""), password=password(container, prefix), database=env.get(f"{prefix}_NAME", ""),
        statement=call.target, pool=number(env, f"{prefix}_POOL_SIZE", 5),
    )  # fmt: skip
    asked = Request(
        method="", path="", host=host, body=_postgres_wire.encode(query), protocol=_postgres_wire.PROTOCOL, timeout_ms=timeout_ms,
    )  # fmt: skip
    reply = upstream.request(host, port, asked)
    error = reply.body.removeprefix("FATAL:  ").removeprefix("ERROR:  ")
    if reply.failure or error != reply.body:
        failed = _failure(POSTGRES, host, port, reply, container, timeout_ms)
        return Outcome(None, failed._replace(message=error, user=query.user), reply.latency_ms)
    return Outcome(reply.body or "ok", None, reply.latency_ms)


def _amqp(container: Container, call: Call, path: str, upstream: Upstream, timeout_ms: int) -> Outcome:
    """Do one thing with a queue over a connection of its own; the answer is how many messages that were."""
    env, prefix = container.env, call.variable
    host, port = env.get(f"{prefix}_HOST", ""), number(env, f"{prefix}_PORT", 5672)
    what, _, queue = call.target.partition(" ")
    operations: tuple[dict[str, object], ...] = (
        ({"do": "declare", "queue": queue, "durable": True},) if queue else ()
    )
    if what == "publish":
        operations += ({"do": "publish", "queue": queue, "body": path, "persistent": True},)
    elif what == "drain":
        operations += (
            {"do": "consume", "queue": queue, "prefetch": _BATCH},
            {"do": "ack", "tag": 0, "multiple": True},
        )
    dialogue = _rabbitmq_wire.Dialogue(
        env.get(f"{prefix}_USER", ""),
        password(container, prefix),
        operations,
        env.get(f"{prefix}_VHOST", "/"),
    )
    reply = upstream.request(host, port, _rabbitmq_wire.request(dialogue, host=host, timeout_ms=timeout_ms))
    told = _rabbitmq_wire.answer(reply)
    if reply.failure or told.closed is not None:
        failed = _failure(AMQP, host, port, reply, container, timeout_ms)
        if told.closed is not None:
            failed = failed._replace(status=told.closed.code, message=told.closed.text)
        return Outcome(None, failed, reply.latency_ms)
    return Outcome(told.results[-1].get("acked", 1) if told.results else 0, None, reply.latency_ms)


def _deliver(
    product: Product, container: Container, request: Request, upstream: Upstream, fields: dict[str, object]
) -> tuple[tuple[Line, ...], int]:
    """Hand what a broker holds to its subscriber, oldest first; what is not taken stays for the next time."""
    memory = upstream.state()
    waiting = int(memory.get("waiting", "0"))
    if request.method == "POST":
        waiting = min(waiting + 1, _BACKLOG_MAX)
    lines: tuple[Line, ...] = ()
    took_ms = 0
    call = Call(variable="SUBSCRIBER_URL", target="/deliver", method="POST")
    while waiting:
        found = _call(product, container, call, "/deliver", upstream)
        took_ms += found.took_ms
        if found.failed is not None:
            shown = text(product.language, found.failed)
            lines = logs.failed_call(product, "subscriber", shown, upstream.now_ms + took_ms)
            break
        waiting -= 1
    upstream.remember({**memory, "waiting": str(waiting)})
    fields["waiting"] = waiting
    # The publisher is answered once the message is kept; delivery goes on behind it.
    return lines, 1
