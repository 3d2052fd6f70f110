"""What a RabbitMQ node tells over HTTP: metrics on one port, the API of its management plugin on another.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_prometheus/src/collectors, deps/rabbitmq_management/src (rabbit_mgmt_util.erl,
rabbit_mgmt_wm_health_check_*.erl).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Final

from env_core.programs import _rabbitmq_node
from env_core.programs._http import PORT, header, header_date
from env_core.programs._model import Reply, Request, Served, Upstream
from env_core.programs._rabbitmq_admin import Told, connection_rows, queue_rows
from env_core.programs._rabbitmq_node import USER, Node
from env_core.programs._rabbitmq_queues import links
from env_core.programs._rabbitmq_serving import Visit, closed, free_bytes, opened

Answered = tuple[int, str, str]
"""Status, body and content type."""
_JSON: Final = "application/json"
_NOT_FOUND: Final = (404, '{"error":"Object Not Found","reason":"Not Found"}', _JSON)
_PAGE: Final = "<!DOCTYPE html>\n<html>\n<head><title>RabbitMQ Management</title></head>\n</html>\n"


def serve_http(node: Node, started_ms: int, request: Request, upstream: Upstream) -> Served:
    """Answer over HTTP: metrics on their port, the API of the management plugin on the other."""
    visit = opened(node, upstream, started_ms)
    path = request.path.partition("?")[0]
    if int(request.headers.get(PORT, "0")) == node.port_of("rabbitmq_prometheus"):
        status, body, kind = _metrics(visit, upstream, path)
    else:
        status, body, kind = _api(visit, request, path, upstream)
    log = closed(visit, upstream)
    headers = (
        ("content-length", str(len(body.encode()))), ("content-type", kind), ("date", header_date(upstream.now_ms)),
        ("server", "Cowboy"), *((("www-authenticate", 'Basic realm="RabbitMQ Management"'),) if status == 401 else ()),
    )  # fmt: skip
    return Served(reply=Reply(status=status, headers=headers, body=body, latency_ms=2), log=log, cpu_ms=2)


def _metrics(visit: Visit, upstream: Upstream, path: str) -> Answered:
    if path not in ("/metrics", "/metrics/"):
        return 404, "", "text/plain"
    memory, node = visit.memory, visit.node
    rows = queue_rows(memory)
    alarms = _rabbitmq_node.alarms(memory)
    known = (
        ("connections", "Open connections", len(links(memory))),
        ("channels", "Open channels", len(links(memory))),
        ("consumers", "Registered consumers", sum(row["consumers"] for row in rows)),
        ("queues", "Queues", len(rows)),
        ("queue_messages_ready", "Messages that wait", sum(row["messages_ready"] for row in rows)),
        ("queue_messages_unacked", "Messages that consumers hold",
         sum(row["messages_unacknowledged"] for row in rows)),
        ("queue_messages", "Messages in all", sum(row["messages"] for row in rows)),
        ("process_resident_memory_bytes", "Bytes of memory in use", _rabbitmq_node.used_bytes(memory)),
        ("resident_memory_limit_bytes", "Bytes of memory above which publishers wait", _rabbitmq_node.parsed_watermark(node, memory)[0]),
        ("disk_space_available_bytes", "Free bytes of the disk", free_bytes(node, upstream)),
        ("disk_space_available_limit_bytes", "Free bytes below which publishers wait", _rabbitmq_node.disk_limit(node, memory)[0]),
        ("alarms_free_disk_space_watermark", "1 while the disk has too little space", int("disk" in alarms)),
        ("alarms_memory_used_watermark", "1 while too much memory is in use", int("memory" in alarms)),
    )  # fmt: skip
    texts = []
    for name, told, value in known:
        kind = "untyped" if name.startswith("alarms_") else "gauge"
        texts.append(
            f"# TYPE rabbitmq_{name} {kind}\n# HELP rabbitmq_{name} {told}\nrabbitmq_{name} {value}\n"
        )
    return 200, "".join(texts), "text/plain; version=0.0.4"


def _is_allowed(visit: Visit, request: Request) -> bool:
    words = header(request, "Authorization").split()
    if len(words) != 2 or words[0].lower() != "basic":
        return False
    try:
        user, _, password = base64.b64decode(words[1], validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    row = visit.memory.get(USER + user)
    is_local = request.source_ip.startswith("127.") or request.source_ip == visit.node.own_ip
    return (
        row is not None
        and json.loads(row)["password"] == password
        and (is_local or user not in visit.node.loopback)
    )


def _api(visit: Visit, request: Request, path: str, upstream: Upstream) -> Answered:
    if path == "/":
        return 200, _PAGE, "text/html"
    if not path.startswith("/api/"):
        return 404, "", _JSON
    if not _is_allowed(visit, request):
        return 401, '{"error":"not_authorized","reason":"Login failed"}', _JSON
    what = path.removeprefix("/api/").strip("/")
    if what.startswith("queues/") and what.count("/") == 2:
        name = what.rpartition("/")[2]
        found = next((row for row in queue_rows(visit.memory) if row["name"] == name), None)
        return _NOT_FOUND if found is None else (200, _dumped(found), _JSON)
    handler = _HANDLERS.get(what)
    return _NOT_FOUND if handler is None else handler(visit, upstream)


def _queues(visit: Visit, _upstream: Upstream) -> Answered:
    return 200, _dumped(queue_rows(visit.memory)), _JSON


def _connections(visit: Visit, _upstream: Upstream) -> Answered:
    return 200, _dumped(connection_rows(visit)), _JSON


def _overview(visit: Visit, _upstream: Upstream) -> Answered:
    rows, build = queue_rows(visit.memory), visit.node.build
    kinds = ("messages", "messages_ready", "messages_unacknowledged")
    told: Told = {
        "rabbitmq_version": build.version, "erlang_version": build.erlang,
        "queue_totals": {kind: sum(row[kind] for row in rows) for kind in kinds},
        "object_totals": {
            "connections": len(links(visit.memory)), "queues": len(rows), "consumers": sum(row["consumers"] for row in rows),
        },
        "node": visit.node.name,
    }  # fmt: skip
    return 200, _dumped(told), _JSON


def _nodes(visit: Visit, upstream: Upstream) -> Answered:
    node, memory = visit.node, visit.memory
    alarms = _rabbitmq_node.alarms(memory)
    told: Told = {
        "name": node.name, "running": True, "mem_used": _rabbitmq_node.used_bytes(memory), "mem_alarm": "memory" in alarms,
        "mem_limit": _rabbitmq_node.parsed_watermark(node, memory)[0], "disk_free": free_bytes(node, upstream),
        "disk_free_limit": _rabbitmq_node.disk_limit(node, memory)[0], "disk_free_alarm": "disk" in alarms,
    }  # fmt: skip
    return 200, _dumped([told]), _JSON


def _alarm_check(visit: Visit, _upstream: Upstream) -> Answered:
    alarms = _rabbitmq_node.alarms(visit.memory)
    if not alarms:
        return 200, '{"status":"ok"}', _JSON
    told = [{"node": visit.node.name, "resource": what} for what in alarms]
    return (
        503,
        _dumped({"status": "failed", "reason": "There are alarms in effect in the cluster", "alarms": told}),
        _JSON,
    )


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


_HANDLERS: Final[dict[str, Callable[[Visit, Upstream], Answered]]] = {
    "queues": _queues, "connections": _connections, "overview": _overview, "nodes": _nodes, "health/checks/alarms": _alarm_check,
    "health/checks/local-alarms": _alarm_check,
}  # fmt: skip
