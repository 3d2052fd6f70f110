"""Redis: one server without replicas, its data in memory, and on disk where its configuration has it saved.

What it does not do: lose what came since the last snapshot when it is killed; every write counts as saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from env_core.programs import _redis_commands, _redis_config, _redis_lifecycle
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import moment, month_name
from env_core.programs._images import canonical, image_or_first
from env_core.programs._memo import per_container
from env_core.programs._model import (
    EMPTY,
    TIMEOUT,
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
from env_core.programs._redis_session import Session, commands

_RELEASES: Final = {
    "8.4": "8.4.0", "8.2": "8.2.3", "8.0": "8.0.5", "8": "8.4.0", "7.4": "7.4.7", "7.2": "7.2.12", "7.0": "7.0.15",
    "7": "7.4.7", "6.2": "6.2.21", "6.0": "6.0.20", "6": "6.2.21", "5": "5.0.14", "latest": "8.4.0",
}  # fmt: skip
_ENTRYPOINT: Final = "docker-entrypoint.sh"
_DATA: Final = "/data"
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


@per_container
def _running(container: Container) -> tuple[Mapping[str, str], tuple[tuple[str, str], ...]]:
    """Return the configuration of a running server, and the commands that it renames."""
    settings = _settings(container, final_argv(container, "redis-server"))
    return settings, _redis_config.renames(settings)


def _stamp(at_ms: int) -> str:
    at = moment(at_ms)
    return f"{at.day:02d} {month_name(at.month)} {at.year} {at:%H:%M:%S}.{at_ms % 1000:03d}"


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "redis-server":
        return None
    version = version_of(container.image)
    start_ms = stretched_ms(12, container.cpu_limit_millis) + 20
    if "--version" in argv or "-v" in argv:
        text = f"Redis server v={version} sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0"
        return Launch(log=(Line(start_ms, text),), exit=Exit(after_ms=start_ms, code=0))
    path, options = _arguments(argv)
    stamp = _stamp(container.started_ms + start_ms)
    mark = "#" if version < "7.2" else "*"
    if path and path not in container.files:
        text = f"1:C {stamp} # Fatal error, can't open config file '{path}': No such file or directory"
        return Launch(
            log=(Line(start_ms, text),), exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20
        )
    try:
        settings = _settings(container, argv)
    except _redis_config.ConfigProblem as problem:
        if problem.is_plain:
            lines: tuple[Line, ...] = (Line(start_ms, f"1:C {stamp} # {problem.lines[0]}"),)
        else:
            texts = ("", f"*** FATAL CONFIG FILE ERROR (Redis {version}) ***", *problem.lines)
            lines = tuple(Line(start_ms, text, "stderr") for text in texts)
        return Launch(log=lines, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    text = container.files.get(path, "") if path else ""
    begun = _redis_lifecycle.begin(container, settings, text)
    if begun.refused:
        texts = ("", f"*** FATAL CONFIG FILE ERROR (Redis {version}) ***", *begun.refused)
        lines = tuple(Line(start_ms, each, "stderr") for each in texts)
        return Launch(log=lines, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    port = int(settings["port"])
    who = f"1:{_redis_lifecycle.role(settings)} {stamp}"
    loaded = "Configuration loaded" if path or options else (
        "Warning: no config file specified, using the default config."
        " In order to specify a config file use redis-server /path/to/redis.conf"
    )  # fmt: skip
    loaded_mark = mark if path or options else "#"
    texts = (
        f"1:C {stamp} {mark} oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
        f"1:C {stamp} {mark} Redis version={version}, bits=64, commit=00000000, modified=0, pid=1, just started",
        f"1:C {stamp} {loaded_mark} {loaded}",
        *(() if begun.is_before_clock else (f"{who} * monotonic clock: POSIX clock_gettime",)),
    )
    if begun.failed:
        mode = (
            ()
            if begun.is_before_mode
            else (f"{who} * Running mode=standalone, port={port}.", f"{who} {mark} Server initialized")
        )
        failed = (*texts, *mode, *(f"{who} {each}" for each in begun.failed))
        log = tuple(Line(start_ms, each) for each in failed)
        return Launch(log=log, exit=Exit(after_ms=start_ms + 5, code=1), memory_bytes=2 << 20)
    texts = (
        *texts,
        f"{who} * Running mode=standalone, port={port}.",
        f"{who} {mark} Server initialized",
        *(f"{who} {each}" for each in _redis_lifecycle.data_lines(settings)),
        f"{who} * Ready to accept connections" + ("" if version < "7.2" else " tcp"),
    )
    return Launch(
        listeners=(Listener(port=port, protocol="redis", after_ms=start_ms, is_local=begun.is_local),)
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


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    if request.protocol == "http":
        return Served(reply=Reply(failure=EMPTY, latency_ms=1), log=_attack(request, upstream))
    if request.protocol == "tls":
        return Served(reply=Reply(failure=TIMEOUT, latency_ms=request.timeout_ms, detail="read"))
    memory = upstream.state()
    run = str(container.started_ms)
    settings, renamed = _running(container)
    if memory.get("run") != run:
        memory = {"run": run, **(upstream.stored(_directory(settings)) if _is_saved(settings) else {})}
    session = Session(
        memory=memory, config=settings, renamed=renamed, now_ms=upstream.now_ms,
        started_ms=container.started_ms, version=version_of(container.image),
        memory_limit=container.memory_limit_bytes, info=_info,
    )  # fmt: skip
    is_guarded = session.setting("protected-mode") == "yes" and not session.setting("requirepass")
    session.is_refused = is_guarded and not request.source_ip.startswith("127.")
    found = commands(request.body)
    body = "".join(_redis_commands.run(session, words) for words in found if words)
    if session.is_changed:
        upstream.remember(session.memory)
        if _is_saved(settings):
            upstream.store(_directory(settings), session.data())
    extra = session.used_bytes() - 900_000 if session.is_changed else 0
    return Served(reply=Reply(body=body, latency_ms=1), memory_bytes=extra)


def _is_saved(settings: Mapping[str, str]) -> bool:
    return settings.get("appendonly") == "yes" or bool(settings.get("save"))


def _directory(settings: Mapping[str, str]) -> str:
    """Return where the data are saved; a relative directory is the image's own, which is the default."""
    found = settings.get("dir", "")
    return found if found.startswith("/") else _DATA


def _begun(container: Container, launch: Launch, upstream: Upstream) -> Launch:
    """Return a server's start by what it finds saved.

    Source: tests/golden/programs/redis (lines of a loaded snapshot).
    """
    if not launch.listeners:
        return launch
    settings, _ = _running(container)
    kept = upstream.stored(_directory(settings)) if _is_saved(settings) else {}
    if not kept:
        return launch
    keys = sum(not name.startswith("expires ") for name in kept)
    at_ms = launch.log[-1].at_ms
    who = f"1:{_redis_lifecycle.role(settings)} {_stamp(container.started_ms + at_ms)} *"
    texts = (
        f"Loading RDB produced by version {version_of(container.image)}",
        f"Done loading RDB, keys loaded: {keys}, keys expired: 0.",
        "DB loaded from disk: 0.001 seconds",
    )
    told = tuple(Line(at_ms, f"{who} {text}") for text in texts)
    return replace(launch, log=(*launch.log[:-1], *told, launch.log[-1]))


def _attack(request: Request, upstream: Upstream) -> tuple[Line, ...]:
    at_ms = upstream.now_ms
    text = (
        f"1:M {_stamp(at_ms)} # Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands"
        " to Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis"
        f" instance. Connection from {request.source_ip}:43210 aborted."
    )
    return (Line(at_ms, text),)


def _info(session: Session, section: str) -> str:
    """Return the sections of INFO that matter to a person: server, clients, memory, persistence, replication, keyspace."""
    used = session.used_bytes()
    limit = _redis_config.memory_bytes(session.setting("maxmemory")) or 0
    up_seconds = (session.now_ms - session.started_ms) // 1000
    sections = {
        "server": (
            f"redis_version:{session.version}", "redis_git_sha1:00000000", "redis_git_dirty:0", "redis_mode:standalone",
            "os:Linux 6.8.0-60-generic x86_64", "arch_bits:64", "monotonic_clock:POSIX clock_gettime",
            "multiplexing_api:epoll", "process_id:1", f"tcp_port:{session.setting('port')}",
            f"uptime_in_seconds:{up_seconds}", f"uptime_in_days:{up_seconds // 86400}", "hz:10", "configured_hz:10",
            "executable:/data/redis-server", "config_file:",
        ),
        "clients": ("connected_clients:1", "cluster_connections:0", f"maxclients:{session.setting('maxclients')}", "blocked_clients:0"),
        "memory": (
            f"used_memory:{used}", f"used_memory_human:{used / 1024:.2f}K", "used_memory_rss:8388608",
            f"maxmemory:{limit}", f"maxmemory_human:{_human(limit)}", f"maxmemory_policy:{session.setting('maxmemory-policy')}",
        ),
        "persistence": ("loading:0", "rdb_changes_since_last_save:0", "rdb_bgsave_in_progress:0", "rdb_last_bgsave_status:ok", "aof_enabled:0"),
        "replication": ("role:master", "connected_slaves:0", "master_failover_state:no-failover", "master_repl_offset:0", "second_repl_offset:-1"),
        "keyspace": tuple(_keyspace(session)),
    }  # fmt: skip
    if section and section not in ("all", "default", "everything"):
        sections = {name: lines for name, lines in sections.items() if name == section}
    return "\r\n".join(
        "\r\n".join((f"# {name.capitalize()}", *lines, "")) for name, lines in sections.items()
    )


def _human(size: int) -> str:
    if size >= 1 << 30:
        return f"{size / (1 << 30):.2f}G"
    if size >= 1 << 20:
        return f"{size / (1 << 20):.2f}M"
    return f"{size / 1024:.2f}K" if size >= 1024 else f"{size}B"


def _keyspace(session: Session) -> list[str]:
    lines = []
    before = session.database
    for number in range(int(session.setting("databases") or "16")):
        session.database = number
        names = session.names()
        if names:
            expiring = sum(f"expires {session.key(name)}" in session.memory for name in names)
            lines.append(f"db{number}:keys={len(names)},expires={expiring},avg_ttl=0")
    session.database = before
    return lines


def _processes(container: Container) -> tuple[str, ...]:
    argv = final_argv(container, "redis-server")
    if argv and argv[0].rpartition("/")[2] == "redis-server":
        try:
            port = _settings(container, argv)["port"]
        except _redis_config.ConfigProblem:
            port = "6379"
        return (f"redis-server *:{port}",)
    return (" ".join(container.argv),)


def _signalled(container: Container, name: str, at_ms: int) -> Signalled | None:
    try:
        settings, _ = _running(container)
    except _redis_config.ConfigProblem:
        return None
    return _redis_lifecycle.stop(settings, version_of(container.image), name, at_ms, _stamp)


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
)
