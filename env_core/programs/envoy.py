"""Envoy: a proxy with retries and circuit breakers, at the edge of an application or beside each of its pods.

What it does not do: configuration from servers (xDS), TLS, HTTP/2, active health checks, filters beside the router, matching by
regular expressions or headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.programs import _envoy_config, _envoy_telling
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._envoy_config import TCP, Bootstrap, ConfigProblem
from env_core.programs._envoy_hosts import choose, count, hosts, note
from env_core.programs._envoy_routing import Outcome, forward
from env_core.programs._envoy_telling import entry
from env_core.programs._http import PORT, header_date
from env_core.programs._images import image_or_first
from env_core.programs._memo import per_container
from env_core.programs._model import (
    EMPTY,
    RESET,
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Served,
    Signalled,
    Upstream,
)

_ENTRYPOINT: Final = "/docker-entrypoint.sh"
_PATH: Final = "/etc/envoy/envoy.yaml"
_RELEASES: Final = ("1.31.10", "1.32.6", "1.33.3", "1.34.1", "1.35.0")
_MINORS: Final = tuple(release.rpartition(".")[0] for release in _RELEASES)
_DEFAULT: Final = """admin:
  address:
    socket_address: {address: 0.0.0.0, port_value: 9901}
"""
"""What our copy of the image holds: the real one is a proxy to a page of Envoy's own."""
_START_CPU_MS: Final = 180

IMAGES: Final = (
    Image(
        repository="envoyproxy/envoy",
        tags=tuple(f"{prefix}{each}{suffix}" for each in (*_RELEASES, *(f"{minor}-latest" for minor in _MINORS)) for prefix in ("v",) for suffix in ("",)),
        size_bytes=68_157_440, entrypoint=(_ENTRYPOINT,), command=("envoy", "-c", _PATH), binaries=("envoy", "su-exec"), base="debian",
        files={_ENTRYPOINT: "#!/usr/bin/env sh\nset -e\n", _PATH: _DEFAULT},
    ),
    Image(
        repository="envoyproxy/envoy", tags=tuple(f"distroless-v{each}" for each in _RELEASES), size_bytes=54_525_952,
        entrypoint=("/usr/local/bin/envoy",), command=("-c", _PATH), binaries=("envoy",), base="distroless", files={_PATH: _DEFAULT},
    ),
)  # fmt: skip


def _option(argv: tuple[str, ...], *names: str) -> str:
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else argv[index + 1] if index + 1 < len(argv) else ""
    return ""


def bootstrap_of(container: Container, argv: tuple[str, ...]) -> tuple[str, Bootstrap]:
    """Return a command line's configuration file and what it says.

    Raises:
        ConfigProblem: for what Envoy does not start with.
    """
    inline = _option(argv, "--config-yaml")
    if inline:
        return "", _envoy_config.parse(inline)
    path = _option(argv, "-c", "--config-path")
    if not path:
        raise ConfigProblem(
            "At least one of --config-path or --config-yaml or Options::configProto() should be non-empty"
        )
    text = container.files.get(path)
    if text is None and not any(each.startswith(path.rpartition("/")[0] + "/") for each in container.files):
        text = image_or_first(IMAGES, container.image).files.get(path)
    if text is None:
        raise ConfigProblem(f"unable to read file: {path}")
    return path, _envoy_config.parse(text)


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    words = argv
    if words and words[0].startswith("-"):
        words = ("envoy", *words)
    if not words or words[0].rpartition("/")[2] != "envoy":
        return None
    start_ms = stretched_ms(_START_CPU_MS, container.cpu_limit_millis) + 30
    at_ms = container.started_ms + start_ms
    try:
        path, found = bootstrap_of(container, words)
    except ConfigProblem as problem:
        return _failed(_option(words, "-c", "--config-path"), str(problem), at_ms, start_ms)
    if _option(words, "--mode") == "validate":
        text = f"configuration '{path}' OK"
        return Launch(
            log=(Line(start_ms, text),), exit=Exit(after_ms=start_ms + 5, code=0), memory_bytes=20 << 20
        )
    log = tuple(Line(start_ms, text, "stderr") for text in _envoy_telling.started(found, at_ms))
    listeners = [
        Listener(
            port=each.port,
            protocol="tcp" if each.kind == TCP else "http",
            after_ms=start_ms,
            is_local=each.address.startswith("127."),
        )
        for each in found.listeners
        if each.port
    ]
    if found.admin is not None and found.admin.port:
        local = found.admin.host.startswith("127.")
        listeners.append(Listener(port=found.admin.port, protocol="http", after_ms=start_ms, is_local=local))
    return Launch(
        listeners=tuple(listeners), log=log, memory_bytes=32 << 20, cpu_millis=4, stop_ms=60, stop_code=0
    )


def _failed(path: str, problem: str, at_ms: int, start_ms: int) -> Launch:
    texts = (
        entry(
            at_ms,
            "critical",
            "main",
            "source/server/server.cc:414",
            f"error initializing configuration '{path}': {problem}",
        ),
        entry(at_ms, "info", "main", "source/server/server.cc:1041", "exiting"),
        problem,
    )
    return Launch(
        log=tuple(Line(start_ms, text, "stderr") for text in texts),
        exit=Exit(after_ms=start_ms + 5, code=1),
        memory_bytes=20 << 20,
    )


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


@per_container
def _bootstrap(container: Container) -> Bootstrap:
    argv = final_argv(container, "envoy")
    words = ("envoy", *argv) if argv and argv[0].startswith("-") else argv
    return bootstrap_of(container, words)[1]


_RUN: Final = "run"


def _remembered(container: Container, upstream: Upstream) -> dict[str, str]:
    memory = upstream.state()
    run = str(container.started_ms)
    return memory if memory.get(_RUN) == run else {_RUN: run}


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    found = _bootstrap(container)
    port = int(request.headers.get(PORT, "0"))
    memory = _remembered(container, upstream)
    listener = next((each for each in found.listeners if each.port == port), None)
    if listener is None:
        if found.admin is None or found.admin.port != port or request.protocol != "http":
            return Served(reply=Reply(failure=EMPTY, latency_ms=1))
        reply = _envoy_telling.administer(found, request, upstream, memory, container.started_ms)
        if request.path != "/ready":
            # Whether it lives changes nothing; what tells of hosts looks their names up.
            upstream.remember(memory)
        return Served(reply=reply, cpu_ms=1)
    if listener.kind == TCP:
        reply = _through(found, listener.cluster, container, request, upstream, memory)
        upstream.remember(memory)
        return Served(reply=reply)
    if request.protocol != "http":
        return Served(reply=Reply(failure=RESET if request.protocol == "tls" else EMPTY, latency_ms=1))
    count(memory, "requests")
    outcome = forward(found, listener, container, request, upstream, memory)
    prefix = f"http.{listener.stat_prefix}.downstream_rq"
    count(memory, f"{prefix}_total")
    count(memory, f"{prefix}_{outcome.status // 100}xx")
    upstream.remember(memory)
    at_ms = upstream.now_ms
    return Served(
        reply=_reply(request, outcome, at_ms),
        log=_envoy_telling.access(listener, request, outcome, at_ms),
        cpu_ms=1,
    )


def _reply(request: Request, outcome: Outcome, at_ms: int) -> Reply:
    headers = outcome.headers
    if not any(name == "date" for name, _ in headers):
        headers = (*headers, ("date", header_date(at_ms + outcome.took_ms)))
    body = "" if request.method == "HEAD" and outcome.is_local else outcome.body
    return Reply(
        status=outcome.status, headers=(*headers, ("server", "envoy")), body=body, latency_ms=outcome.took_ms
    )


def _through(
    found: Bootstrap, name: str, container: Container, request: Request, upstream: Upstream, memory: dict[str, str]
) -> Reply:  # fmt: skip
    """Pass bytes on to a host of a cluster."""
    cluster = found.cluster(name)
    known = hosts(memory, cluster, upstream) if cluster is not None else []
    host = choose(memory, cluster, known, upstream.now_ms) if cluster is not None else None
    if cluster is None or host is None:
        return Reply(failure=RESET, latency_ms=1)
    headers = {key: value for key, value in request.headers.items() if key != PORT}
    reply = upstream.request(host.address, host.port, request._replace(headers=headers, source_ip=""))
    is_lost = bool(reply.failure) and reply.detail.startswith("connect")
    count(memory, f"cluster.{name}.upstream_cx_total")
    if is_lost:
        count(memory, f"cluster.{name}.upstream_cx_connect_fail")
    note(
        memory,
        cluster,
        known,
        host,
        503 if is_lost else 200,
        upstream.now_ms + reply.latency_ms,
        container.started_ms,
    )
    if is_lost:
        return Reply(failure=RESET, latency_ms=min(reply.latency_ms, cluster.connect_ms), detail="")
    return reply._replace(detail="") if reply.failure else reply


def _signalled(_container: Container, name: str, at_ms: int, _memory: Mapping[str, str]) -> Signalled | None:
    if name not in ("TERM", "INT"):
        return None
    texts = (
        ("warning", "main", "source/server/server.cc:936", f"caught ENVOY_SIG{name}"),
        ("info", "main", "source/server/server.cc:1068", "shutting down server instance"),
        ("info", "main", "source/server/server.cc:1003", "main dispatch loop exited"),
        ("info", "main", "source/server/server.cc:1041", "exiting"),
    )
    return Signalled(log=tuple(Line(at_ms, entry(at_ms, *each), "stderr") for each in texts), code=0)


PROGRAM = Program(
    name="envoy",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    signalled=_signalled,
    source="https://www.envoyproxy.io/docs/envoy/latest/; github.com/envoyproxy/envoy",
    unrecorded="all of it: the log of its start, its own answers, its counters and its administration port",
)
