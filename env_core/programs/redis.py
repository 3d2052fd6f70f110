"""Redis: one server without replicas, its data in memory, and on disk where its configuration has it saved.

What it does not do: lose what came since the last snapshot when it is killed; every write counts as saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from env_core.programs import _redis_config, _redis_lifecycle, _redis_loading, _redis_replica
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import moment, month_name
from env_core.programs._images import canonical, image_or_first
from env_core.programs._machine import PLAIN, Machine
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
from env_core.programs._redis_saving import disk_of
from env_core.programs._redis_serving import Server, loading_ms, patience_s, serve

_RELEASES: Final = {
    "8.4": "8.4.0", "8.2": "8.2.3", "8.0": "8.0.5", "8": "8.4.0", "7.4": "7.4.7", "7.2": "7.2.12", "7.0": "7.0.15",
    "7": "7.4.7", "6.2": "6.2.21", "6.0": "6.0.20", "6": "6.2.21", "5": "5.0.14", "latest": "8.4.0",
}  # fmt: skip
_ENTRYPOINT: Final = "docker-entrypoint.sh"
_BINARIES: Final = (
    "redis-server",
    "redis-cli",
    "redis-benchmark",
    "redis-check-aof",
    "redis-check-rdb",
    "redis-sentinel",
    "gosu",
    _ENTRYPOINT,
)


def _tags(*suffixes: str) -> tuple[str, ...]:
    found = [base + suffix for base in _RELEASES if base != "latest" for suffix in suffixes]
    found += [exact + suffix for exact in dict.fromkeys(_RELEASES.values()) for suffix in suffixes]
    return tuple(dict.fromkeys(found))


def _images(repository: str) -> tuple[Image, Image]:
    return (
        Image(
            repository=repository, tags=("alpine", *_tags("-alpine", "-alpine3.21")), size_bytes=17_170_022,
            entrypoint=(_ENTRYPOINT,), command=("redis-server",), env={"REDIS_VERSION": "7.4.7"},
            binaries=_BINARIES, base="alpine",
        ),
        Image(
            repository=repository, tags=("latest", *_tags("", "-bookworm")), size_bytes=46_801_991,
            entrypoint=(_ENTRYPOINT,), command=("redis-server",), env={"REDIS_VERSION": "7.4.7"},
            binaries=_BINARIES, base="debian",
        ),
    )  # fmt: skip


IMAGES: Final = _images("redis")


def version_of(reference: str) -> str:
    """Return the Redis version in an image, from its tag."""
    tag = canonical(reference)[1].partition("-")[0]
    return _RELEASES.get(tag) or (tag if tag.count(".") == 2 else "7.4.7")


def _arguments(argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the configuration file of a redis-server command line ("" for none) and its options."""
    rest = argv[1:]
    if rest and not rest[0].startswith("-"):
        return rest[0], rest[1:]
    return "", rest


def _settings(container: Container, argv: tuple[str, ...]) -> Mapping[str, str]:
    path, options = _arguments(argv)
    text = container.files.get(path, "") if path else ""
    return _redis_config.read(text, options, tuple(container.files))


def stamp(at_ms: int) -> str:
    """Return a time as the log has it."""
    at = moment(at_ms)
    return f"{at.day:02d} {month_name(at.month)} {at.year} {at:%H:%M:%S}.{at_ms % 1000:03d}"


def _start_ms(container: Container) -> int:
    return stretched_ms(12, container.cpu_limit_millis) + 20


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    return started(container, argv)


def started(container: Container, argv: tuple[str, ...], machine: Machine = PLAIN) -> Launch | None:
    """Return what an argv starts; None when it is no server."""
    if argv[0].rpartition("/")[2] != "redis-server":
        return None
    version = version_of(container.image)
    start_ms = _start_ms(container)
    if "--version" in argv or "-v" in argv:
        text = f"Redis server v={version} sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0"
        return Launch(log=(Line(start_ms, text),), exit=Exit(after_ms=start_ms, code=0))
    path, options = _arguments(argv)
    shown = stamp(container.started_ms + start_ms)
    mark = "#" if version < "7.2" else "*"
    if path and path not in container.files:
        text = f"1:C {shown} # Fatal error, can't open config file '{path}': No such file or directory"
        return Launch(
            log=(Line(start_ms, text),), exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20
        )
    try:
        settings = _settings(container, argv)
    except _redis_config.ConfigProblem as problem:
        if problem.is_plain:
            lines: tuple[Line, ...] = (Line(start_ms, f"1:C {shown} # {problem.lines[0]}"),)
        else:
            texts = ("", f"*** FATAL CONFIG FILE ERROR (Redis {version}) ***", *problem.lines)
            lines = tuple(Line(start_ms, text, "stderr") for text in texts)
        return Launch(log=lines, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    text = container.files.get(path, "") if path else ""
    beginning = _redis_lifecycle.begin(container, settings, text, machine)
    if beginning.refused:
        texts = ("", f"*** FATAL CONFIG FILE ERROR (Redis {version}) ***", *beginning.refused)
        lines = tuple(Line(start_ms, each, "stderr") for each in texts)
        return Launch(log=lines, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    port = int(settings["port"])
    who = f"1:{_redis_lifecycle.role(settings)} {shown}"
    limits, is_short = _redis_lifecycle.files_told(settings, machine)
    loaded = "Configuration loaded" if path or options else (
        "Warning: no config file specified, using the default config."
        " In order to specify a config file use redis-server /path/to/redis.conf"
    )  # fmt: skip
    loaded_mark = mark if path or options else "#"
    texts = (
        f"1:C {shown} {mark} oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
        f"1:C {shown} {mark} Redis version={version}, bits=64, commit=00000000, modified=0, pid=1, just started",
        f"1:C {shown} {loaded_mark} {loaded}",
        *(f"{who} {each}" for each in limits),
        *(() if beginning.is_before_clock else (f"{who} * monotonic clock: POSIX clock_gettime",)),
    )
    if is_short:
        log = tuple(Line(start_ms, each) for each in texts[:-1])
        return Launch(log=log, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    if beginning.failed:
        mode = (
            ()
            if beginning.is_before_mode
            else (f"{who} * Running mode=standalone, port={port}.", f"{who} {mark} Server initialized")
        )
        failed = (*texts, *mode, *(f"{who} {each}" for each in beginning.failed))
        log = tuple(Line(start_ms, each) for each in failed)
        return Launch(log=log, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    texts = (
        *texts,
        f"{who} * Running mode=standalone, port={port}.",
        f"{who} {mark} Server initialized",
        f"{who} * Ready to accept connections" + ("" if version < "7.2" else " tcp"),
    )
    return Launch(
        listeners=(Listener(port=port, protocol="redis", after_ms=start_ms, is_local=beginning.is_local),)
        if port
        else (),
        log=tuple(Line(start_ms, text) for text in texts),
        memory_bytes=4 << 20,
        cpu_millis=2,
        stop_ms=40,
        stop_code=0,
    )


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


@per_container
def _server_of(container: Container) -> Server:
    return server_of(container)


def server_of(container: Container, machine: Machine = PLAIN) -> Server:
    """Return what a container's server is while it runs."""
    argv = final_argv(container, "redis-server")
    settings = _settings(container, argv)
    found = settings.get("dir", "")
    # A relative directory is the image's own, which is the default.
    directory = found if found.startswith("/") else _redis_lifecycle.DATA
    has_aof = settings.get("appendonly") == "yes"
    return Server(
        settings, _redis_config.renames(settings), version_of(container.image), directory,
        disk_of(container, machine, directory), _arguments(argv)[0], _start_ms(container),
        has_aof or bool(settings.get("save")), has_aof, bool(settings.get("replicaof") or settings.get("slaveof")),
    )  # fmt: skip


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return serve(_server_of(container), container, request, upstream, stamp)


def _begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
    return begun(_server_of(container), container, launch, upstream) if launch.listeners else launch


def begun(server: Server, container: Container, launch: Launch, upstream: Upstream) -> Launch:
    """Return a server's start by what it finds saved, and by whether its master answers."""
    settings = server.settings
    kept = upstream.stored(server.directory) if server.is_saved else {}
    at_ms = launch.log[-1].at_ms
    start_ms = container.started_ms + at_ms
    found = _redis_loading.find(settings, kept, server.version, start_ms)
    if found.rows is not None:
        upstream.store(server.directory, found.rows)
    said = [(at_ms, f"M {text}") for text in found.told]
    late_ms = at_ms + loading_ms(settings, kept)
    said += [(late_ms, f"M {text}") for text in found.done]
    who = _redis_lifecycle.role(settings)

    def lines(messages: list[tuple[int, str]]) -> tuple[Line, ...]:
        return tuple(
            line._replace(at_ms=each_ms)
            for each_ms, text in messages
            for line in _redis_lifecycle.log_line(text, container.started_ms + each_ms, stamp, who)
        )

    if found.has_failed:
        report = tuple(Line(at_ms, text) for text in found.report)
        return Launch(
            log=(*launch.log[:-1], *lines(said), *report),
            exit=Exit(after_ms=at_ms + 5, code=1),
            memory_bytes=2 << 20,
        )
    ready = launch.log[-1]
    if late_ms > at_ms:
        ready = Line(late_ms, ready.text.replace(stamp(start_ms), stamp(container.started_ms + late_ms)))
    master = settings.get("replicaof") or settings.get("slaveof") or ""
    told: list[tuple[int, str]] = []
    if master:
        failure = _redis_replica.link(upstream, master)
        told = _redis_replica.first(master, failure, at_ms, patience_s(settings))[0] if failure else []
    return replace(launch, log=(*launch.log[:-1], *lines(said), ready, *lines(told)))


def _processes(container: Container) -> tuple[str, ...]:
    argv = final_argv(container, "redis-server")
    if argv and argv[0].rpartition("/")[2] == "redis-server":
        try:
            port = _settings(container, argv)["port"]
        except _redis_config.ConfigProblem:
            port = "6379"
        return (f"redis-server *:{port}",)
    return (" ".join(container.argv),)


def _signalled(container: Container, name: str, at_ms: int, memory: Mapping[str, str]) -> Signalled | None:
    try:
        server = _server_of(container)
    except _redis_config.ConfigProblem:
        return None
    return signalled(server, container, name, at_ms, memory)


def signalled(
    server: Server, container: Container, name: str, at_ms: int, memory: Mapping[str, str]
) -> Signalled | None:
    """Return what a signal makes a server do."""
    return _redis_lifecycle.stop(
        server.settings, server.version, name, at_ms, stamp, memory, server.disk, container.started_ms
    )


PROGRAM = Program(
    name="redis",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=_begun,
    signalled=_signalled,
    processes=_processes,
    source="https://github.com/redis/docker-library-redis; tests/golden/programs/redis",
    unrecorded="the log of a replica whose master has a name that does not resolve",
)
