"""rabbitmqctl and rabbitmq-diagnostics: what they ask the node in their own container, and how they print it.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_cli/lib/rabbitmqctl.ex, rabbitmq/cli/ctl/commands, rabbitmq/cli/diagnostics/commands,
rabbitmq/cli/formatters/table.ex, deps/rabbit_common/src/rabbit_nodes_common.erl. Nothing of it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from env_core.programs._rabbitmq_config import size
from env_core.programs._rabbitmq_node import CLUSTER_PORT
from env_core.programs._rabbitmq_wire import ADMIN
from env_core.shell._clients import _rabbitmq_health
from env_core.shell._clients._rabbitmq_calls import (
    DATA,
    TIMEOUT_S,
    USAGE,
    Call,
    Failed,
    columns,
    table,
    told,
)
from env_core.shell._clients._wire import Request, Wire, sleep
from env_core.shell.context import Process
from env_core.world import Output

_START_MS: Final = 850
"""How long the tools' own Erlang runtime takes to start. Not recorded."""
_VALUED: Final = (
    "-n",
    "--node",
    "-p",
    "--vhost",
    "-t",
    "--timeout",
    "--formatter",
    "-a",
    "--address",
    "--unit",
)
_QUEUE_COLUMNS: Final = frozenset(
    [
        "name",
        "durable",
        "auto_delete",
        "arguments",
        "policy",
        "exclusive",
        "messages_ready",
        "messages_unacknowledged",
        "messages",
        "messages_persistent",
        "message_bytes",
        "message_bytes_ready",
        "consumers",
        "memory",
        "state",
        "type",
    ]
)
_CONNECTION_COLUMNS: Final = frozenset(
    [
        "pid",
        "name",
        "port",
        "host",
        "peer_port",
        "peer_host",
        "ssl",
        "state",
        "channels",
        "protocol",
        "auth_mechanism",
        "user",
        "vhost",
        "timeout",
        "frame_max",
        "channel_max",
        "connected_at",
    ]
)
_ALIASES: Final = {
    "-n": "node", "-p": "vhost", "-t": "timeout", "-q": "quiet", "-s": "silent", "-a": "address", "--no-table-headers": "bare",
}  # fmt: skip


def _parsed(words: list[str]) -> tuple[list[str], dict[str, str]]:
    found: list[str] = []
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            found.append(word)
            continue
        name, equals, value = word.partition("=")
        key = _ALIASES.get(name, name.lstrip("-"))
        if not equals and name in _VALUED and rest:
            value = rest.pop(0)
        options[key] = value
    return found, options


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run rabbitmqctl or rabbitmq-diagnostics."""
    words, options = _parsed(argv[1:])
    host = (process.env.get("HOSTNAME") or process.hostname).partition(".")[0]
    own = process.env.get("RABBITMQ_NODENAME") or f"rabbit@{host}"
    node = options.get("node") or own
    node = node if "@" in node else f"{node}@{host}"
    sleep(process, _START_MS)

    def ask(command: str, given: dict[str, str]) -> dict[str, Any] | None:
        if node != own:
            return None
        connection = wire.connect("127.0.0.1", CLUSTER_PORT)
        request = Request(
            method="", path=command, body=json.dumps(given), protocol=ADMIN, timeout_ms=TIMEOUT_S * 1000
        )
        reply = wire.exchange(connection, request)
        sleep(process, reply.latency_ms)
        found: dict[str, Any] | None = None if reply.failure else json.loads(reply.body)
        return found

    if not words:
        return Output(
            "",
            f"Usage\n\n{argv[0].rpartition('/')[2]} [--node <node>] [--timeout <timeout>] [--longnames] [--quiet] <command> [<command options>]\n",
            USAGE,
        )
    call = Call(words[0], words[1:], options, node, ask)
    command = _COMMANDS.get(call.command)
    if command is None:
        return Output("", f"\nCommand '{call.command}' not found. \n", USAGE)
    banner = "" if call.is_quiet else "".join(f"{each}\n" for each in command.banner(call))
    try:
        _check_count(call, command)
        return Output(banner + command.does(call))
    except Failed as failed:
        return Output(banner if failed.code != USAGE else "", failed.text and f"{failed.text}\n", failed.code)


class Command(NamedTuple):
    """A command: how many arguments it takes, what it says first, what it does."""

    does: Callable[[Call], str]
    banner: Callable[[Call], tuple[str, ...]]
    least: int = 0
    most: int = 0


def _check_count(call: Call, command: Command) -> None:
    count = len(call.arguments)
    if command.least <= count <= command.most:
        return
    what = "not enough arguments." if count < command.least else "too many arguments."
    given = " ".join([call.command, *call.arguments])
    raise Failed(f"Error (argument validation): {what}\nArguments given:\n\t{given}", USAGE)


def _list_queues(call: Call) -> str:
    names = columns(call, "name messages", _QUEUE_COLUMNS)
    return table(call, told(call, "list_queues", vhost=call.vhost)["rows"], names)


def _list_connections(call: Call) -> str:
    names = columns(call, "user peer_host peer_port state", _CONNECTION_COLUMNS)
    return table(call, told(call, "list_connections")["rows"], names)


def _list_users(call: Call) -> str:
    return table(call, told(call, "list_users")["rows"], ["user", "tags"])


def _list_vhosts(call: Call) -> str:
    return table(call, told(call, "list_vhosts")["rows"], ["name"])


def _list_permissions(call: Call) -> str:
    rows = told(call, "list_permissions", vhost=call.vhost)["rows"]
    return table(call, rows, ["user", "configure", "write", "read"])


def _purge(call: Call) -> str:
    told(call, "purge_queue", vhost=call.vhost, queue=call.arguments[0])
    return ""


def _delete_queue(call: Call) -> str:
    found = told(call, "delete_queue", vhost=call.vhost, queue=call.arguments[0])
    return f"Queue was successfully deleted with {found['messages']} ready messages\n"


def _set_watermark(call: Call) -> str:
    words = call.arguments
    if words[0] == "absolute":
        if len(words) < 2 or size(words[1]) is None:
            raise Failed("Error (argument validation): Bad argument: Invalid units.", DATA)
        told(call, "set_vm_memory_high_watermark", value=words[1])
        return ""
    try:
        fraction = float(words[0])
    except ValueError:
        raise Failed("Error (argument validation): Bad argument.", DATA) from None
    if not 0 <= fraction <= 1:
        text = "Error (argument validation): Bad argument: The threshold should be a fraction between 0.0 and 1.0"
        raise Failed(text, DATA)
    told(call, "set_vm_memory_high_watermark", value=f"relative {fraction}")
    return ""


def _set_disk_limit(call: Call) -> str:
    if size(call.arguments[0]) is None:
        raise Failed("Error (argument validation): Bad argument.", DATA)
    told(call, "set_disk_free_limit", value=call.arguments[0])
    return ""


def _add_user(call: Call) -> str:
    if len(call.arguments) < 2:
        raise Failed("Error:\nPassword is not provided via argument or stdin", DATA)
    told(call, "add_user", user=call.arguments[0], password=call.arguments[1])
    return (
        "Done. Don't forget to grant the user permissions to some virtual hosts! See 'rabbitmqctl help set_permissions' to learn"
        " more.\n"
    )


def _change_password(call: Call) -> str:
    told(call, "change_password", user=call.arguments[0], password=call.arguments[1])
    return ""


def _delete_user(call: Call) -> str:
    told(call, "delete_user", user=call.arguments[0])
    return ""


def _set_tags(call: Call) -> str:
    told(call, "set_user_tags", user=call.arguments[0], tags=" ".join(call.arguments[1:]))
    return ""


def _set_permissions(call: Call) -> str:
    user, configure, write, read = call.arguments
    told(call, "set_permissions", vhost=call.vhost, user=user, configure=configure, write=write, read=read)
    return ""


def _says(text: str) -> Callable[[Call], tuple[str, ...]]:
    """Return a banner with the node, the virtual host and the arguments in it."""

    def banner(call: Call) -> tuple[str, ...]:
        words = [*call.arguments, "", "", "", ""]
        return tuple(
            line.format(*words, node=call.node, vhost=call.vhost, rest=", ".join(call.arguments[1:])) for line in text.split("\n")
        )  # fmt: skip

    return banner


def _watermark_banner(call: Call) -> tuple[str, ...]:
    words = call.arguments
    shown = f"{words[1]} bytes" if words[:1] == ["absolute"] and len(words) > 1 else (words or [""])[0]
    return (f"Setting memory threshold on {call.node} to {shown} ...",)


_COMMANDS: Final[dict[str, Command]] = {
    "list_queues": Command(
        _list_queues, _says("Timeout: 60.0 seconds ...\nListing queues for vhost {vhost} ..."), 0, 40
    ),
    "list_connections": Command(_list_connections, _says("Listing connections ..."), 0, 40),
    "list_users": Command(_list_users, _says("Listing users ...")),
    "list_vhosts": Command(_list_vhosts, _says("Listing vhosts ..."), 0, 9),
    "list_permissions": Command(_list_permissions, _says('Listing permissions for vhost "{vhost}" ...')),
    "purge_queue": Command(_purge, _says("Purging queue '{0}' in vhost '{vhost}' ..."), 1, 1),
    "delete_queue": Command(_delete_queue, _says("Deleting queue '{0}' on vhost '{vhost}' ..."), 1, 1),
    "set_vm_memory_high_watermark": Command(_set_watermark, _watermark_banner, 1, 2),
    "set_disk_free_limit": Command(
        _set_disk_limit, _says("Setting disk free limit on {node} to {0} bytes ..."), 1, 1
    ),
    "add_user": Command(_add_user, _says('Adding user "{0}" ...'), 1, 2),
    "change_password": Command(_change_password, _says('Changing password for user "{0}" ...'), 2, 2),
    "delete_user": Command(_delete_user, _says('Deleting user "{0}" ...'), 1, 1),
    "set_user_tags": Command(_set_tags, _says('Setting tags for user "{0}" to [{rest}] ...'), 1, 9),
    "set_permissions": Command(
        _set_permissions, _says('Setting permissions for user "{0}" in vhost "{vhost}" ...'), 4, 4
    ),
    "status": Command(_rabbitmq_health.status, _says("Status of node {node} ...")),
    "ping": Command(
        _rabbitmq_health.ping,
        _says(
            "Will ping {node}. This only checks if the OS process is running and registered with epmd. Timeout: 60000 ms."
        ),
    ),
    "check_running": Command(
        _rabbitmq_health.check_running, _says("Checking if RabbitMQ is running on node {node} ...")
    ),
    "alarms": Command(
        _rabbitmq_health.alarms, _says("Asking node {node} to report any known resource alarms ...")
    ),
    "check_alarms": Command(
        _rabbitmq_health.check_alarms, _says("Asking node {node} to report any local resource alarms ...")
    ),
    "check_local_alarms": Command(
        _rabbitmq_health.check_local_alarms,
        _says("Asking node {node} to report any local resource alarms ..."),
    ),
    "check_port_connectivity": Command(
        _rabbitmq_health.check_connectivity,
        _says("Testing TCP connections to all active listeners on node {node} ..."),
    ),
    "check_port_listener": Command(
        _rabbitmq_health.check_port,
        _says("Asking node {node} if there's an active listener on port {0} ..."),
        1,
        1,
    ),
    "check_virtual_hosts": Command(
        _rabbitmq_health.check_vhosts, _says("Checking if all vhosts are running on node {node} ...")
    ),
    "listeners": Command(
        _rabbitmq_health.listeners, _says("Asking node {node} to report its protocol listeners ...")
    ),
    "server_version": Command(
        _rabbitmq_health.version, _says("Asking node {node} for its RabbitMQ version...")
    ),
}
