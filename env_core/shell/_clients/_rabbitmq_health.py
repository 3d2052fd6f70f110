"""The health checks of rabbitmq-diagnostics, and what it tells of a node.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_cli/lib/rabbitmq/cli/diagnostics/commands, ctl/commands/status_command.ex. Nothing of
it is recorded.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.programs._rabbitmq_config import size
from env_core.shell._clients._rabbitmq_calls import (
    TIMEOUT_S,
    UNAVAILABLE,
    USAGE,
    Call,
    Failed,
    told,
    unreachable,
)

_LABELS: Final = {
    "amqp": "AMQP 0-9-1 and AMQP 1.0", "http": "HTTP API", "http/prometheus": "Prometheus exporter API over HTTP",
    "clustering": "inter-node and CLI tool communication",
}  # fmt: skip


def ping(call: Call) -> str:
    """Tell whether the node answers."""
    if call.ask("ping", {}) is None:
        raise Failed(
            f"Error:\nFailed to connect and authenticate to {call.node} in {TIMEOUT_S * 1000} ms",
            UNAVAILABLE,
        )
    return "Ping succeeded\n"


def check_running(call: Call) -> str:
    """Tell whether the node has started."""
    found = call.ask("ping", {})
    if found is None:
        raise Failed(unreachable(call.node), UNAVAILABLE)
    if not found["booted"]:
        text = (
            f"RabbitMQ on node {call.node} is not running or has not fully booted yet (check with is_booting)"
        )
        raise Failed(f"Error:\n{text}", UNAVAILABLE)
    return f"RabbitMQ on node {call.node} is fully booted and running\n"


def _alarm_lines(call: Call) -> list[str]:
    titles = {"disk": "Free disk space alarm", "memory": "Memory alarm"}
    return [f"{titles[what]} on node {call.node}" for what in told(call, "status")["alarms"]]


def alarms(call: Call) -> str:
    """Tell which alarms are on."""
    lines = _alarm_lines(call)
    return "\n".join(lines or [f"Node {call.node} reported no alarms, local or clusterwide"]) + "\n"


def check_alarms(call: Call) -> str:
    """Fail when an alarm is on."""
    lines = _alarm_lines(call)
    if lines:
        raise Failed("" if "silent" in call.options else "\n".join(lines), UNAVAILABLE)
    return "" if "silent" in call.options else f"Node {call.node} reported no alarms, local or clusterwide\n"


def check_local_alarms(call: Call) -> str:
    """Fail when an alarm of the node's own is on."""
    lines = _alarm_lines(call)
    if lines:
        raise Failed("" if "silent" in call.options else "Error:\n" + "\n".join(lines), UNAVAILABLE)
    return "" if "silent" in call.options else f"Node {call.node} reported no local alarms\n"


def check_connectivity(call: Call) -> str:
    """Connect to all ports on which the node listens."""
    ports = sorted(port for _, port in told(call, "status")["listeners"])
    how = (
        f"using {call.options['address']} for target IP address"
        if call.options.get("address")
        else "using node hostname resolution"
    )
    return f"Successfully connected to ports {', '.join(map(str, ports))} on node {call.node} ({how})\n"


def check_port(call: Call) -> str:
    """Fail when the node does not listen on a port."""
    listeners, port = told(call, "status")["listeners"], call.arguments[0]
    if any(str(each) == port for _, each in listeners):
        return f"A listener for port {port} is running on node {call.node}.\n"
    found = ", ".join(str(each) for each in sorted(each for _, each in listeners))
    text = f"No listener for port {port} is active on node {call.node}. Found listeners that use the following ports: {found}"
    raise Failed(text, UNAVAILABLE)


def _listener_lines(listeners: list[list[Any]]) -> list[str]:
    return [
        f"Interface: [::], port: {port}, protocol: {name}, purpose: {_LABELS[name]}"
        for name, port in listeners
    ]


def listeners(call: Call) -> str:
    """Tell on which ports the node listens."""
    return "\n".join(_listener_lines(told(call, "status")["listeners"])) + "\n"


def check_vhosts(call: Call) -> str:
    """Fail when a virtual host is down."""
    told(call, "ping")
    return f"Node {call.node} reported all vhosts as running\n"


def version(call: Call) -> str:
    """Tell the node's release."""
    return f"{told(call, 'status')['version']}\n"


_UNITS: Final = {"bytes": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000}


def status(call: Call) -> str:
    """Tell how the node is."""
    found = told(call, "status")
    unit = call.options.get("unit", "gb").lower()
    if unit not in _UNITS:
        raise Failed(
            f"Error (argument validation): unit '{unit}' is not supported. Please use one of: bytes, mb, gb",
            USAGE,
        )

    def amount(count: int) -> str:
        return f"{count if unit == 'bytes' else round(count / _UNITS[unit], 4)} {unit}"

    setting = found["watermark"]
    setting = setting.removeprefix("relative ")
    absolute = size(setting)
    shown = f"{setting} of available memory" if absolute is None else amount(absolute)
    alarms = [
        {"disk": "Free disk space alarm", "memory": "Memory alarm"}[each] + f" on node {call.node}"
        for each in found["alarms"]
    ]
    lines = [
        "Runtime\n", "OS PID: 20", "OS: Linux", f"Uptime (seconds): {found['uptime']}", "Is under maintenance?: false",
        f"RabbitMQ version: {found['version']}", "RabbitMQ release series support status: supported", f"Node name: {call.node}",
        f"Erlang configuration: Erlang/OTP {found['erlang'].partition('.')[0]} [source] [64-bit] [smp:4:4] [ds:4:4:10] [async-threads:1] [jit]",
        f"Crypto library: {found['openssl']}", "Erlang processes: 390 used, 1048576 limit", "Scheduler run queue: 1",
        "Cluster heartbeat timeout (net_ticktime): 60",
        "\nPlugins\n", "Enabled plugin file: /etc/rabbitmq/enabled_plugins", "Enabled plugins:\n", *(f" * {each}" for each in found["plugins"]),
        "\nData directory\n", f"Node data directory: {found['directory']}", f"Raft data directory: {found['directory']}/quorum/{call.node}",
        "\nConfig files\n", *(f" * {each}" for each in found["configs"]),
        "\nLog file(s)\n", " * <stdout>",
        "\nAlarms\n", *(alarms or ["(none)"]),
        "\nMemory\n", f"Total memory used: {amount(found['used'])}", "Calculation strategy: rss",
        f"Memory high watermark setting: {shown}, computed to: {amount(found['limit'])}",
        "\nFile Descriptors\n", f"Total: 2, limit: {found['files']}", f"Sockets: {found['connections']}, limit: {found['sockets']}",
        "\nFree Disk Space\n", f"Low free disk space watermark: {amount(found['free_limit'])}", f"Free disk space: {amount(found['free'])}",
        "\nTotals\n", f"Connection count: {found['connections']}", f"Queue count: {found['queues']}", f"Virtual host count: {found['vhosts']}",
        "\nListeners\n", *_listener_lines(found["listeners"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
