"""What a RabbitMQ node tells command line tools, and what they change.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_cli/lib/rabbitmq/cli.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from env_core.programs import _rabbitmq_node
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
