"""Envoy's static configuration: listeners, routes, clusters, and what is wrong with one.

Source: https://www.envoyproxy.io/docs/envoy/latest/api-v3/ (bootstrap, listener, route, cluster, circuit_breaker,
outlier_detection); envoyproxy/envoy issues 20919 (a filter without a type), 21 of oslabs-beta/ReactRPC. Fields that are not
simulated are passed over; unknown ones are not complained of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from env_core.objects.yamlin import YamlProblem, read_yaml

_TEXT_MAX: Final = 128 << 10
"""How long a configuration may be: a bound of ours."""
_MANY: Final = 256
"""How many clusters there may be, and endpoints in each: a bound of ours."""
_DURATION: Final = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?s")
_WHOLE_MAX: Final = 4_294_967_295
HTTP: Final = "http_connection_manager"
TCP: Final = "tcp_proxy"
DEFAULT_FORMAT: Final = (
    '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS%'
    ' %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%"'
    ' "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\n'
)
"""Source: docs/root/configuration/observability/access_log/usage.rst."""


class ConfigProblem(Exception):
    """A configuration that Envoy does not start with; the text is what it says."""


class Retry(NamedTuple):
    """When and how often a request is tried again."""

    conditions: frozenset[str]
    retries: int = 1
    per_try_ms: int = 0
    statuses: frozenset[int] = frozenset()
    base_ms: int = 25
    max_ms: int = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What becomes of requests under a path."""

    prefix: str = ""
    path: str = ""
    separated: str = ""
    """A prefix that ends at a part of the path."""
    clusters: tuple[tuple[str, int], ...] = ()
    """Names and weights."""
    timeout_ms: int = 15_000
    """0 for none."""
    prefix_rewrite: str | None = None
    host_rewrite: str = ""
    retry: Retry | None = None
    status: int = 0
    """Of an answer of its own; 0 for none."""
    body: str = ""
    location: str = ""
    name: str = ""

    def fits(self, path: str) -> bool:
        """Whether a path (without its query) is under this route."""
        if self.path:
            return path == self.path
        if self.separated:
            return path == self.separated or path.startswith(f"{self.separated}/")
        return path.startswith(self.prefix)


class VirtualHost(NamedTuple):
    """Routes for some hosts."""

    domains: tuple[str, ...]
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A port, and what is done with what comes there."""

    name: str
    address: str
    port: int
    kind: str = HTTP
    stat_prefix: str = ""
    hosts: tuple[VirtualHost, ...] = ()
    cluster: str = ""
    """Of a TCP proxy."""
    formats: tuple[Any, ...] = ()
    """Of its access logs on the container's streams: a text, or a dictionary for JSON."""
    uses_remote_address: bool = False


class Outlier(NamedTuple):
    """When a host is taken out for its failures."""

    consecutive: int = 5
    gateway: int = 5
    enforces: bool = True
    enforces_gateway: bool = False
    interval_ms: int = 10_000
    base_ms: int = 30_000
    longest_ms: int = 300_000
    percent_max: int = 10


class Limits(NamedTuple):
    """The thresholds of a cluster's circuit breaker."""

    connections: int = 1_024
    pending: int = 1_024
    requests: int = 1_024
    retries: int = 3


NO_LIMITS: Final = Limits()


class Endpoint(NamedTuple):
    """An address or a name, and a port."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The servers behind a name."""

    name: str
    kind: str = "STATIC"
    endpoints: tuple[Endpoint, ...] = ()
    connect_ms: int = 5_000
    limits: Limits = NO_LIMITS
    outlier: Outlier | None = None
    panic_percent: int = 50
    refresh_ms: int = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A whole configuration."""

    listeners: tuple[Listener, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    admin: Endpoint | None = None

    def cluster(self, name: str) -> Cluster | None:
        """Return a cluster by its name."""
        return next((each for each in self.clusters if each.name == name), None)


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any, default: int) -> int:
    """Return a number, which may stand in an object (`{value: 5}`) or a text."""
    if isinstance(value, dict):
        value = value.get("value", value.get("fixed_value"))
    if isinstance(value, str) and value.isdecimal() and len(value) <= 10:
        value = int(value)
    if isinstance(value, float) and 0 <= value <= _WHOLE_MAX:
        value = int(value)
    return (
        min(value, _WHOLE_MAX)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0
        else default
    )


def _ms(value: Any, default: int) -> int:
    """Return a duration such as "0.25s" in milliseconds."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return default
    return int(found[1]) * 1_000 + int((found[2] or "").ljust(3, "0")[:3])


def _endpoint(value: Any) -> Endpoint:
    socket = _map(_map(value).get("socket_address"))
    return Endpoint(_text(socket.get("address")), min(_whole(socket.get("port_value"), 0), 65_535))


def _retry(value: Any) -> Retry | None:
    policy = _map(value)
    if not policy:
        return None
    back_off = _map(policy.get("retry_back_off"))
    base_ms = max(_ms(back_off.get("base_interval"), 25), 1)
    statuses = policy.get("retriable_status_codes")
    return Retry(
        frozenset(word.strip() for word in _text(policy.get("retry_on")).split(",")),
        min(_whole(policy.get("num_retries"), 1), 20), _ms(policy.get("per_try_timeout"), 0),
        frozenset(each for each in statuses if isinstance(each, int)) if isinstance(statuses, list) else frozenset(),
        base_ms, _ms(back_off.get("max_interval"), base_ms * 10),
    )  # fmt: skip


def _route(value: dict[str, Any], default: Retry | None) -> Route:
    match, action = _map(value.get("match")), _map(value.get("route"))
    direct, redirect = _map(value.get("direct_response")), _map(value.get("redirect"))
    weighted = _items(_map(action.get("weighted_clusters")).get("clusters"))
    clusters = [(_text(each.get("name")), _whole(each.get("weight"), 0)) for each in weighted]
    if action.get("cluster"):
        clusters = [(_text(action["cluster"]), 1)]
    status = _whole(direct.get("status"), 0)
    if redirect:
        status = {"FOUND": 302, "SEE_OTHER": 303, "TEMPORARY_REDIRECT": 307, "PERMANENT_REDIRECT": 308}.get(
            _text(redirect.get("response_code")), 301
        )
    return Route(
        prefix=_text(match.get("prefix")), path=_text(match.get("path")), separated=_text(match.get("path_separated_prefix")),
        clusters=tuple(clusters), timeout_ms=_ms(action.get("timeout"), 15_000),
        prefix_rewrite=action.get("prefix_rewrite") if isinstance(action.get("prefix_rewrite"), str) else None,
        host_rewrite=_text(action.get("host_rewrite_literal")), retry=_retry(action.get("retry_policy")) or default, status=status,
        body=_text(_map(direct.get("body")).get("inline_string")), name=_text(value.get("name")),
        location=_text(redirect.get("path_redirect")) or ("https:" if redirect.get("https_redirect") else ""),
    )  # fmt: skip


def _formats(manager: dict[str, Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for entry in _items(manager.get("access_log")):
        typed = _map(entry.get("typed_config"))
        kind = _text(typed.get("@type"))
        if not (
            kind.endswith(("StdoutAccessLog", "StderrAccessLog"))
            or _text(typed.get("path")).startswith("/dev/std")
        ):
            continue
        chosen = _map(typed.get("log_format"))
        text = _text(_map(chosen.get("text_format_source")).get("inline_string")) or _text(
            chosen.get("text_format")
        )
        found.append(_map(chosen.get("json_format")) or text or DEFAULT_FORMAT)
    return tuple(found)


def _listener(value: dict[str, Any], index: int) -> Listener | None:
    where = _endpoint(value.get("address"))
    for chain in _items(value.get("filter_chains")):
        for entry in _items(chain.get("filters")):
            typed = _map(entry.get("typed_config"))
            kind = _text(typed.get("@type")) + _text(entry.get("name"))
            common: dict[str, Any] = {
                "name": _text(value.get("name")) or f"listener_{index}", "address": where.host, "port": where.port,
                "stat_prefix": _text(typed.get("stat_prefix")),
            }  # fmt: skip
            if TCP in kind:
                return Listener(
                    **common, kind=TCP, cluster=_text(typed.get("cluster")), formats=_formats(typed)
                )
            if HTTP in kind:
                _check_filters(typed)
                hosts = tuple(
                    _virtual_host(each)
                    for each in _items(_map(typed.get("route_config")).get("virtual_hosts"))
                )
                return Listener(
                    **common,
                    hosts=hosts,
                    formats=_formats(typed),
                    uses_remote_address=typed.get("use_remote_address") is True,
                )
    return None


def _check_filters(manager: dict[str, Any]) -> None:
    for each in _items(manager.get("http_filters")):
        if not _map(each.get("typed_config")).get("@type"):
            name = _text(each.get("name"))
            raise ConfigProblem(f"Didn't find a registered implementation for '{name}' with type URL: ''")


def _virtual_host(value: dict[str, Any]) -> VirtualHost:
    default = _retry(value.get("retry_policy"))
    domains = value.get("domains")
    names = tuple(str(each) for each in domains) if isinstance(domains, list) else ()
    return VirtualHost(names, tuple(_route(each, default) for each in _items(value.get("routes"))))


def _limits(value: Any) -> Limits:
    for each in _items(_map(value).get("thresholds")):
        if each.get("priority", "DEFAULT") == "DEFAULT":
            return Limits(
                _whole(each.get("max_connections"), 1_024), _whole(each.get("max_pending_requests"), 1_024),
                _whole(each.get("max_requests"), 1_024), _whole(each.get("max_retries"), 3),
            )  # fmt: skip
    return Limits()


def _outlier(value: Any) -> Outlier | None:
    if not isinstance(value, dict):
        return None
    base_ms = max(_ms(value.get("base_ejection_time"), 30_000), 1)
    return Outlier(
        max(_whole(value.get("consecutive_5xx"), 5), 1), max(_whole(value.get("consecutive_gateway_failure"), 5), 1),
        _whole(value.get("enforcing_consecutive_5xx"), 100) > 0, _whole(value.get("enforcing_consecutive_gateway_failure"), 0) > 0,
        max(_ms(value.get("interval"), 10_000), 1), base_ms, max(_ms(value.get("max_ejection_time"), 300_000), base_ms),
        min(_whole(value.get("max_ejection_percent"), 10), 100),
    )  # fmt: skip


def _cluster(value: dict[str, Any]) -> Cluster:
    places = _items(_map(value.get("load_assignment")).get("endpoints"))
    found = [
        _endpoint(_map(each.get("endpoint")).get("address")) for place in places for each in _items(place.get("lb_endpoints"))
    ]  # fmt: skip
    panic = _map(value.get("common_lb_config")).get("healthy_panic_threshold")
    return Cluster(
        name=_text(value.get("name")), kind=_text(value.get("type")) or "STATIC", endpoints=tuple(found[:_MANY]),
        connect_ms=max(_ms(value.get("connect_timeout"), 5_000), 1), limits=_limits(value.get("circuit_breakers")),
        outlier=_outlier(value.get("outlier_detection")), panic_percent=0 if panic == {} else _whole(panic, 50),
        refresh_ms=max(_ms(value.get("dns_refresh_rate"), 5_000), 1),
    )  # fmt: skip


def parse(text: str) -> Bootstrap:
    """Return a configuration.

    Raises:
        ConfigProblem: for one that Envoy does not start with.
    """
    if len(text) > _TEXT_MAX:
        raise ConfigProblem("Unable to convert YAML as JSON: too long")
    try:
        document = read_yaml(text)
    except YamlProblem as problem:
        raise ConfigProblem(f"Unable to convert YAML as JSON: {problem}") from None
    if not isinstance(document, dict):
        raise ConfigProblem(
            "Unable to convert YAML as JSON: Unable to parse JSON as proto (INVALID_ARGUMENT: not an object)"
        )
    static = _map(document.get("static_resources"))
    clusters = tuple(_cluster(each) for each in _items(static.get("clusters"))[:_MANY])
    found = [_listener(each, index) for index, each in enumerate(_items(static.get("listeners")))]
    listeners = tuple(each for each in found if each is not None)
    _check_clusters(listeners, frozenset(each.name for each in clusters))
    admin = _map(document.get("admin"))
    return Bootstrap(
        listeners=listeners,
        clusters=clusters,
        admin=_endpoint(admin["address"]) if admin.get("address") else None,
    )


def _check_clusters(listeners: tuple[Listener, ...], names: frozenset[str]) -> None:
    for listener in listeners:
        for route in (route for host in listener.hosts for route in host.routes):
            is_weighted = len(route.clusters) > 1
            for name, _ in route.clusters:
                if name not in names:
                    raise ConfigProblem(f"route: unknown {'weighted ' * is_weighted}cluster '{name}'")
