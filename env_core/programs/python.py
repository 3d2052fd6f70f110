"""python: the interpreter of the official images; a script in the container's files says what it does."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from env_core.programs._commands import FOREVER_MS, final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import REASON, VERSION, header_date, moment, month_name, version
from env_core.programs._images import canonical, image_or_first, is_musl
from env_core.programs._memo import per_container
from env_core.programs._model import (
    DNS_TIMEOUT,
    EMPTY,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
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
    Upstream,
)

_RELEASES: Final = {
    "3.14": "3.14.2",
    "3.13": "3.13.11",
    "3.12": "3.12.12",
    "3.11": "3.11.14",
    "3.10": "3.10.19",
    "3.9": "3.9.25",
    "3": "3.14.2",
    "latest": "3.14.2",
}
_BRIDGE: Final = "redis-bridge:"
_PORT: Final = re.compile(r"(?:Server|run|bind|listen)\(\s*\(?[^()]*?(\d{2,5})\s*\)?")
_RESTING_BYTES: Final = 11 << 20
_START_CPU_MS: Final = 60
_READ_TIMEOUT_MS: Final = 2000

_GLIBC: Final = {
    NXDOMAIN: "[Errno -2] Name or service not known",
    SERVFAIL: "[Errno -3] Temporary failure in name resolution",
    DNS_TIMEOUT: "[Errno -3] Temporary failure in name resolution",
    REFUSED: "[Errno 111] Connection refused",
    TIMEOUT: "timed out",
    UNREACHABLE: "[Errno 113] No route to host",
    RESET: "[Errno 104] Connection reset by peer",
}
_MUSL: Final = {
    **_GLIBC,
    NXDOMAIN: "[Errno -2] Name does not resolve",
    SERVFAIL: "[Errno -3] Try again",
    DNS_TIMEOUT: "[Errno -3] Try again",
    UNREACHABLE: "[Errno 113] Host is unreachable",
}
"""Source: musl src/network/gai_strerror.c, src/errno/__strerror.h; tests/golden/programs/app-python for glibc."""


def _tags(suffixes: tuple[str, ...]) -> tuple[str, ...]:
    found = [base + suffix for base in _RELEASES if base != "latest" for suffix in suffixes]
    found += [exact + suffix for exact in dict.fromkeys(_RELEASES.values()) for suffix in suffixes]
    return tuple(dict.fromkeys(found))


_ENV: Final = {"LANG": "C.UTF-8", "PYTHON_VERSION": "3.12.12"}
_BINARIES: Final = ("python", "python3", "pip", "pip3", "idle", "pydoc")
IMAGES: Final = (
    Image(
        repository="python",
        tags=("alpine", *_tags(("-alpine", "-alpine3.22", "-alpine3.23"))),
        size_bytes=17_800_342,
        command=("python3",),
        env={"PATH": "/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **_ENV},
        binaries=_BINARIES,
        base="alpine",
    ),
    Image(
        repository="python",
        tags=("slim", *_tags(("-slim", "-slim-bookworm", "-slim-trixie"))),
        size_bytes=43_102_881,
        command=("python3",),
        env=_ENV,
        binaries=_BINARIES,
        base="debian",
    ),
    Image(
        repository="python",
        tags=("latest", *_tags(("", "-bookworm", "-trixie"))),
        size_bytes=371_260_113,
        command=("python3",),
        env=_ENV,
        binaries=(*_BINARIES, "curl", "wget", "git", "gcc", "ps", "openssl"),
        base="debian",
    ),
)


def version_of(reference: str) -> str:
    """Return the Python version in an image, from its tag."""
    tag = canonical(reference)[1].partition("-")[0]
    return _RELEASES.get(tag) or (tag if tag.count(".") == 2 else "3.14.2")


def _script_path(argv: tuple[str, ...]) -> str | None:
    """Return the script that `python [-u …] script` runs, or None."""
    for word in argv[1:]:
        if not word.startswith("-"):
            return word
        if word in ("-c", "-m"):
            return None
    return None


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path.removeprefix('./')}"


@lru_cache(maxsize=256)
def _kind(text: str) -> tuple[str, int]:
    """Return what a script is (bridge, web or idle) and the port that it listens on."""
    if text.lstrip().startswith((f'"""{_BRIDGE}', f"'''{_BRIDGE}")):
        found = _PORT.search(text)
        return "bridge", int(found[1]) if found else 9000
    if "http.server" in text:
        found = _PORT.search(text)
        return "web", int(found[1]) if found else 8000
    return "idle", 0


@lru_cache(maxsize=256)
def _required(text: str) -> tuple[str, ...]:
    """Return the environment variables that a script reads without a default at its top level."""
    return tuple(re.findall(r"^\S.*?os\.environ\[[\"']([A-Za-z0-9_]+)[\"']\]", text, re.MULTILINE))


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    name = argv[0].rpartition("/")[2]
    if not name.startswith("python"):
        return None
    start_ms = stretched_ms(_START_CPU_MS, container.cpu_limit_millis) + 25
    if "-m" in argv:
        return _module(argv, start_ms)
    path = _script_path(argv)
    if path is None:
        if "--version" in argv or "-V" in argv:
            return Launch(
                log=(Line(start_ms, f"Python {version_of(container.image)}"),),
                exit=Exit(after_ms=start_ms, code=0),
            )
        return Launch(exit=Exit(after_ms=start_ms + 20, code=0), memory_bytes=_RESTING_BYTES)
    text = container.files.get(_absolute(path))
    if text is None:
        problem = f"{argv[0]}: can't open file '{_absolute(path)}': [Errno 2] No such file or directory"
        return Launch(
            log=(Line(start_ms, problem, "stderr"),),
            exit=Exit(after_ms=start_ms + 15, code=2),
            memory_bytes=_RESTING_BYTES,
        )
    return _script(container, _absolute(path), text, start_ms)


def _module(argv: tuple[str, ...], start_ms: int) -> Launch:
    words = argv[argv.index("-m") + 1 :]
    if not words or words[0] != "http.server":
        name = words[0] if words else ""
        problem = f"/usr/local/bin/{argv[0]}: No module named {name}"
        return Launch(
            log=(Line(start_ms, problem, "stderr"),),
            exit=Exit(after_ms=start_ms + 15, code=1),
            memory_bytes=_RESTING_BYTES,
        )
    port = next((int(word) for word in words[1:] if word.isdigit()), 8000)
    return _listening(port, start_ms)


def _listening(port: int, start_ms: int) -> Launch:
    return Launch(
        listeners=(Listener(port=port, protocol="http", after_ms=start_ms),),
        memory_bytes=_RESTING_BYTES,
        stop_ms=FOREVER_MS,
        stop_code=137,
    )


def _script(container: Container, path: str, text: str, start_ms: int) -> Launch:
    kind, port = _kind(text)
    env = container.env
    for name in _required(text):
        if name not in env:
            return _crashed(path, text, f'os.environ["{name}"]', f"KeyError: '{name}'", start_ms)
    if kind == "bridge":
        number = env.get("REDIS_PORT", "6379")
        try:
            int(number)
        except ValueError:
            problem = f"ValueError: invalid literal for int() with base 10: {number!r}"
            return _crashed(path, text, "int(os.environ", problem, start_ms, is_key=False)
    if kind == "idle":
        return Launch(memory_bytes=_RESTING_BYTES, stop_ms=FOREVER_MS, stop_code=137)
    return _listening(port, start_ms)


def _crashed(path: str, text: str, found: str, problem: str, start_ms: int, *, is_key: bool = True) -> Launch:
    """Return a run that ends with a traceback at the script's top level."""
    lines = text.split("\n")
    number = next((index for index, line in enumerate(lines, start=1) if found in line), 1)
    source = lines[number - 1]
    at = source.find(found)
    marks = " " * at + "~" * len("os.environ") + "^" * (len(found) - len("os.environ")) if is_key else ""
    texts = [
        "Traceback (most recent call last):",
        f'  File "{path}", line {number}, in <module>',
        f"    {source.strip()}",
    ]
    if marks:
        texts.append("    " + marks[len(source) - len(source.lstrip()) :])
    if is_key:
        # os.environ looks the name up in its own mapping, whose failure it passes on.
        texts.append('  File "<frozen os>", line 714, in __getitem__')
    texts.append(problem)
    log = tuple(Line(start_ms, each, "stderr") for each in texts)
    return Launch(log=log, exit=Exit(after_ms=start_ms + 15, code=1), memory_bytes=_RESTING_BYTES)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _integer(text: str) -> int:
    try:
        return max(int(text), 0)
    except ValueError:
        return 0


@per_container
def _running_script(container: Container) -> str | None:
    """Return the text of the script that a container runs, None when it runs none of its files."""
    path = _script_path(final_argv(container))
    return container.files.get(_absolute(path)) if path else None


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    text = _running_script(container)
    if request.protocol != "http":
        return Served(reply=Reply(failure=RESET if request.protocol == "tls" else EMPTY, latency_ms=1))
    if text is not None and _kind(text)[0] == "bridge":
        return _bridge(container, request, upstream)
    return _web(container, request, upstream)


def _resp(*words: str) -> str:
    return f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)


def _bridge(container: Container, request: Request, upstream: Upstream) -> Served:
    """Answer as the bridge script does: one or two commands to Redis, its raw reply as JSON.

    Source: env_core/scenarios/tron/10-config.yaml.
    """
    env = container.env
    host, port, key = (
        env.get("REDIS_HOST", ""),
        env.get("REDIS_PORT", "6379"),
        env.get("REDIS_KEY", "tron:data"),
    )
    cpu_ms = 2 + _integer(env.get("BRIDGE_CPU_BURN_MS", "0"))
    memory_bytes = (256 << 10) + (_integer(env.get("BRIDGE_MEMORY_BURST_MB", "0")) << 20)
    path, _, query = request.path.partition("?")
    commands: list[tuple[str, ...]] = [("GET", key)]
    if request.method not in ("GET",):
        return _unsupported(container, request, upstream)
    if path == "/write":
        values = parse_qs(query).get("value")
        if values is None:
            return _broken(container, request, upstream, "KeyError: 'value'")
        commands.insert(0, ("SET", key, values[0]))
    elapsed_ms = 0
    answer = ""
    for words in commands:
        sent = Request(
            method="", path="", host=host, body=_resp(*words), protocol="redis", timeout_ms=_READ_TIMEOUT_MS
        )
        found = upstream.request(host, _integer(port), sent)
        elapsed_ms += found.latency_ms
        if found.failure and found.failure != EMPTY:
            texts = _MUSL if is_musl(container.image) else _GLIBC
            problem = texts.get(found.failure, "timed out")
            body = json.dumps({"status": "error", "error": problem})
            first = f"redis {host}:{_integer(port)}: {problem}"
            return _answered(container, request, upstream, 502, body, elapsed_ms, cpu_ms, memory_bytes, first)
        answer = found.body
    body = json.dumps({"status": "ok", "value": answer})
    return _answered(container, request, upstream, 200, body, elapsed_ms, cpu_ms, memory_bytes)


def _stamp(at_ms: int) -> str:
    return _second_stamp(at_ms // 1000)


@lru_cache(maxsize=1024)
def _second_stamp(second: int) -> str:
    at = moment(second * 1000)
    return f"{at.day:02d}/{month_name(at.month)}/{at.year} {at:%H:%M:%S}"


def _answered(
    container: Container, request: Request, upstream: Upstream, status: int, body: str, elapsed_ms: int, cpu_ms: int,
    memory_bytes: int, error: str = "", content_type: str = "application/json",
) -> Served:  # fmt: skip
    at_ms = upstream.now_ms + elapsed_ms + upstream.takes_ms(cpu_ms)
    start = f"{request.source_ip} - - [{_stamp(at_ms)}] "
    line = f'"{request.method} {request.path} HTTP/{version(request)}" {status} -'
    log = [Line(at_ms, start + error, "stderr")] if error else []
    log.append(Line(at_ms, start + line, "stderr"))
    headers: tuple[tuple[str, str], ...] = (
        ("Server", f"BaseHTTP/0.6 Python/{version_of(container.image)}"),
        ("Date", header_date(at_ms)),
        ("Content-Type", content_type),
        ("Content-Length", str(len(body.encode()))),
        (VERSION, "1.0"),
    )
    if status == 502:
        headers = (*headers, (REASON, "Bad Gateway"))
    reply = Reply(status=status, headers=headers, body=body, latency_ms=elapsed_ms)
    return Served(reply=reply, log=tuple(log), cpu_ms=cpu_ms, memory_bytes=memory_bytes)


def _unsupported(container: Container, request: Request, upstream: Upstream) -> Served:
    message = f"Unsupported method ({request.method!r})"
    body = (
        '<!DOCTYPE HTML>\n<html lang="en">\n    <head>\n        <meta charset="utf-8">\n        <title>Error response</title>\n'
        "    </head>\n    <body>\n        <h1>Error response</h1>\n        <p>Error code: 501</p>\n"
        f"        <p>Message: {message.replace(chr(39), '&#x27;')}.</p>\n"
        "        <p>Error code explanation: 501 - Server does not support this operation.</p>\n    </body>\n</html>\n"
    )
    error = f"code 501, message {message}"
    return _answered(container, request, upstream, 501, body, 0, 2, 0, error, "text/html;charset=utf-8")


def _broken(container: Container, request: Request, upstream: Upstream, problem: str) -> Served:
    """The handler raises: a traceback in the log, and the connection closes without an answer."""
    at_ms = upstream.now_ms + stretched_ms(2, container.cpu_limit_millis)
    texts = (
        "-" * 40,
        f"Exception occurred during processing of request from ({request.source_ip!r}, 43210)",
        "Traceback (most recent call last):",
        problem,
        "-" * 40,
    )
    log = tuple(Line(at_ms, text, "stderr") for text in texts)
    return Served(reply=Reply(failure=EMPTY, latency_ms=1), log=log, cpu_ms=2)


def _web(container: Container, request: Request, upstream: Upstream) -> Served:
    return _answered(container, request, upstream, 200, "ok\n", 0, 2, 64 << 10, content_type="text/plain")


PROGRAM = Program(
    name="python",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://github.com/docker-library/python; CPython Lib/http/server.py",
)
