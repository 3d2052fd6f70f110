"""How Envoy's router sends a request on: attempts, time limits, retries, and its own answers when that comes to nothing.

Source: envoyproxy/envoy source/common/router/router.cc (onUpstreamReset, onUpstreamTimeoutAbort, maybeRetryReset),
source/common/http/utility.cc (resetReasonToString), docs/root/configuration/http/http_filters/router_filter.rst,
docs/root/configuration/observability/access_log/usage.rst (response flags).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from env_core.programs._envoy_asking import HOPS, asked, passed_on
from env_core.programs._envoy_config import Bootstrap, Cluster, Listener, Retry, Route
from env_core.programs._envoy_hosts import (
    Host,
    Memory,
    admit,
    choose,
    count,
    depart,
    hosts,
    keep,
    note,
)
from env_core.programs._http import FOREIGN, header
from env_core.programs._model import (
    FILTERED,
    NETWORK_UNREACHABLE,
    REFUSED,
    TIMEOUT,
    UNREACHABLE,
    Container,
    Reply,
    Request,
    Upstream,
)

_CONNECT_ERRORS: Final = {
    REFUSED: "Connection refused", UNREACHABLE: "No route to host", FILTERED: "No route to host",
    NETWORK_UNREACHABLE: "Network is unreachable",
}  # fmt: skip
_FLAGS: Final = ("UH", "UT", "UF", "UC", "UO", "NR", "URX", "UPE", "NC")
"""In the order in which they are logged."""
_RESET: Final = "upstream connect error or disconnect/reset before headers. "
_FOREVER_MS: Final = 1 << 40


@dataclass(slots=True)
class Outcome:
    """What became of a request."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    took_ms: int = 1
    flags: set[str] = field(default_factory=set)
    details: str = "via_upstream"
    host: str = ""
    cluster: str = ""
    route: str = ""
    attempts: int = 0
    upstream_ms: int | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    """The request's headers as they went on."""
    is_local: bool = False
    """Whether Envoy answers itself."""

    @property
    def shown_flags(self) -> str:
        """The response flags as they are logged."""
        return ",".join(flag for flag in _FLAGS if flag in self.flags) or "-"


class _Attempt(NamedTuple):
    """What one attempt brought: an answer, or why there is none."""

    reply: Reply | None
    took_ms: int
    reason: str = ""
    """Of a reset, as texts name it; "timeout" for a time limit of one attempt or of all."""
    flag: str = ""
    is_connecting: bool = False
    transport: str = ""
    is_per_try: bool = False


def local(outcome: Outcome, status: int, body: str, details: str, *flags: str) -> Outcome:
    """Make an outcome an answer of Envoy's own."""
    outcome.status, outcome.body, outcome.details, outcome.is_local = status, body, details, True
    outcome.headers = (
        (("content-length", str(len(body.encode()))), ("content-type", "text/plain"))
        if body
        else (("content-length", "0"),)
    )
    outcome.flags.update(flags)
    return outcome


def find(listener: Listener, request: Request) -> Route | None:
    """Return the first route that fits a request."""
    name = (header(request, "Host") or request.host).lower()
    path = request.path.partition("?")[0]
    for bare in (name, name.rpartition(":")[0] or name):
        for match in (_is_exact, _is_suffix, _is_prefix, _is_any):
            for host in listener.hosts:
                if any(match(domain.lower(), bare) for domain in host.domains):
                    return next((route for route in host.routes if route.fits(path)), None)
    return None


def _is_exact(domain: str, name: str) -> bool:
    return domain == name


def _is_suffix(domain: str, name: str) -> bool:
    return (
        domain.startswith("*")
        and len(domain) > 1
        and name.endswith(domain[1:])
        and len(name) > len(domain) - 1
    )


def _is_prefix(domain: str, name: str) -> bool:
    return domain.endswith("*") and len(domain) > 1 and name.startswith(domain[:-1])


def _is_any(domain: str, _name: str) -> bool:
    return domain == "*"


def forward(
    bootstrap: Bootstrap, listener: Listener, container: Container, request: Request, upstream: Upstream, memory: Memory
) -> Outcome:  # fmt: skip
    """Answer a request to a listener for HTTP."""
    outcome = Outcome()
    route = find(listener, request)
    if route is None:
        count(memory, f"http.{listener.stat_prefix}.no_route")
        return local(outcome, 404, "", "route_not_found", "NR")
    outcome.route = route.name
    if route.location:
        return _redirect(outcome, route, request)
    if route.status:
        return local(outcome, route.status, route.body, "direct_response")
    cluster = bootstrap.cluster(_drawn(route, memory))
    if cluster is None:
        return local(outcome, 503, "", "cluster_not_found", "NC")
    outcome.cluster = cluster.name
    return _send(cluster, asked(route, request), listener, container, request, upstream, memory, outcome)


def _redirect(outcome: Outcome, route: Route, request: Request) -> Outcome:
    host = header(request, "Host") or request.host
    target = (
        f"https://{host}{request.path}" if route.location == "https:" else f"http://{host}{route.location}"
    )
    local(outcome, route.status, "", "direct_response")
    outcome.headers = (("location", target), ("content-length", "0"))
    return outcome


def _drawn(route: Route, memory: Memory) -> str:
    """Return the cluster whose turn it is by the weights."""
    if len(route.clusters) == 1:
        return route.clusters[0][0]
    total = sum(weight for _, weight in route.clusters)
    if not total:
        return ""
    slot = "weighted " + " ".join(name for name, _ in route.clusters)
    turn = int(memory.get(slot, "0"))
    memory[slot] = str(turn + 1)
    # Spread evenly instead of one cluster after another: a step that shares no factor with most totals.
    place = turn * 61 % total
    for name, weight in route.clusters:
        if place < weight:
            return name
        place -= weight
    return ""


def _send(
    cluster: Cluster, route: Route, listener: Listener, container: Container, request: Request, upstream: Upstream, memory: Memory,
    outcome: Outcome,
) -> Outcome:  # fmt: skip
    now_ms, started_ms, prefix = upstream.now_ms, container.started_ms, f"cluster.{cluster.name}"
    known = hosts(memory, cluster, upstream)
    waits_ms = admit(memory, cluster, now_ms)
    if waits_ms is None:
        count(memory, f"{prefix}.upstream_rq_pending_overflow")
        _charge(memory, cluster, 503)
        text = f"{_RESET}reset reason: overflow"
        local(outcome, 503, text, "upstream_reset_before_response_started{overflow}", "UO")
        outcome.headers += (("x-envoy-overloaded", "true"),)
        return outcome
    elapsed_ms = waits_ms
    deadline_ms = route.timeout_ms or _FOREVER_MS
    retries = route.retry.retries if route.retry is not None else 0
    inner = passed_on(route, listener, container, request, memory)
    outcome.sent = inner.headers
    while True:
        host = choose(memory, cluster, known, now_ms + elapsed_ms)
        if host is None:
            count(memory, f"{prefix}.upstream_cx_none_healthy")
            _charge(memory, cluster, 503)
            local(outcome, 503, "no healthy upstream", "no_healthy_upstream", "UH")
            break
        outcome.attempts += 1
        outcome.host = host.shown
        per_try_ms = route.retry.per_try_ms if route.retry is not None else 0
        found = _attempt(cluster, host, inner, upstream, deadline_ms - elapsed_ms, per_try_ms, memory)
        elapsed_ms += found.took_ms
        status = found.reply.status if found.reply is not None else 504 if found.reason == "timeout" else 503
        note(memory, cluster, known, host, status, now_ms + elapsed_ms, started_ms)
        is_worth = route.retry is not None and _is_retriable(route.retry, found)
        if is_worth and retries and cluster.limits.retries:
            back_off_ms = _back_off_ms(route.retry, outcome.attempts)
            if elapsed_ms + back_off_ms < deadline_ms:
                retries -= 1
                elapsed_ms += back_off_ms
                count(memory, f"{prefix}.upstream_rq_retry")
                continue
            elapsed_ms = deadline_ms
            found = _Attempt(None, 0, "timeout")
        elif is_worth and retries:
            count(memory, f"{prefix}.upstream_rq_retry_overflow")
            outcome.flags.add("UO")
        elif is_worth:
            count(memory, f"{prefix}.upstream_rq_retry_limit_exceeded")
            outcome.flags.add("URX")
        _finish(outcome, found, cluster, memory)
        break
    outcome.took_ms = max(elapsed_ms, 1)
    if outcome.attempts:
        depart(memory, cluster, now_ms, now_ms + outcome.took_ms)
    return outcome


def _charge(memory: Memory, cluster: Cluster, status: int) -> None:
    prefix = f"cluster.{cluster.name}.upstream_rq"
    for name in (f"{prefix}_completed", f"{prefix}_{status // 100}xx", f"{prefix}_{status}"):
        count(memory, name)


def _finish(outcome: Outcome, found: _Attempt, cluster: Cluster, memory: Memory) -> None:
    """Turn the last attempt into the answer."""
    reply = found.reply
    if reply is not None:
        outcome.status, outcome.body = reply.status, reply.body
        outcome.upstream_ms = found.took_ms
        names = {name.lower() for name, _ in reply.headers}
        kept = [
            (name.lower(), value)
            for name, value in reply.headers
            if not name.startswith(":") and name.lower() not in HOPS and name.lower() != "server"
        ]
        if "content-length" not in names:
            kept.append(("transfer-encoding", "chunked"))
        outcome.headers = (*kept, ("x-envoy-upstream-service-time", str(found.took_ms)))
        _charge(memory, cluster, reply.status)
        if outcome.attempts > 1 and reply.status < 500:
            count(memory, f"cluster.{cluster.name}.upstream_rq_retry_success")
        return
    if found.reason == "timeout":
        _charge(memory, cluster, 504)
        details = "upstream_per_try_timeout" if found.is_per_try else "response_timeout"
        local(outcome, 504, "upstream request timeout", details, "UT")
        return
    status = 502 if found.flag == "UPE" else 503
    _charge(memory, cluster, status)
    again = "retried and the latest " if outcome.attempts > 1 else ""
    transport = f", transport failure reason: {found.transport}" if found.transport else ""
    inside = ",".join(part for part in (found.reason, found.transport) if part).replace(" ", "_")
    local(
        outcome, status, f"{_RESET}{again}reset reason: {found.reason}{transport}",
        f"upstream_reset_before_response_started{{{inside}}}", found.flag,
    )  # fmt: skip


def _attempt(
    cluster: Cluster, host: Host, inner: Request, upstream: Upstream, left_ms: int, per_try_ms: int, memory: Memory
) -> _Attempt:  # fmt: skip
    """Send a request to one host, within what is left of the time."""
    prefix = f"cluster.{cluster.name}"
    is_per_try = bool(per_try_ms) and per_try_ms < left_ms
    limit_ms = per_try_ms if is_per_try else left_ms
    timeout_ms = 0 if limit_ms >= _FOREVER_MS // 2 else max(limit_ms, 1)
    reply = upstream.request(host.address, host.port, inner._replace(timeout_ms=timeout_ms))
    for name in ("upstream_rq_total", "upstream_cx_total"):
        count(memory, f"{prefix}.{name}")
    host.requests += 1
    host.connections += 1
    found = _classified(cluster, reply, limit_ms, is_per_try=is_per_try)
    if found.reply is not None and found.reply.status < 500:
        host.successes += 1
    else:
        host.errors += 1
    if found.reason == "timeout":
        host.timeouts += 1
        count(memory, f"{prefix}.{'upstream_rq_per_try_timeout' if is_per_try else 'upstream_rq_timeout'}")
    elif found.is_connecting:
        host.connect_failures += 1
        count(memory, f"{prefix}.upstream_cx_connect_fail")
        if found.reason == "connection timeout":
            count(memory, f"{prefix}.upstream_cx_connect_timeout")
    elif found.reason:
        count(memory, f"{prefix}.upstream_rq_rx_reset")
    keep(memory, cluster, host)
    return found


def _classified(cluster: Cluster, reply: Reply, limit_ms: int, *, is_per_try: bool) -> _Attempt:
    is_connecting = reply.detail.startswith("connect")
    if reply.failure == TIMEOUT:
        if is_connecting and cluster.connect_ms <= limit_ms:
            return _Attempt(None, cluster.connect_ms, "connection timeout", "UF", is_connecting=True)
        return _Attempt(None, min(limit_ms, reply.latency_ms), "timeout", "UT", is_per_try=is_per_try)
    if reply.failure in _CONNECT_ERRORS:
        why = f"delayed connect error: {_CONNECT_ERRORS[reply.failure]}"
        took_ms = min(reply.latency_ms, cluster.connect_ms)
        return _Attempt(None, took_ms, "remote connection failure", "UF", is_connecting=True, transport=why)
    if any(name == FOREIGN for name, _ in reply.headers):
        return _Attempt(None, reply.latency_ms, "protocol error", "UPE")
    if reply.failure:
        return _Attempt(None, reply.latency_ms, "connection termination", "UC")
    return _Attempt(reply, reply.latency_ms)


def _is_retriable(policy: Retry, found: _Attempt) -> bool:
    """Whether a policy wants another attempt after this one."""
    wanted = policy.conditions
    if found.reply is not None:
        status = found.reply.status
        return (
            ("5xx" in wanted and status >= 500)
            or ("gateway-error" in wanted and status in (502, 503, 504))
            or ("retriable-4xx" in wanted and status == 409)
            or ("retriable-status-codes" in wanted and status in policy.statuses)
        )
    if found.reason == "timeout" and not found.is_per_try:
        return False
    return bool(wanted & {"5xx", "gateway-error", "reset"}) or (
        "connect-failure" in wanted and found.is_connecting
    )


def _back_off_ms(policy: Retry | None, attempt: int) -> int:
    """Return how long it waits before the next attempt: the middle of the range from which the real one draws."""
    assert policy is not None, "only policies retry"
    return min(((1 << attempt) - 1) * policy.base_ms, policy.max_ms) // 2
