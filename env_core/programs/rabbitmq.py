"""RabbitMQ: one node with its queues, in memory and on its volume; users, alarms, its HTTP API and metrics.

What it does not do: exchanges other than the default one, clusters, policies, message time-to-live, dead letters, TLS.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from env_core.programs import (
    _rabbitmq_admin,
    _rabbitmq_boot,
    _rabbitmq_http,
    _rabbitmq_node,
    _rabbitmq_serving,
)
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import PORT
from env_core.programs._images import canonical, image_or_first
from env_core.programs._machine import IN_USE, PLAIN, Machine, bind_problem
from env_core.programs._memo import per_container
from env_core.programs._model import (
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Request,
    Served,
    Signalled,
    Upstream,
)
from env_core.programs._rabbitmq_boot import Entry
from env_core.programs._rabbitmq_node import CLUSTER_PORT, RESTING_BYTES, Build, Node
from env_core.programs._rabbitmq_queues import queues

_OLD: Final = "Copyright (c) 2007-2022 VMware, Inc. or its affiliates."
_NEW: Final = "Copyright (c) 2007-2025 Broadcom Inc and/or its subsidiaries"
_BUILDS: Final = {
    "3.13": Build(),
    "3.12": Build("3.12.14", "25.3.2.15", "OpenSSL 3.1.8 11 Feb 2025"),
    "3.10": Build("3.10.25", "25.3.2.15", "OpenSSL 1.1.1u  30 May 2023", _OLD),
    "4.0": Build("4.0.9", "27.3.4", "OpenSSL 3.3.3 11 Feb 2025", _NEW, fraction=0.6),
    "4.1": Build("4.1.4", "27.3.4", "OpenSSL 3.3.3 11 Feb 2025", _NEW, fraction=0.6),
}
"""Source: docker-library/rabbitmq Dockerfiles; the copyright lines rabbitmq-server deps/rabbit_common/include/rabbit.hrl."""
_TAGS: Final = {"3": "3.13", "4": "4.1", "latest": "4.1", "management": "4.1"}
_ENTRYPOINT: Final = "docker-entrypoint.sh"
_BINARIES: Final = (
    "rabbitmq-server", "rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-plugins", "rabbitmq-queues", "rabbitmq-upgrade", "gosu",
    "erl", _ENTRYPOINT,
)  # fmt: skip
_DEFAULTS: Final = "loopback_users.guest = false\nlog.console = true\n"
_FILES: Final = {
    "/etc/rabbitmq/conf.d/10-defaults.conf": _DEFAULTS,
    "/etc/rabbitmq/enabled_plugins": "[rabbitmq_prometheus].\n",
}
"""The configuration in the official images. Source: docker-library/rabbitmq 10-defaults.conf, Dockerfile-ubuntu.template."""
_MANAGED: Final = {
    **_FILES,
    "/etc/rabbitmq/conf.d/20-management_agent.disable_metrics_collector.conf": (
        "management_agent.disable_metrics_collector = true\n"
    ),
    "/etc/rabbitmq/enabled_plugins": "[rabbitmq_management,rabbitmq_prometheus].\n",
}
_ENV: Final = {"RABBITMQ_DATA_DIR": "/var/lib/rabbitmq", "HOME": "/var/lib/rabbitmq", "LANG": "C.UTF-8"}
_BOOT_CPU_MS: Final = 3_400
"""From the start of the runtime to the listeners. Not recorded: a guess from the recorded times."""
_VM_SHARE: Final = 3
"""The part of that after which the node speaks to command line tools: one in so many."""


def _tags(suffix: str) -> tuple[str, ...]:
    exact = [build.version for build in _BUILDS.values()]
    names = [*_BUILDS, *exact, "3", "4", "3.10.8"]
    return tuple(f"{name}{suffix}" for name in names)


def _image(tags: tuple[str, ...], files: Mapping[str, str], base: str, size_bytes: int) -> Image:
    return Image(
        repository="rabbitmq", tags=tags, size_bytes=size_bytes, entrypoint=(_ENTRYPOINT,), command=("rabbitmq-server",),
        env=_ENV, binaries=_BINARIES, base=base, files=files,
    )  # fmt: skip


IMAGES: Final = (
    _image(("latest", *_tags("")), _FILES, "debian", 92_441_617),
    _image(("management", *_tags("-management")), _MANAGED, "debian", 101_226_482),
    _image(("alpine", *_tags("-alpine")), _FILES, "alpine", 47_118_540),
    _image(("management-alpine", *_tags("-management-alpine")), _MANAGED, "alpine", 71_322_911),
)


def build_of(reference: str) -> Build:
    """Return what is in an image, from its tag."""
    tag = canonical(reference)[1]
    release = tag.partition("-")[0]
    image = image_or_first(IMAGES, reference)
    release = _TAGS.get(release, release)
    minor = ".".join(release.split(".")[:2])
    found = _BUILDS.get(minor, _BUILDS["4.1"])
    version = release if release.count(".") == 2 else found.version
    return found._replace(version=version, files=image.files)


def boot_ms(container: Container) -> int:
    """Return how long a node takes to start."""
    return stretched_ms(_BOOT_CPU_MS, container.cpu_limit_millis) + 120


def node_of(container: Container, build: Build) -> Node:
    """Return a container's node."""
    return _rabbitmq_node.node_of(container, build, boot_ms(container))


@per_container
def _node_of(container: Container) -> Node:
    return node_of(container, build_of(container.image))


# Starting


def _values(node: Node, kept: Mapping[str, str]) -> dict[str, str]:
    build = node.build
    files, sockets = _rabbitmq_node.handles(build)
    cookie = hashlib.md5(node.name.encode(), usedforsecurity=False).digest()
    return {
        "node": node.name, "host": node.name.partition("@")[2], "base": node.base, "home": node.home, "version": build.version,
        "erlang": build.erlang, "openssl": build.openssl, "copyright": build.copyright, "port": str(node.port),
        "cookie": base64.b64encode(cookie).decode(), "handles": str(files), "sockets": str(sockets), "cores": str(build.cores),
        "took": "7", "cluster": base64.urlsafe_b64encode(cookie).decode().rstrip("="), "user": node.user,
        "queues": str(len(queues(kept))), "plugins": str(len(node.plugins)),
    }  # fmt: skip


def _entries(node: Node, kept: Mapping[str, str], free: int) -> list[Entry]:
    """Return what a start logs."""
    memory = dict(kept)

    def works_out(word: str) -> Iterable[Entry]:
        if word.startswith("configs"):
            return _rabbitmq_boot.configs(node.settings.files, is_banner=word == "configs")
        if word == "memory":
            return [*_rabbitmq_node.memory_told(node, memory), *_rabbitmq_node.check_memory(node, memory)]
        if word == "disk":
            return [*_rabbitmq_node.disk_told(node, memory), *_rabbitmq_node.check_disk(node, memory, free)]
        if word == "listeners":
            ports = (node.port_of("rabbitmq_management"), node.port_of("rabbitmq_prometheus"))
            return _rabbitmq_boot.listeners(node.port, node.plugins, *ports)
        return _rabbitmq_boot.complete(node.plugins)

    return _rabbitmq_boot.entries("boot", _values(node, kept), works_out, is_first=not kept)


def _failed(node: Node, container: Container, found: list[Entry], after_ms: int) -> Launch:
    """Return a start that comes to nothing; the start script of these releases ends with 0 all the same."""
    lines = _rabbitmq_boot.spread(found, container.started_ms, min(400, after_ms), after_ms)
    code = 0 if node.build.version.startswith(("3.8", "3.9", "3.10", "3.11", "3.12")) else 1
    return Launch(
        log=lines, exit=Exit(after_ms=after_ms + 20, code=code), memory_bytes=60 << 20, cpu_millis=100
    )


def started(
    container: Container, build: Build, machine: Machine, kept: Mapping[str, str], free: int | None
) -> Launch:
    """Return what a node does at its start, over what its data directory holds."""
    node = node_of(container, build)
    ready_ms = node.ready_ms
    values = _values(node, kept)
    if node.home in machine.forbidden or f"{node.home}/.erlang.cookie" in machine.forbidden:
        return _failed(node, container, _rabbitmq_boot.entries("no_cookie", values), ready_ms // _VM_SHARE)
    if node.settings.reason:
        problems = [("e", text) for text in node.settings.problems]
        rest = _rabbitmq_boot.entries("bad_configuration", {**values, "reason": node.settings.reason})
        return _failed(node, container, [*problems, *rest], ready_ms // _VM_SHARE)
    found = _entries(node, kept, node.build.free_bytes if free is None else max(free, 0))
    if bind_problem(container, machine, "", node.port) == IN_USE:
        end = next(index for index, (_, text) in enumerate(found) if text.startswith("started TCP listener"))
        return _failed(
            node, container, [*found[:end], *_rabbitmq_boot.entries("port_taken", values)], ready_ms
        )
    web = [port for name in ("rabbitmq_management", "rabbitmq_prometheus") if (port := node.port_of(name))]
    return Launch(
        listeners=(
            Listener(port=node.port, protocol="amqp", after_ms=ready_ms),
            *(Listener(port=port, protocol="http", after_ms=ready_ms) for port in web),
            Listener(port=CLUSTER_PORT, protocol="erlang", after_ms=ready_ms // _VM_SHARE),
        ),
        log=_rabbitmq_boot.spread(found, container.started_ms, ready_ms // _VM_SHARE, ready_ms),
        memory_bytes=RESTING_BYTES, cpu_millis=12, stop_ms=900, stop_code=0,
    )  # fmt: skip


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if not argv or argv[0].rpartition("/")[2] != "rabbitmq-server":
        return None
    return started(container, build_of(container.image), PLAIN, {}, None)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def begun(
    container: Container, found: Launch, upstream: Upstream, build: Build, machine: Machine = PLAIN
) -> Launch:  # fmt: skip
    """Return a start by what the node finds on its disk; the first one seeds it."""
    if not found.listeners:
        return found
    node = node_of(container, build)
    kept = upstream.stored(node.directory)
    result = started(container, build, machine, kept, upstream.free_bytes(node.directory))
    if result.listeners and not kept:
        upstream.store(node.directory, _rabbitmq_node.seed(node))
    # What a wrapping script printed before the server stays.
    own = started(container, build, machine, {}, None)
    before = found.log[: len(found.log) - len(own.log)]
    late_ms = before[-1].at_ms if before else 0
    log = tuple(line._replace(at_ms=line.at_ms + late_ms) for line in result.log)
    return replace(result, log=(*before, *log))


def _begun(container: Container, found: Launch, upstream: Upstream) -> Launch:
    return begun(container, found, upstream, build_of(container.image))


# Running


def serve(node: Node, container: Container, request: Request, upstream: Upstream) -> Served:
    """Answer what comes over a connection."""
    port = int(request.headers.get(PORT, "0"))
    if port == CLUSTER_PORT:
        return _rabbitmq_admin.administer(node, container.started_ms, request, upstream)
    web = (node.port_of("rabbitmq_management"), node.port_of("rabbitmq_prometheus"))
    if port and port in web and request.protocol == "http":
        return _rabbitmq_http.serve_http(node, container.started_ms, request, upstream)
    return _rabbitmq_serving.serve(node, container.started_ms, request, upstream)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return serve(_node_of(container), container, request, upstream)


def stopped(node: Node, name: str, at_ms: int) -> Signalled | None:
    """Return what SIGTERM does: connections are closed, message stores stopped."""
    if name not in ("TERM", "INT"):
        return None
    found = _rabbitmq_boot.entries("stop", _values(node, {}))
    lines = _rabbitmq_boot.spread(found, at_ms, 0, 0)
    return Signalled(
        log=tuple(Line(at_ms + line.at_ms, line.text, line.stream) for line in lines),
        code=0 if name == "TERM" else 130,
    )


def _signalled(container: Container, name: str, at_ms: int, _memory: Mapping[str, str]) -> Signalled | None:
    return stopped(_node_of(container), name, at_ms)


def _processes(container: Container) -> tuple[str, ...]:
    argv = final_argv(container, "rabbitmq-server")
    if argv and argv[0].rpartition("/")[2] == "rabbitmq-server":
        return (
            "/bin/sh /opt/rabbitmq/sbin/rabbitmq-server",
            "/opt/erlang/lib/erlang/erts/bin/beam.smp -W w -- -root /opt/erlang/lib/erlang -progname erl",
            "erl_child_setup 1048576",
            "inet_gethost 4",
        )
    return (" ".join(container.argv),)


PROGRAM = Program(
    name="rabbitmq",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=_begun,
    signalled=_signalled,
    processes=_processes,
    source="https://www.rabbitmq.com/docs; rabbitmq-server 3.10.8; docker-library/rabbitmq; tests/golden/programs/rabbitmq",
    unrecorded=(
        "what is logged by other releases than 3.10 and by plugins, replies to clients but for refused logins, the command line"
        " tools, the HTTP API, metrics"
    ),
)
