"""How our services start: their command lines, the variables that they read, what they need from then on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from env_core.programs import _service_logs as logs
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import slash_date
from env_core.programs._model import Container, Exit, Launch, Line, Listener
from env_core.programs._service_model import (
    AMQP,
    CACHE_FILL_S,
    FILE,
    FLAG,
    GO,
    JAVA,
    MIGRATE,
    MIGRATE_VARIABLE,
    NODE,
    NUMBER,
    POSTGRES,
    PYTHON,
    URL,
    Product,
    Release,
    Task,
    Variable,
    common,
    password_file_of,
    password_of,
)

_BOOT_MS: Final = {GO: 15, PYTHON: 400, NODE: 250, JAVA: 600}
_STOP_CODE: Final = {GO: 0, PYTHON: 0, NODE: 0, JAVA: 143}
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
_FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")
_URL: Final = re.compile(r"https?://[^\s/:?#]+(?::(\d+))?(?:[/?#]\S*)?")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_NEEDED: Final = {POSTGRES: ("HOST", "USER", "PASSWORD", "NAME"), AMQP: ("HOST", "USER", "PASSWORD")}
"""Which variables of a store a migration needs; the host alone for others."""


def command(product: Product) -> tuple[str, ...]:
    """Return the command line in a product's images."""
    if product.language == GO:
        return (f"/app/{product.name}",)
    if product.language == PYTHON:
        return ("python", "/app/main.pyz")
    if product.language == NODE:
        return ("node", "/app/server.js")
    return ("java", "-jar", "/app/app.jar")


def is_valid(variable: Variable, value: str) -> bool:
    """Whether a value parses."""
    if variable.kind == NUMBER:
        return _NUMBER.fullmatch(value) is not None
    if variable.kind == FLAG:
        return value in _TRUE or value in _FALSE
    return variable.kind != URL or _URL.fullmatch(value) is not None


def is_on(env: Mapping[str, str], name: str, default: str = "false") -> bool:
    """Whether a FLAG is set to true."""
    return (env.get(name) or default) in _TRUE


def number(env: Mapping[str, str], name: str, default: int) -> int:
    """Return the value of a NUMBER."""
    text = env.get(name, "")
    return int(text) if _NUMBER.fullmatch(text) else default


def password(container: Container, prefix: str) -> str:
    """Return the password of a store: from the file that is named for it, as it is now, else from the environment.

    A line's end at the end of the file does not count. Source: `file_env` in the entry points of docker-library's images.
    """
    path = container.env.get(password_file_of(prefix), "")
    if path:
        return container.files.get(path, "").rstrip("\n")
    return container.env.get(password_of(prefix), "")


@lru_cache(maxsize=512)
def variables(product: Product, release: Release) -> tuple[Variable, ...]:
    """Return what a release reads, in order."""
    return (*common(product), *release.required)


def launch(product: Product, release: Release, container: Container, argv: tuple[str, ...]) -> Launch | None:
    """Return what a release does for a command line, None when the command line is none of its own."""
    words = _arguments(product, argv)
    if words is None:
        return None
    boot_ms = stretched_ms(_BOOT_MS[product.language] // 2, container.cpu_limit_millis) + 10
    problem = _usage(product, argv, words)
    if problem is not None:
        lines, code = problem
        return _ended(tuple(Line(boot_ms, line, "stderr") for line in lines), boot_ms, code)
    rest = words[len(command(product)) - 1 :]
    task = _task(product, release, rest[0]) if rest else None
    wrong = _configuration(product, release, container, task, container.started_ms + boot_ms)
    if wrong:
        return _ended(tuple(Line(boot_ms, line, "stderr") for line in wrong), boot_ms, 1)
    return (
        _run_task(product, task, container, boot_ms) if task else _serve(product, release, container, boot_ms)
    )


def _arguments(product: Product, argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the words after the product's own command line, None when an argv starts something else."""
    name = argv[0].rpartition("/")[2]
    if product.language == GO:
        return argv[1:] if name == product.name else None
    if name not in {PYTHON: ("python", "python3"), NODE: ("node",), JAVA: ("java",)}[product.language]:
        return None
    return argv[1:]


def _task(product: Product, release: Release, word: str) -> Task | None:
    """Return what the binary does for a word: one of its tasks, or the migration that it would do at its start."""
    if word != MIGRATE:
        return product.tasks.get(word)
    needed = tuple(
        f"{prefix}_{name}" for protocol, prefix in product.stores for name in _NEEDED.get(protocol, ("HOST",))
    )
    if not release.extra_start_ms:
        return Task(log=("schema is up to date",), took_ms=300, required=needed)
    name = "schema migration 0042_backfill_totals"
    return Task(log=(f"{name}: running", f"{name}: done"), took_ms=release.extra_start_ms, required=needed)


def _words_of(product: Product) -> tuple[str, ...]:
    return ("serve", MIGRATE, *product.tasks)


def _usage(
    product: Product, argv: tuple[str, ...], words: tuple[str, ...]
) -> tuple[tuple[str, ...], int] | None:
    """Return what a wrong command line prints and its exit code; leaves only the words of the product itself.

    Source: tests/golden/programs (go.badflag, node.nofile, node.badopt, java.jar.missing, python.fault.*).
    """
    own = command(product)[1:]
    if product.language == GO:
        if words and words[0].startswith("-"):
            flag = words[0].lstrip("-").partition("=")[0]
            return (f"flag provided but not defined: -{flag}", f"Usage of {argv[0]}:"), 2
        if words and words[0] not in _words_of(product):
            return (f"{argv[0]}: unknown command {words[0]!r}".replace("'", '"'),), 2
        return None
    if words[: len(own)] == own:
        rest = words[len(own) :]
        return ((f"unknown command: {rest[0]}",), 2) if rest and rest[0] not in _words_of(product) else None
    if product.language == JAVA:
        path = words[words.index("-jar") + 1] if "-jar" in words[:-1] else ""
        if path and path != own[-1]:
            return (f"Error: Unable to access jarfile {path}",), 1
        if path:
            return None
        name = next((word for word in words if not word.startswith("-")), "")
        text = f"Error: Could not find or load main class {name}"
        return (text, f"Caused by: java.lang.ClassNotFoundException: {name}"), 1
    path = next((word for word in words if not word.startswith("-")), "")
    absolute = path if path.startswith("/") else f"/app/{path}"
    if absolute == own[0]:
        return None
    if product.language == PYTHON:
        return (f"{argv[0]}: can't open file '{absolute}': [Errno 2] No such file or directory",), 2
    if words and words[0].startswith("-"):
        return (f"node: bad option: {words[0]}",), 9
    return (
        "node:internal/modules/cjs/loader:1210", "  throw err;", "  ^", "", f"Error: Cannot find module '{absolute}'",
        "    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)",
        "    at Module._load (node:internal/modules/cjs/loader:1038:27)",
        "    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12)",
        "    at node:internal/main/run_main_module:28:49 {", "  code: 'MODULE_NOT_FOUND',", "  requireStack: []", "}", "",
        "Node.js v20.20.2",
    ), 1  # fmt: skip


def _configuration(
    product: Product, release: Release, container: Container, task: Task | None, at_ms: int
) -> tuple[str, ...]:
    for variable in variables(product, release):
        value = container.env.get(variable.name)
        if task is not None and variable.name not in task.required:
            continue
        if value is None or (value == "" and variable.default is None):
            if variable.default is None and not container.env.get(f"{variable.name}_FILE"):
                return logs.missing(product, variable, at_ms)
        elif value and variable.kind == FILE and value not in container.files:
            return logs.unreadable(product, value, at_ms)
        elif value and not is_valid(variable, value):
            return logs.malformed(product, variable, value, at_ms)
    return ()


def _ended(lines: tuple[Line, ...], boot_ms: int, code: int) -> Launch:
    return Launch(log=lines, exit=Exit(after_ms=boot_ms + 20, code=code), memory_bytes=12 << 20)


def _run_task(product: Product, task: Task, container: Container, boot_ms: int) -> Launch:
    step_ms = task.took_ms // max(len(task.log), 1)
    lines = []
    for index, text in enumerate(task.log):
        at_ms = boot_ms + index * step_ms
        stamp = slash_date(container.started_ms + at_ms)
        lines.append(
            Line(at_ms, f"{stamp} {text}" if product.language == GO else text, "stderr" if product.language == GO else "stdout")
        )  # fmt: skip
    return Launch(
        log=tuple(lines),
        exit=Exit(after_ms=boot_ms + task.took_ms, code=0),
        memory_bytes=task.memory_bytes,
        cpu_millis=40,
    )


def _serve(product: Product, release: Release, container: Container, boot_ms: int) -> Launch:
    env = container.env
    port = number(env, "PORT", product.port)
    if not is_on(env, MIGRATE_VARIABLE, "true"):
        release = replace(release, extra_start_ms=0)
    start_ms = (
        product.start_ms
        + stretched_ms(product.start_cpu_ms, container.cpu_limit_millis)
        + release.extra_start_ms
    )
    ready_ms = max(start_ms, boot_ms + 1)
    if not 0 < port < 65_536:
        text = f"listen tcp: address {port}: invalid port"
        line = Line(ready_ms, f"{slash_date(container.started_ms + ready_ms)} {text}", "stderr")
        return _ended((line,), ready_ms, 1)
    used_bytes = working_set_bytes(product, env)
    cache_bytes = used_bytes - product.resting_bytes
    leak = release.growth_bytes_per_s
    return Launch(
        listeners=(Listener(port=port, protocol="http", after_ms=ready_ms),),
        log=logs.started(product, release, env, port, boot_ms, ready_ms, container.started_ms),
        memory_bytes=used_bytes if leak else product.resting_bytes,
        growth_bytes_per_s=leak or cache_bytes // CACHE_FILL_S,
        growth_bytes_max=0 if leak else cache_bytes,
        cpu_millis=product.cpu_millis,
        stop_ms=120 + max(number(env, "SHUTDOWN_DELAY_MS", 0), 0),
        stop_code=_STOP_CODE[product.language],
    )


def working_set_bytes(product: Product, env: Mapping[str, str]) -> int:
    """Return what a product uses in the long run with a configuration."""
    return product.resting_bytes + (max(number(env, "CACHE_MB", product.cache_mb), 0) << 20)
