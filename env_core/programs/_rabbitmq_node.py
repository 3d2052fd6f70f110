"""What a RabbitMQ node is while it runs: its build, name, places, limits, users and alarms.

Source: rabbitmq-server 3.10.8 deps/rabbit_common/src/vm_memory_monitor.erl, deps/rabbit/src/rabbit_disk_monitor.erl,
rabbit_alarm.erl, file_handle_cache.erl; https://www.rabbitmq.com/docs/configure, /docs/access-control, /docs/alarms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from env_core.programs._model import Container
from env_core.programs._rabbitmq_boot import Entry, alarm_set
from env_core.programs._rabbitmq_config import Settings, read, size
from env_core.programs._rabbitmq_queues import message_bytes

AMQP_PORT: Final = 5672
MANAGEMENT_PORT: Final = 15672
METRICS_PORT: Final = 15692
CLUSTER_PORT: Final = 25672
HOME: Final = "/var/lib/rabbitmq"
RESTING_BYTES: Final = 139_452_416
"""What a node takes before it holds any message. Source: tests/golden/programs/rabbitmq (rabbitmq.memory)."""
_MIB: Final = 1 << 20
_DISK_LIMIT: Final = 50_000_000
_NEEDED: Final = {"rabbitmq_management": ("rabbitmq_management_agent", "rabbitmq_web_dispatch")}
"""Plugins that come with others."""
USER: Final = "user "
VHOST: Final = "vhost "
_WATERMARK: Final = "watermark"
_DISK: Final = "disk limit"
_ALARM: Final = "alarm "


class Build(NamedTuple):
    """What a server's package and machine bring."""

    version: str = "3.13.7"
    erlang: str = "26.2.5.16"
    openssl: str = "OpenSSL 3.1.8 11 Feb 2025"
    copyright: str = "Copyright (c) 2007-2024 Broadcom Inc and/or its subsidiaries"
    files: Mapping[str, str] = {}
    """The configuration in its image."""
    total_bytes: int = 16_372_461_568
    """The memory of the machine: a node does not look at its container's limit."""
    free_bytes: int = 50_000_000_000
    """The disk space of a place without a size of its own."""
    files_max: int = 1_048_576
    cores: int = 4
    fraction: float = 0.4
    """Up to which part of the memory publishers are let by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What does not change while a server runs."""

    build: Build
    settings: Settings
    name: str
    base: str
    home: str
    port: int
    plugins: tuple[str, ...]
    user: str
    password: str
    loopback: frozenset[str]
    """Users who may connect from the same host only."""
    own_ip: str
    ready_ms: int = 0
    """From the start of its container to the moment when it listens."""

    @property
    def directory(self) -> str:
        """Where it keeps its data."""
        return f"{self.base}/{self.name}"

    def port_of(self, plugin: str) -> int:
        """Return the port of a plugin's HTTP server, 0 when it is not enabled."""
        if plugin not in self.plugins:
            return 0
        name, default = {
            "rabbitmq_management": ("management.tcp.port", MANAGEMENT_PORT),
            "rabbitmq_prometheus": ("prometheus.tcp.port", METRICS_PORT),
        }[plugin]
        return _port(self.settings.values.get(name, ""), default)


def _port(text: str, default: int) -> int:
    found = text.rpartition(":")[2]
    return int(found) if found.isdecimal() and 0 < int(found[:6]) < 65_536 else default


def _enabled(names: tuple[str, ...]) -> tuple[str, ...]:
    found = [name for name in names if name.startswith("rabbitmq_")]
    return tuple(dict.fromkeys([*found, *(each for name in found for each in _NEEDED.get(name, ()))]))


def node_of(container: Container, build: Build, ready_ms: int) -> Node:
    """Return a container's node."""
    env = container.env
    settings = read(container, build.files)
    values = settings.values
    host = (env.get("HOSTNAME") or container.pod or "localhost").partition(".")[0]
    home = env.get("HOME") or HOME
    listener = next((value for name, value in values.items() if name.startswith("listeners.tcp.")), "")
    user = env.get("RABBITMQ_DEFAULT_USER") or values.get("default_user") or "guest"
    loopback = frozenset(
        name.removeprefix("loopback_users.")
        for name, value in {"loopback_users.guest": "true", **values}.items()
        if name.startswith("loopback_users.") and value == "true"
    )
    return Node(
        build=build, settings=settings, name=env.get("RABBITMQ_NODENAME") or f"rabbit@{host}",
        base=env.get("RABBITMQ_MNESIA_BASE") or f"{HOME}/mnesia", home=home,
        port=_port(env.get("RABBITMQ_NODE_PORT") or listener, AMQP_PORT), plugins=_enabled(settings.plugins), user=user,
        password=env.get("RABBITMQ_DEFAULT_PASS") or values.get("default_pass") or "guest",
        loopback=frozenset() if values.get("loopback_users") == "none" else loopback, own_ip=container.pod_ip, ready_ms=ready_ms,
    )  # fmt: skip


# Users


def user_row(password: str, tags: tuple[str, ...], permissions: Mapping[str, tuple[str, str, str]]) -> str:
    """Return a user as it is kept."""
    return json.dumps({"password": password, "tags": list(tags), "permissions": dict(permissions)})


def seed(node: Node) -> dict[str, str]:
    """Return what a node without data begins with: the virtual host "/" and its administrator."""
    owner = user_row(node.password, ("administrator",), {"/": (".*", ".*", ".*")})
    return {f"{VHOST}/": "", USER + node.user: owner}


# Limits


def parsed_watermark(node: Node, memory: Mapping[str, str]) -> tuple[int, list[Entry]]:
    """Return up to how much memory publishers are let, and what is logged of a setting that cannot be used."""
    values, total, default = node.settings.values, total_bytes(node), node.build.fraction
    word = memory.get(_WATERMARK) or values.get("vm_memory_high_watermark.absolute")
    if word is not None and not word.startswith("relative "):
        found = size(word)
        if found is not None:
            return min(found, total), []
        return int(default * total), [("e", f'Unable to parse vm_memory_high_watermark value "{word}"')]
    text = (word or "").removeprefix("relative ") or values.get(
        "vm_memory_high_watermark.relative", str(default)
    )
    try:
        fraction = float(text)
    except ValueError:
        fraction = default
    if not 0 <= fraction <= 1:
        told = f"Memory high watermark of {fraction} is above the allowed maximum, falling back to 1.0"
        return total, [("w", told)]
    return int(fraction * total), []


def watermark_setting(node: Node, memory: Mapping[str, str]) -> str:
    """Return the setting of the memory limit: a size, or a fraction."""
    values = node.settings.values
    word = memory.get(_WATERMARK) or values.get("vm_memory_high_watermark.absolute")
    return word or values.get("vm_memory_high_watermark.relative", str(node.build.fraction))


def total_bytes(node: Node) -> int:
    """Return the memory that a node takes for the machine's."""
    return (
        size(node.settings.values.get("total_memory_available_override_value", "")) or node.build.total_bytes
    )


def disk_limit(node: Node, memory: Mapping[str, str]) -> tuple[int, list[Entry]]:
    """Return how much free disk space publishers need, and what is logged of a setting that cannot be used."""
    values = node.settings.values
    relative = values.get("disk_free_limit.relative")
    word = memory.get(_DISK) or values.get("disk_free_limit.absolute")
    if word is None and relative is not None:
        try:
            return round(min(max(float(relative), 0.0), 1_000.0) * total_bytes(node)), []
        except ValueError:
            return _DISK_LIMIT, []
    if word is None:
        return _DISK_LIMIT, []
    found = size(word)
    if found is not None:
        return found, []
    return _DISK_LIMIT, [("e", f'Unable to parse disk_free_limit value "{word}"')]


def set_watermark(memory: MutableMapping[str, str], word: str) -> None:
    """Change the memory limit until the node's end: a size, or "relative FRACTION"."""
    memory[_WATERMARK] = word


def set_disk_limit(memory: MutableMapping[str, str], word: str) -> None:
    """Change the limit of free disk space until the node's end."""
    memory[_DISK] = word


def used_bytes(memory: Mapping[str, str]) -> int:
    """Return how much memory a node uses."""
    return RESTING_BYTES + message_bytes(memory)


# Alarms


def memory_told(node: Node, memory: Mapping[str, str]) -> list[Entry]:
    """Return how the memory limit is logged when it is set."""
    limit, problems = parsed_watermark(node, memory)
    total = total_bytes(node)
    text = f"Memory high watermark set to {limit // _MIB} MiB ({limit} bytes) of {total // _MIB} MiB ({total} bytes) total"
    return [*problems, ("i", text)]


def disk_told(node: Node, memory: Mapping[str, str]) -> list[Entry]:
    """Return how the disk limit is logged when it is set."""
    limit, problems = disk_limit(node, memory)
    return [*problems, ("i", f"Disk free limit set to {limit // 1_000_000}MB")]


def check_memory(node: Node, memory: MutableMapping[str, str]) -> list[Entry]:
    """Set or clear the memory alarm; return what is logged."""
    used, limit = used_bytes(memory), parsed_watermark(node, memory)[0]
    told = f"Memory used:{used} allowed:{limit}"
    return _switch(
        node, memory, "memory", used > limit, f"vm_memory_high_watermark {{}}. {told}", ("set", "clear")
    )


def check_disk(node: Node, memory: MutableMapping[str, str], free: int) -> list[Entry]:
    """Set or clear the alarm of free disk space; return what is logged."""
    limit = disk_limit(node, memory)[0]
    told = f"Free disk space is {{}}. Free bytes: {free}. Limit: {limit}"
    return _switch(node, memory, "disk", free < limit, told, ("insufficient", "sufficient"))


def _switch(
    node: Node, memory: MutableMapping[str, str], what: str, is_on: bool, text: str, words: tuple[str, str]
) -> list[Entry]:  # fmt: skip
    slot = _ALARM + what
    if is_on == (slot in memory):
        return []
    if is_on:
        memory[slot] = ""
        return [("i", text.format(words[0])), *(("w", each) for each in alarm_set(what, node.name))]
    del memory[slot]
    return [("i", text.format(words[1])), ("w", f"{what} resource limit alarm cleared on node {node.name}")]


def alarms(memory: Mapping[str, str]) -> tuple[str, ...]:
    """Return which alarms are on: "disk", "memory"."""
    return tuple(what for what in ("disk", "memory") if _ALARM + what in memory)


def handles(build: Build) -> tuple[int, int]:
    """Return how many files and sockets a node lets itself use."""
    files = build.files_max - 97
    return files, files * 9 // 10 - 2
