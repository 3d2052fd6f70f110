"""What a RabbitMQ node tells and lets change: to command line tools, over its HTTP API, to those who gather metrics.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_cli/lib/rabbitmq/cli, deps/rabbitmq_prometheus/src/collectors,
deps/rabbitmq_management/src (rabbit_mgmt_util.erl, rabbit_mgmt_wm_health_check_*.erl).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from env_core.programs import _rabbitmq_node
from env_core.programs._http import PORT, header, header_date
from env_core.programs._model import Reply, Request, Served, Upstream
from env_core.programs._rabbitmq_node import CLUSTER_PORT, USER, VHOST, Node, user_row
from env_core.programs._rabbitmq_queues import (
    QUEUE,
    consumers_of,
    keep_queue,
    links,
    queue_of,
    queues,
    unacked_of,
)
from env_core.programs._rabbitmq_serving import Visit, closed, free_bytes, opened, pid_of

_USERS_MAX: Final = 256
_NAME_MAX: Final = 255
Told = dict[str, Any]


def listeners(node: Node) -> list[tuple[str, int]]:
    """Return the protocols and ports on which a node listens."""
    found = [("clustering", CLUSTER_PORT)]
    if port := node.port_of("rabbitmq_management"):
        found.append(("http", port))
    if port := node.port_of("rabbitmq_prometheus"):
        found.append(("http/prometheus", port))
    return [*found, ("amqp", node.port)]


def queue_rows(memory: Mapping[str, str], vhost: str | None = None) -> list[Told]:
    """Return what is told of queues."""
    unacked, consumers = unacked_of(memory), consumers_of(memory)
    rows = []
    for queue in queues(memory, vhost):
        held, (where, _, name) = unacked.get(queue.name, 0), queue.name.partition(" ")
        rows.append({
            "name": name, "vhost": where, "durable": queue.is_durable, "auto_delete": queue.is_auto_delete,
            "exclusive": bool(queue.owner), "arguments": queue.arguments, "messages_ready": queue.ready,
            "messages_unacknowledged": held, "messages": queue.ready + held, "consumers": consumers.get(queue.name, 0),
            "messages_persistent": sum(run.count for run in queue.runs if run.is_persistent),
            "message_bytes": queue.ready_bytes, "message_bytes_ready": queue.ready_bytes,
            "memory": 13_752 + queue.ready_bytes, "state": "running", "type": queue.arguments.get("x-queue-type", "classic"),
            "policy": "", "published": queue.published, "delivered": queue.delivered,
        })  # fmt: skip
    return rows


def connection_rows(visit: Visit) -> list[Told]:
    """Return what is told of connections."""
    return [
        {
            "pid": f"<{visit.node.name}.1.{pid_of(link)}.0>", "name": visit.title(link), "user": link.user, "vhost": link.vhost,
            "peer_host": link.ip, "peer_port": link.port, "port": visit.node.port, "host": visit.node.own_ip, "ssl": False,
            "state": "blocked" if link.is_blocked else "blocking" if link.has_published and _rabbitmq_node.alarms(visit.memory) else "running",
            "channels": 1, "protocol": "{0,9,1}", "auth_mechanism": "PLAIN", "timeout": 60, "frame_max": 131_072,
            "channel_max": 2_047, "connected_at": link.since_ms,
        }
        for link in links(visit.memory)
    ]  # fmt: skip


def _status(visit: Visit, upstream: Upstream, started_ms: int) -> Told:
    node, memory = visit.node, visit.memory
    files, sockets = _rabbitmq_node.handles(node.build)
    return {
        "version": node.build.version, "erlang": node.build.erlang, "openssl": node.build.openssl, "plugins": node.plugins,
        "uptime": max(visit.now_ms - started_ms, 0) // 1000, "directory": node.directory, "configs": node.settings.files,
        "alarms": _rabbitmq_node.alarms(memory), "used": _rabbitmq_node.used_bytes(memory),
        "limit": _rabbitmq_node.parsed_watermark(node, memory)[0], "free": free_bytes(node, upstream),
        "free_limit": _rabbitmq_node.disk_limit(node, memory)[0], "files": files, "sockets": sockets,
        "connections": len(links(memory)), "queues": len(queues(memory)),
        "vhosts": sum(slot.startswith(VHOST) for slot in memory), "listeners": listeners(node),
        "watermark": _rabbitmq_node.watermark_setting(node, memory),
    }  # fmt: skip


def administer(node: Node, started_ms: int, request: Request, upstream: Upstream) -> Served:
    """Answer a command line tool: the path is the command, the body its arguments; the answer is JSON."""
    if request.protocol != "erlang":
        return Served(reply=Reply(failure="empty-reply", latency_ms=1))
    if upstream.now_ms < started_ms + node.ready_ms:
        return Served(reply=Reply(body=json.dumps({"node": node.name, "booted": False}), latency_ms=1))
    visit = opened(node, upstream, started_ms)
    try:
        given = json.loads(request.body or "{}")
    except (json.JSONDecodeError, RecursionError):
        given = {}
    arguments = (
        {str(key): str(value)[:_NAME_MAX] for key, value in given.items()} if isinstance(given, dict) else {}
    )
    vhost = arguments.get("vhost", "/")
    told: Told = {"node": node.name, "booted": True}
    if (
        not arguments.get("vhost_free")
        and request.path in ("list_queues", "purge_queue", "delete_queue")
        and VHOST + vhost not in visit.memory
    ):
        told["error"] = ["no_such_vhost", vhost]
    elif request.path == "status":
        told |= _status(visit, upstream, started_ms)
    elif request.path in _COMMANDS:
        told |= _COMMANDS[request.path](visit, arguments)
    log = closed(visit, upstream)
    return Served(reply=Reply(body=json.dumps(told), latency_ms=2), log=log, cpu_ms=1)


def _list_queues(visit: Visit, arguments: Mapping[str, str]) -> Told:
    return {"rows": queue_rows(visit.memory, arguments.get("vhost", "/"))}


def _list_connections(visit: Visit, _arguments: Mapping[str, str]) -> Told:
    return {"rows": connection_rows(visit)}


def _list_users(visit: Visit, _arguments: Mapping[str, str]) -> Told:
    users = {
        slot[len(USER) :]: json.loads(row)
        for slot, row in sorted(visit.memory.items())
        if slot.startswith(USER)
    }
    return {"rows": [{"user": name, "tags": f"[{', '.join(row['tags'])}]"} for name, row in users.items()]}


def _list_vhosts(visit: Visit, _arguments: Mapping[str, str]) -> Told:
    return {"rows": [{"name": slot[len(VHOST) :]} for slot in sorted(visit.memory) if slot.startswith(VHOST)]}


def _list_permissions(visit: Visit, arguments: Mapping[str, str]) -> Told:
    rows = []
    for slot, row in sorted(visit.memory.items()):
        granted = (
            json.loads(row)["permissions"].get(arguments.get("vhost", "/")) if slot.startswith(USER) else None
        )
        if granted:
            configure, write, read = granted
            rows.append({"user": slot[len(USER) :], "configure": configure, "write": write, "read": read})
    return {"rows": rows}


def _purge(visit: Visit, arguments: Mapping[str, str]) -> Told:
    queue = queue_of(visit.memory, f"{arguments.get('vhost', '/')} {arguments.get('queue', '')}")
    if queue is None:
        return {"error": ["not_found", arguments.get("queue", "")]}
    queue.runs = []
    keep_queue(visit.memory, queue)
    return {}


def _delete_queue(visit: Visit, arguments: Mapping[str, str]) -> Told:
    name = f"{arguments.get('vhost', '/')} {arguments.get('queue', '')}"
    queue = queue_of(visit.memory, name)
    if queue is None:
        return {"error": ["not_found", arguments.get("queue", "")]}
    del visit.memory[QUEUE + name]
    return {"messages": queue.ready}


def _set_watermark(visit: Visit, arguments: Mapping[str, str]) -> Told:
    _rabbitmq_node.set_watermark(visit.memory, arguments.get("value", ""))
    visit.tell(_rabbitmq_node.memory_told(visit.node, visit.memory))
    return {}


def _set_disk_limit(visit: Visit, arguments: Mapping[str, str]) -> Told:
    _rabbitmq_node.set_disk_limit(visit.memory, arguments.get("value", ""))
    visit.tell(_rabbitmq_node.disk_told(visit.node, visit.memory))
    return {}


def _user(visit: Visit, arguments: Mapping[str, str]) -> tuple[str, Told | None]:
    slot = USER + arguments.get("user", "")
    return slot, None if slot in visit.memory else {"error": ["no_such_user", arguments.get("user", "")]}


def _add_user(visit: Visit, arguments: Mapping[str, str]) -> Told:
    slot, is_missing = _user(visit, arguments)
    if is_missing is None:
        return {"error": ["user_already_exists", arguments.get("user", "")]}
    if sum(each.startswith(USER) for each in visit.memory) < _USERS_MAX:
        visit.memory[slot] = user_row(arguments.get("password", ""), (), {})
        visit.say("info", f"Created user '{arguments.get('user', '')}'")
    return {}


def _change_password(visit: Visit, arguments: Mapping[str, str]) -> Told:
    slot, problem = _user(visit, arguments)
    if problem is None:
        visit.memory[slot] = json.dumps(
            {**json.loads(visit.memory[slot]), "password": arguments.get("password", "")}
        )
        visit.say("info", f"Successfully changed password for user '{arguments.get('user', '')}'")
    return problem or {}


def _delete_user(visit: Visit, arguments: Mapping[str, str]) -> Told:
    slot, problem = _user(visit, arguments)
    if problem is None:
        del visit.memory[slot]
        visit.say("info", f"Deleted user '{arguments.get('user', '')}'")
    return problem or {}


def _set_tags(visit: Visit, arguments: Mapping[str, str]) -> Told:
    slot, problem = _user(visit, arguments)
    if problem is None:
        tags = arguments.get("tags", "").split()
        visit.memory[slot] = json.dumps({**json.loads(visit.memory[slot]), "tags": tags})
        visit.say(
            "info", f"Successfully set user tags for user '{arguments.get('user', '')}' to [{','.join(tags)}]"
        )
    return problem or {}


def _set_permissions(visit: Visit, arguments: Mapping[str, str]) -> Told:
    slot, problem = _user(visit, arguments)
    vhost = arguments.get("vhost", "/")
    if problem is None and VHOST + vhost not in visit.memory:
        problem = {"error": ["no_such_vhost", vhost]}
    if problem is None:
        granted = [arguments.get(name, "") for name in ("configure", "write", "read")]
        row = json.loads(visit.memory[slot])
        visit.memory[slot] = json.dumps({**row, "permissions": {**row["permissions"], vhost: granted}})
        shown = ", ".join(f"'{each}'" for each in granted)
        visit.say(
            "info",
            f"Successfully set permissions for '{arguments.get('user', '')}' in virtual host '{vhost}' to {shown}",
        )
    return problem or {}


_COMMANDS: Final[dict[str, Callable[[Visit, Mapping[str, str]], Told]]] = {
    "ping": lambda _visit, _arguments: {}, "list_queues": _list_queues, "list_connections": _list_connections,
    "list_users": _list_users, "list_vhosts": _list_vhosts, "list_permissions": _list_permissions, "purge_queue": _purge,
    "delete_queue": _delete_queue, "set_vm_memory_high_watermark": _set_watermark, "set_disk_free_limit": _set_disk_limit,
    "add_user": _add_user, "change_password": _change_password, "delete_user": _delete_user, "set_user_tags": _set_tags,
    "set_permissions": _set_permissions,
}  # fmt: skip


# HTTP


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


def _metrics(visit: Visit, upstream: Upstream, path: str) -> tuple[int, str, str]:
    if path not in ("/metrics", "/metrics/"):
        return 404, "", "text/plain"
    memory, node = visit.memory, visit.node
    rows = queue_rows(memory)
    alarms = _rabbitmq_node.alarms(memory)
    known = (
        ("connections", "Connections currently open", len(links(memory))),
        ("channels", "Channels currently open", len(links(memory))),
        ("consumers", "Consumers currently connected", sum(row["consumers"] for row in rows)),
        ("queues", "Queues available", len(rows)),
        ("queue_messages_ready", "Messages ready to be delivered to consumers", sum(row["messages_ready"] for row in rows)),
        ("queue_messages_unacked", "Messages delivered to consumers but not yet acknowledged",
         sum(row["messages_unacknowledged"] for row in rows)),
        ("queue_messages", "Sum of ready and unacknowledged messages - total queue depth", sum(row["messages"] for row in rows)),
        ("process_resident_memory_bytes", "Memory used in bytes", _rabbitmq_node.used_bytes(memory)),
        ("resident_memory_limit_bytes", "Memory high watermark in bytes", _rabbitmq_node.parsed_watermark(node, memory)[0]),
        ("disk_space_available_bytes", "Disk space available in bytes", free_bytes(node, upstream)),
        ("disk_space_available_limit_bytes", "Free disk space low watermark in bytes", _rabbitmq_node.disk_limit(node, memory)[0]),
        ("alarms_free_disk_space_watermark", "is 1 if free disk space watermark alarm is in effect", int("disk" in alarms)),
        ("alarms_memory_used_watermark", "is 1 if VM memory watermark alarm is in effect", int("memory" in alarms)),
    )  # fmt: skip
    texts = []
    for name, told, value in known:
        kind = "untyped" if name.startswith("alarms_") else "gauge"
        texts.append(
            f"# TYPE rabbitmq_{name} {kind}\n# HELP rabbitmq_{name} {told}\nrabbitmq_{name} {value}\n"
        )
    return 200, "".join(texts), "text/plain; version=0.0.4"


_JSON: Final = "application/json"


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


def _api(visit: Visit, request: Request, path: str, upstream: Upstream) -> tuple[int, str, str]:
    if not path.startswith("/api/"):
        return (
            (
                200,
                "<!DOCTYPE html>\n<html>\n<head><title>RabbitMQ Management</title></head>\n</html>\n",
                "text/html",
            )
            if path == "/"
            else (404, "", _JSON)
        )
    if not _is_allowed(visit, request):
        return 401, '{"error":"not_authorized","reason":"Login failed"}', _JSON
    what = path.removeprefix("/api/").strip("/")
    node, memory = visit.node, visit.memory
    if what == "queues" or what.startswith("queues/"):
        rows = queue_rows(memory)
        name = what.rpartition("/")[2] if what.count("/") == 2 else ""
        if name:
            rows = [row for row in rows if row["name"] == name]
            return (
                (200, _dumped(rows[0]), _JSON)
                if rows
                else (404, '{"error":"Object Not Found","reason":"Not Found"}', _JSON)
            )
        return 200, _dumped(rows), _JSON
    if what == "connections":
        return 200, _dumped(connection_rows(visit)), _JSON
    if what == "overview":
        rows = queue_rows(memory)
        totals = {
            key: sum(row[key] for row in rows)
            for key in ("messages", "messages_ready", "messages_unacknowledged")
        }
        counts = {
            "connections": len(links(memory)),
            "queues": len(rows),
            "consumers": sum(row["consumers"] for row in rows),
        }
        overview: Told = {
            "rabbitmq_version": node.build.version,
            "erlang_version": node.build.erlang,
            "queue_totals": totals,
            "object_totals": counts,
            "node": node.name,
        }
        return 200, _dumped(overview), _JSON
    if what in ("health/checks/alarms", "health/checks/local-alarms"):
        return _alarm_check(visit)
    if what == "nodes":
        alarms = _rabbitmq_node.alarms(memory)
        told: Told = {
            "name": node.name, "running": True, "mem_used": _rabbitmq_node.used_bytes(memory), "mem_alarm": "memory" in alarms,
            "mem_limit": _rabbitmq_node.parsed_watermark(node, memory)[0], "disk_free": free_bytes(node, upstream),
            "disk_free_limit": _rabbitmq_node.disk_limit(node, memory)[0], "disk_free_alarm": "disk" in alarms,
        }  # fmt: skip
        return 200, _dumped([told]), _JSON
    return 404, '{"error":"Object Not Found","reason":"Not Found"}', _JSON


def _alarm_check(visit: Visit) -> tuple[int, str, str]:
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
