"""What Envoy makes of a request before it sends it on: what the client asks of it by headers, and the headers that it adds.

Source: docs/root/configuration/http/http_filters/router_filter.rst, docs/root/configuration/http/http_conn_man/headers.rst of
envoyproxy/envoy.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Final

from env_core.programs._envoy_config import Listener, Retry, Route
from env_core.programs._envoy_hosts import Memory
from env_core.programs._http import header
from env_core.programs._model import Container, Request

HOPS: Final = frozenset(
    ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "host")
)
"""Headers of one connection."""
_RETRIES_MAX: Final = 20
_TIMEOUT: Final = "x-envoy-upstream-rq-timeout-ms"
_PER_TRY: Final = "x-envoy-upstream-rq-per-try-timeout-ms"
_MAX_RETRIES: Final = "x-envoy-max-retries"
_RETRY_ON: Final = "x-envoy-retry-on"
_OWN: Final = frozenset((_TIMEOUT, _PER_TRY, _MAX_RETRIES, _RETRY_ON))


def _number(request: Request, name: str) -> int | None:
    text = header(request, name)
    return int(text) if text.isdecimal() and len(text) <= 9 else None


def asked(route: Route, request: Request) -> Route:
    """Return a route with the time limits and retries that the client asks for."""
    if not any(name.lower() in _OWN for name in request.headers):
        return route
    timeout_ms, per_try_ms, retries = (_number(request, name) for name in (_TIMEOUT, _PER_TRY, _MAX_RETRIES))
    policy = route.retry
    if wanted := header(request, _RETRY_ON):
        conditions = frozenset(word.strip() for word in wanted.split(","))
        before = policy or Retry(frozenset())
        policy = before._replace(conditions=before.conditions | conditions)
    if policy is not None and retries is not None:
        policy = policy._replace(retries=min(retries, _RETRIES_MAX))
    if policy is not None and per_try_ms is not None:
        policy = policy._replace(per_try_ms=per_try_ms)
    return replace(route, timeout_ms=route.timeout_ms if timeout_ms is None else timeout_ms, retry=policy)


def passed_on(
    route: Route, listener: Listener, container: Container, request: Request, memory: Memory
) -> Request:
    """Return the request as it goes on."""
    host = header(request, "Host") or request.host
    kept = {
        name: value
        for name, value in request.headers.items()
        if not name.startswith(":") and name.lower() not in HOPS | _OWN
    }
    lower = {name.lower() for name in kept}
    if listener.uses_remote_address:
        before = header(request, "X-Forwarded-For")
        kept = {name: value for name, value in kept.items() if name.lower() != "x-forwarded-for"}
        kept["x-forwarded-for"] = f"{before},{request.source_ip}" if before else request.source_ip
    if "x-forwarded-proto" not in lower:
        kept["x-forwarded-proto"] = "http"
    if "x-request-id" not in lower:
        kept["x-request-id"] = _request_id(container, memory)
    if route.timeout_ms:
        kept["x-envoy-expected-rq-timeout-ms"] = str(route.timeout_ms)
    path = request.path
    if route.prefix_rewrite is not None:
        before = route.path or route.separated or route.prefix
        path = route.prefix_rewrite + path[len(before) :]
    return Request(
        method=request.method,
        path=path or "/",
        host=route.host_rewrite or host,
        headers=kept,
        body=request.body,
    )


def _request_id(container: Container, memory: Memory) -> str:
    number = memory.get("stat requests", "0")
    text = sha256(f"{container.pod_uid} {container.started_ms} {number}".encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-9{text[17:20]}-{text[20:32]}"
