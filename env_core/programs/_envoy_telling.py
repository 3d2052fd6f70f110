"""What Envoy tells: its access log, the log of its start, and its administration port.

Source: docs/root/configuration/observability/access_log/usage.rst, docs/root/operations/admin.rst,
source/server/admin/clusters_handler.cc of envoyproxy/envoy; lines of a start as people show them in envoyproxy/envoy issues 7824
and 16850 and hashicorp/nomad issue 20257.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import parse_qs

from env_core.programs._envoy_config import Bootstrap, Cluster, Listener
from env_core.programs._envoy_hosts import STAT, Memory, flights, hosts
from env_core.programs._envoy_routing import Outcome
from env_core.programs._http import header, header_date, moment
from env_core.programs._model import Line, Reply, Request, Upstream

_OPERATOR: Final = re.compile(r"%([A-Z_]{1,60})(?:\(([^()%]{0,200})\))?(?::[0-9]{1,6})?%")
_GAUGES: Final = (
    "rq_open",
    "cx_open",
    "rq_pending_open",
    "membership",
    "ejections_active",
    "live",
    "uptime",
    "_active",
)
_ADMIN_HEADERS: Final = (
    ("content-type", "text/plain; charset=UTF-8"), ("cache-control", "no-cache, max-age=0"), ("x-content-type-options", "nosniff"),
)  # fmt: skip


def stamp(at_ms: int) -> str:
    """Return a time as the application log has it."""
    return f"{moment(at_ms):%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}"


def entry(at_ms: int, level: str, component: str, place: str, text: str) -> str:
    """Return a line of the application log."""
    return f"[{stamp(at_ms)}][1][{level}][{component}] [{place}] {text}"


def started(bootstrap: Bootstrap, at_ms: int) -> tuple[str, ...]:
    """Return what a start logs, without the lists of extensions and of headers."""
    admin = bootstrap.admin
    texts = [
        ("info", "main", "source/server/server.cc:430", "initializing epoch 0 (base id=0, hot restart version=11.104)"),
        *([("info", "admin", "source/server/admin/admin.cc:65", f"admin address: {admin.host}:{admin.port}")] if admin else []),
        ("info", "config", "source/server/configuration_impl.cc:168", "loading tracing configuration"),
        ("info", "config", "source/server/configuration_impl.cc:124", "loading 0 static secret(s)"),
        ("info", "config", "source/server/configuration_impl.cc:130", f"loading {len(bootstrap.clusters)} cluster(s)"),
        ("info", "config", "source/server/configuration_impl.cc:138", f"loading {len(bootstrap.listeners)} listener(s)"),
        ("info", "config", "source/server/configuration_impl.cc:154", "loading stats configuration"),
        ("info", "runtime", "source/common/runtime/runtime_impl.cc:625", "RTDS has finished initialization"),
        ("info", "upstream", "source/common/upstream/cluster_manager_impl.cc:248", "cm init: all clusters initialized"),
        ("info", "main", "source/server/server.cc:958", "all clusters initialized. initializing init manager"),
        ("info", "config", "source/common/listener_manager/listener_manager_impl.cc:948",
         "all dependencies initialized. starting workers"),
        ("info", "main", "source/server/server.cc:978", "starting main dispatch loop"),
    ]  # fmt: skip
    return tuple(entry(at_ms, *each) for each in texts)


# Access log


def access(listener: Listener, request: Request, outcome: Outcome, at_ms: int) -> tuple[Line, ...]:
    """Return the lines of the access logs for a request that came at a moment."""
    end_ms = at_ms + outcome.took_ms
    found: list[Line] = []
    for form in listener.formats:
        if isinstance(form, dict):
            told = {str(key): _filled(str(value), request, outcome, at_ms) for key, value in form.items()}
            found.append(Line(end_ms, json.dumps(told, separators=(",", ":"))))
        else:
            text = _filled(form, request, outcome, at_ms)
            found += [Line(end_ms, each) for each in text.removesuffix("\n").split("\n")]
    return tuple(found)


def _filled(form: str, request: Request, outcome: Outcome, at_ms: int) -> str:
    return _OPERATOR.sub(lambda found: _value(found[1], found[2] or "", request, outcome, at_ms) or "-", form)


def _value(name: str, argument: str, request: Request, outcome: Outcome, at_ms: int) -> str:
    if name == "REQ":
        return next(
            (value for each in argument.split("?") if (value := _request_value(each, request, outcome))), ""
        )
    if name == "RESP":
        wanted = argument.lower()
        return next((value for key, value in outcome.headers if key == wanted), "")
    known: dict[str, object] = {
        "START_TIME": f"{moment(at_ms):%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z", "PROTOCOL": "HTTP/1.1",
        "RESPONSE_CODE": outcome.status, "RESPONSE_FLAGS": outcome.shown_flags, "RESPONSE_CODE_DETAILS": outcome.details,
        "BYTES_RECEIVED": len(request.body.encode()), "BYTES_SENT": len(outcome.body.encode()), "DURATION": outcome.took_ms,
        "UPSTREAM_HOST": outcome.host, "UPSTREAM_CLUSTER": outcome.cluster, "ROUTE_NAME": outcome.route,
        "UPSTREAM_REQUEST_ATTEMPT_COUNT": outcome.attempts, "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT": request.source_ip,
        "DOWNSTREAM_REMOTE_ADDRESS": f"{request.source_ip}:43210",
    }  # fmt: skip
    return str(known.get(name, ""))


def _request_value(name: str, request: Request, outcome: Outcome) -> str:
    lower = name.lower()
    if lower == ":method":
        return request.method
    if lower == ":path":
        return request.path
    if lower == ":authority":
        return header(request, "Host") or request.host
    return outcome.sent.get(lower, "") or header(request, name)


# Administration


def administer(
    bootstrap: Bootstrap, request: Request, upstream: Upstream, memory: Memory, started_ms: int
) -> Reply:
    """Answer on the administration port."""
    path, _, query = request.path.partition("?")
    now_ms = upstream.now_ms
    if path == "/ready":
        return _told("LIVE\n", now_ms)
    if path == "/clusters":
        return _told("".join(_cluster(each, memory, upstream) for each in bootstrap.clusters), now_ms)
    if path == "/listeners":
        return _told(
            "".join(f"{each.name}::{each.address}:{each.port}\n" for each in bootstrap.listeners), now_ms
        )
    if path in ("/stats", "/stats/prometheus"):
        wanted = parse_qs(query[:2_000])
        rows = _stats(bootstrap, memory, upstream, started_ms)
        part = wanted.get("filter", [""])[0]
        rows = {name: value for name, value in rows.items() if part in name}
        if path == "/stats/prometheus" or wanted.get("format", [""])[0] == "prometheus":
            return _told("".join(_sample(name, value) for name, value in sorted(rows.items())), now_ms)
        return _told("".join(f"{name}: {value}\n" for name, value in sorted(rows.items())), now_ms)
    if path == "/server_info":
        told = {"state": "LIVE", "uptime_current_epoch": f"{(now_ms - started_ms) // 1000}s"}
        return _told(json.dumps(told, indent=1) + "\n", now_ms)
    if path == "/":
        return _told(
            "admin commands are:\n  /clusters: upstream cluster status\n  /listeners: print listener info\n  /ready: print server state\n  /stats: print server stats\n",
            now_ms,
        )
    return _told("invalid path. admin commands are:\n", now_ms, 404)


def _told(body: str, now_ms: int, status: int = 200) -> Reply:
    headers = (
        *_ADMIN_HEADERS,
        ("date", header_date(now_ms)),
        ("server", "envoy"),
        ("transfer-encoding", "chunked"),
    )
    return Reply(status=status, headers=headers, body=body, latency_ms=1)


def _cluster(cluster: Cluster, memory: Memory, upstream: Upstream) -> str:
    name, limits, now_ms = cluster.name, cluster.limits, upstream.now_ms
    rows: list[str] = [f"observability_name::{name}"]
    if cluster.outlier is not None:
        rows += [f"outlier::{each}::-1" for each in (
            "success_rate_average", "success_rate_ejection_threshold", "local_origin_success_rate_average",
            "local_origin_success_rate_ejection_threshold",
        )]  # fmt: skip
    for priority, (connections, pending, requests, retries) in (
        ("default", limits),
        ("high", (1_024, 1_024, 1_024, 3)),
    ):
        rows += [
            f"{priority}_priority::max_connections::{connections}", f"{priority}_priority::max_pending_requests::{pending}",
            f"{priority}_priority::max_requests::{requests}", f"{priority}_priority::max_retries::{retries}",
        ]  # fmt: skip
    rows.append("added_via_api::false")
    for host in hosts(memory, cluster, upstream):
        flags = "/failed_outlier_check" if host.is_out(now_ms) else "healthy"
        told = {
            "cx_active": 0, "cx_connect_fail": host.connect_failures, "cx_total": host.connections, "rq_active": 0,
            "rq_error": host.errors, "rq_success": host.successes, "rq_timeout": host.timeouts, "rq_total": host.requests,
            "hostname": host.name if cluster.kind != "STATIC" else "", "health_flags": flags, "weight": 1, "region": "", "zone": "",
            "sub_zone": "", "canary": "false", "priority": 0, "success_rate": -1, "local_origin_success_rate": -1,
        }  # fmt: skip
        rows += [f"{host.shown}::{key}::{value}" for key, value in told.items()]
    return "".join(f"{name}::{row}\n" for row in rows)


_ALWAYS: Final = (
    "upstream_rq_total", "upstream_rq_completed", "upstream_rq_2xx", "upstream_rq_4xx", "upstream_rq_5xx", "upstream_rq_timeout",
    "upstream_rq_per_try_timeout", "upstream_rq_retry", "upstream_rq_retry_success", "upstream_rq_retry_overflow",
    "upstream_rq_retry_limit_exceeded", "upstream_rq_pending_overflow", "upstream_cx_total", "upstream_cx_connect_fail",
    "upstream_cx_connect_timeout", "upstream_cx_none_healthy", "lb_healthy_panic",
)  # fmt: skip


def _stats(bootstrap: Bootstrap, memory: Memory, upstream: Upstream, started_ms: int) -> dict[str, Any]:
    now_ms = upstream.now_ms
    found: dict[str, Any] = {
        "server.live": 1,
        "server.state": 0,
        "server.uptime": (now_ms - started_ms) // 1000,
    }
    for cluster in bootstrap.clusters:
        prefix = f"cluster.{cluster.name}"
        found |= dict.fromkeys((f"{prefix}.{name}" for name in _ALWAYS), 0)
        known = hosts(memory, cluster, upstream)
        out = sum(host.is_out(now_ms) for host in known)
        ends = flights(memory, cluster, now_ms)
        over = len(ends) - cluster.limits.connections
        found |= {
            f"{prefix}.membership_total": len(known), f"{prefix}.membership_healthy": len(known) - out,
            f"{prefix}.upstream_rq_active": len(ends),
            f"{prefix}.circuit_breakers.default.rq_open": int(len(ends) >= cluster.limits.requests),
            f"{prefix}.circuit_breakers.default.cx_open": int(over >= 0),
            f"{prefix}.circuit_breakers.default.rq_pending_open": int(over >= cluster.limits.pending),
        }  # fmt: skip
        if cluster.outlier is not None:
            found[f"{prefix}.outlier_detection.ejections_active"] = out
            found[f"{prefix}.outlier_detection.ejections_enforced_total"] = 0
    for slot, value in memory.items():
        if slot.startswith(STAT) and slot != "stat requests":
            found[slot[len(STAT) :]] = int(value)
    return found


def _sample(name: str, value: object) -> str:
    """Return a counter or gauge in the text format of Prometheus: the cluster or prefix is a label."""
    head, _, rest = name.partition(".")
    label = ""
    if head in ("cluster", "http"):
        owner, _, rest = rest.partition(".")
        key = "envoy_cluster_name" if head == "cluster" else "envoy_http_conn_manager_prefix"
        label = f'{key}="{owner}"'
    metric = f"envoy_{head}_{rest}".replace(".", "_")
    kind = "gauge" if any(each in metric for each in _GAUGES) else "counter"
    return f"# TYPE {metric} {kind}\n{metric}{{{label}}} {value}\n"
