"""A web service in Go: an API with handlers that fail, modes that read, write and call others, and Go's own words for all of it.

Source: tests/golden/programs/app-go (go1.26).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from env_core.objects.problems import quoted
from env_core.programs import _go_net as net
from env_core.programs import _go_values as values
from env_core.programs import _machine
from env_core.programs._commands import final_argv, launch
from env_core.programs._go_client import dial, fetch
from env_core.programs._go_traces import TRACES, goroutine_panic, request_panic, stack_overflow
from env_core.programs._http import REASONS, slash_date, split_target
from env_core.programs._images import image_or_first
from env_core.programs._machine import Machine
from env_core.programs._model import (
    EMPTY,
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
from env_core.programs._web import TEXT, go_reply
from env_core.sim.timefmt import DurationError, parse_go_duration, rfc3339

IMAGES: Final = (
    Image(
        repository="registry.example.com/shop/go-api", tags=("latest", "1.0.0", "1.1.0", "1.2.0"), size_bytes=9_312_844,
        entrypoint=("/app/server",), binaries=("server",), base="distroless", files={"/app/server": ""}, user=1000,
    ),
)  # fmt: skip
_START_MS: Final = 12
_TIMEOUT_MS: Final = 2_000
_USAGE: Final = (
    "Usage of {name}:",
    "  -addr address",
    '    \tlisten address (default ":8080")',
    "  -mode string",
    '    \twhat to do (default "serve")',
    "  -timeout duration",
    "    \trequest time-out (default 2s)",
)
_ERRNO: Final = {
    _machine.MISSING: "no such file or directory", _machine.FORBIDDEN: "permission denied",
    _machine.READ_ONLY: "read-only file system", _machine.IS_DIRECTORY: "is a directory",
    _machine.FULL: "no space left on device", _machine.TOO_MANY: "too many open files",
    _machine.NOT_DIRECTORY: "not a directory",
}  # fmt: skip
_COMMANDS: Final = {"true": 0, "false": 1}


class _Flags:
    """The command line, read as Go's flag package does."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self.values = {"addr": ":8080", "mode": "serve", "timeout": "2s"}
        self.rest: tuple[str, ...] = ()
        self.problem = ""
        self.code = 2
        words = list(argv[1:])
        while words:
            word = words.pop(0)
            if len(word) < 2 or word[0] != "-":
                self.rest = (word, *words)
                return
            if word == "--":
                self.rest = tuple(words)
                return
            name, has_value, value = word.lstrip("-").partition("=")
            if name in ("h", "help"):
                self.problem, self.code = "help", 0
                return
            if name not in self.values:
                self.problem = f"flag provided but not defined: -{name}"
                return
            if not has_value:
                if not words:
                    self.problem = f"flag needs an argument: -{name}"
                    return
                value = words.pop(0)
            if name == "timeout" and not _is_duration(value):
                self.problem = f"invalid value {quoted(value)} for flag -{name}: parse error"
                return
            self.values[name] = value
        self.rest = ()

    @property
    def timeout_ms(self) -> int:
        """The time-out of requests."""
        return parse_go_duration(self.values["timeout"])


def _is_duration(text: str) -> bool:
    try:
        parse_go_duration(text)
    except DurationError:
        return False
    return True


def _ended(lines: list[str] | tuple[str, ...], code: int, after_ms: int = _START_MS) -> Launch:
    log = tuple(Line(after_ms, line, "stderr") for line in lines)
    return Launch(log=log, exit=Exit(after_ms=after_ms + 3, code=code), memory_bytes=6 << 20)


def _fatal(container: Container, text: str) -> Launch:
    """Return what log.Fatal leaves."""
    return _ended([f"{slash_date(container.started_ms + _START_MS)} {text}"], 1)


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    return started(container, argv)


def started(container: Container, argv: tuple[str, ...], machine: Machine = _machine.PLAIN) -> Launch | None:
    """Return what the service does when an argv starts it; None when the argv does not."""
    if argv[0].rpartition("/")[2] != "server":
        return None
    flags = _Flags(argv)
    if flags.problem:
        usage = [line.format(name=argv[0]) for line in _USAGE]
        return _ended(usage if flags.problem == "help" else [flags.problem, *usage], flags.code)
    mode = flags.values["mode"]
    if mode in TRACES:
        return _ended(TRACES[mode], 2)
    if mode == "stack":
        return _ended(stack_overflow(), 2)
    if mode in _FILE_MODES:
        text = _FILE_MODES[mode](container, machine, flags.rest[0] if flags.rest else "")
        return _fatal(container, text) if text else _ended([], 0)
    if mode in ("get", "get-slog", "get-json", "dial"):
        return _ended([], 0)  # what comes of it is decided by `starts`
    return _serving(container, flags, machine)


def _serving(container: Container, flags: _Flags, machine: Machine) -> Launch:
    address = flags.values["addr"]
    stamp = slash_date(container.started_ms + _START_MS)
    first = f"{stamp} listening on {address}"
    problem = net.listen_error("tcp", address, "")
    host, _, port = address.rpartition(":")
    number = int(port) if port.isdigit() else {"http": 80, "https": 443}.get(port, 0)
    if problem is None:
        failure = _machine.bind_problem(container, machine, host, number)
        known = {
            _machine.IN_USE: net.IN_USE,
            _machine.NOT_LOCAL: net.NOT_LOCAL,
            _machine.FORBIDDEN: net.FORBIDDEN,
        }
        problem = net.listen_error("tcp", address, known[failure]) if failure else None
    if problem is not None:
        return _ended([first, f"{stamp} {problem.text}"], 1)
    is_graceful = flags.values["mode"] == "graceful"
    return Launch(
        listeners=(Listener(port=number, protocol="http", after_ms=_START_MS),), log=(Line(_START_MS, first, "stderr"),),
        memory_bytes=7 << 20, stop_ms=30, stop_code=0 if is_graceful else 2,
    )  # fmt: skip


def _write(container: Container, machine: Machine, path: str) -> str:
    problem = _machine.write_problem(container, machine, path)
    if problem:
        return values.path_error("open", path, _ERRNO[problem]).text
    return (
        values.path_error("write", path, _ERRNO[_machine.FULL]).text
        if _machine.is_full(machine, path)
        else ""
    )


def _mkdir(container: Container, machine: Machine, path: str) -> str:
    if _machine.is_directory(container, path):
        return values.path_error("mkdir", path, "file exists").text
    problem = _machine.write_problem(container, machine, path)
    return values.path_error("mkdir", path, _ERRNO[problem]).text if problem else ""


def _exec(container: Container, machine: Machine, name: str) -> str:
    if "/" in name:
        is_there = not _machine.read_problem(container, machine, name)
        return (
            values.path_error("fork/exec", name, "permission denied").text
            if is_there
            else values.command_missing(name).text
        )
    status = _COMMANDS.get(name)
    if status is None:
        return values.command_missing(name).text
    return values.command_ended(status).text if status else ""


def _config(container: Container, machine: Machine, path: str) -> str:
    problem = _machine.read_problem(container, machine, path)
    if problem:
        return values.path_error("open", path, _ERRNO[problem]).text
    if path not in container.files:
        return values.path_error("read", path, _ERRNO[_machine.IS_DIRECTORY]).text
    error = values.json_error(
        container.files[path], {"port": "int", "database_url": "string", "debug": "bool"}, "Config"
    )
    return f"parsing {path}: {error.text}" if error is not None else ""


def _files(_container: Container, machine: Machine, _path: str) -> str:
    return (
        values.path_error("open", "/etc/hostname", _ERRNO[_machine.TOO_MANY]).text
        if machine.files_max
        else ""
    )


_FILE_MODES: Final[dict[str, Callable[[Container, Machine, str], str]]] = {
    "write": _write, "mkdir": _mkdir, "exec": _exec, "config": _config, "files": _files,
}  # fmt: skip


def starts(container: Container, found: Launch, upstream: Upstream) -> Launch:
    """Do what the modes that call others do at once: get, get-slog, get-json, dial."""
    argv = final_argv(container)
    flags = _Flags(argv)
    mode = flags.values["mode"]
    if flags.problem or mode not in ("get", "get-slog", "get-json", "dial") or not flags.rest:
        return found
    before_ms = upstream.now_ms
    target = flags.rest[0]
    if mode == "dial":
        error = dial(container, upstream, target, flags.timeout_ms)
        text, body = error.text if error is not None else "", ""
    else:
        text, body = _got(container, upstream, target, flags.timeout_ms)
    at_ms = _START_MS
    if not text:
        lines = tuple(Line(at_ms, line) for line in body.split("\n")) if body else ()
        return Launch(log=lines, exit=Exit(after_ms=at_ms + 2, code=0), memory_bytes=7 << 20)
    stamp = slash_date(before_ms + at_ms)
    if mode == "get-slog":
        line = f"{stamp} ERROR request failed url={target} err={quoted(text)}"
    elif mode == "get-json":
        fields = {
            "time": rfc3339(before_ms)[:-1] + ".120464738Z",
            "level": "ERROR",
            "msg": "request failed",
            "url": target,
            "err": text,
        }
        line = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    else:
        line = f"{stamp} {text}"
    return _ended([line], 1, at_ms)


def _got(container: Container, upstream: Upstream, url: str, timeout_ms: int) -> tuple[str, str]:
    """Return what is wrong with the answer of a URL, or its body."""
    found = fetch(container, upstream, url, timeout_ms=timeout_ms)
    if found.error is not None:
        return found.error.text, ""
    reply = found.reply
    if not 200 <= reply.status < 300:
        return f"unexpected status: {reply.status} {REASONS.get(reply.status, '')}".rstrip(), ""
    if found.body_error is not None:
        return f"reading body: {found.body_error.text}", ""
    problem = values.json_error(reply.body, {})
    return (f"decoding response: {problem.text}", "") if problem is not None else ("", reply.body)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _said(upstream: Upstream, text: str) -> tuple[Line, ...]:
    return (Line(upstream.now_ms, f"{slash_date(upstream.now_ms)} {text}", "stderr"),)


def _failed(upstream: Upstream, status: int) -> Reply:
    """Answer as http.Error does."""
    reason = REASONS[status]
    return _error_reply(upstream, f"{reason}\n", status)


def _error_reply(upstream: Upstream, body: str, status: int) -> Reply:
    plain = go_reply(upstream, body, status)
    date = next(pair for pair in plain.headers if pair[0] == "Date")
    headers = (
        ("Content-Type", TEXT), ("X-Content-Type-Options", "nosniff"), date, ("Content-Length", str(len(body.encode()))),
    )  # fmt: skip
    return Reply(status=status, headers=headers, body=body, latency_ms=1)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    if request.protocol != "http":
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    path, query = split_target(request.path)
    if path == "/health":
        return Served(reply=go_reply(upstream, "ok\n"))
    if path == "/nil":
        return Served(
            reply=Reply(failure=EMPTY, latency_ms=1),
            log=request_panic(upstream.now_ms, f"{request.source_ip}:43210"),
        )
    if path == "/goroutine":
        lines = tuple(Line(upstream.now_ms, line, "stderr") for line in goroutine_panic())
        return Served(reply=Reply(failure=EMPTY, latency_ms=1), log=lines, ends=2)
    if path == "/upstream" and query.startswith("url="):
        return _called(container, upstream, query[4:])
    return Served(reply=_error_reply(upstream, "404 page not found\n", 404))


def _called(container: Container, upstream: Upstream, url: str) -> Served:
    flags = _Flags(final_argv(container))
    text, body = _got(container, upstream, url, flags.timeout_ms)
    if text:
        return Served(
            reply=_failed(upstream, 502), log=_said(upstream, f"upstream call failed: {text}"), cpu_ms=1
        )
    return Served(reply=go_reply(upstream, body), cpu_ms=1)


def _signalled(container: Container, name: str, at_ms: int, _memory: Mapping[str, str]) -> Signalled | None:
    flags = _Flags(final_argv(container))
    if name in ("TERM", "INT") and flags.values["mode"] == "graceful":
        stamp = slash_date(at_ms)
        lines = (
            Line(at_ms, f"{stamp} shutting down", "stderr"),
            Line(at_ms, f"{stamp} server stopped", "stderr"),
        )
        return Signalled(log=lines, code=0)
    return Signalled(code=2) if name in ("TERM", "INT", "HUP") else None


PROGRAM = Program(
    name="go_service",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=starts,
    signalled=_signalled,
    source="tests/golden/programs/app-go",
    unrecorded="the panics of closed channels",
)
