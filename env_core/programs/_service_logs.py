"""What our services log, in the manner of their languages: starts, configuration problems, requests, failed calls.

Source: tests/golden/programs/app-go (go.ok, go.upstream.errors), app-python (python.uvicorn.*, python.fault.*),
app-node (node.express.*), app-java (java.ok, java.caused). Not recorded: the access lines of Node (morgan's "tiny"
format, github.com/expressjs/morgan) and Java (Tomcat's "common" pattern, tomcat.apache.org, Access Log Valve); what is said of
a file that is not there (Go io/fs PathError, Python's built-in exceptions, Node's errors page, java.nio.file.NoSuchFileException).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.programs._http import REASONS, access_date, slash_date
from env_core.programs._model import Line, Request
from env_core.programs._service_model import (
    FLAG,
    GO,
    JAVA,
    NODE,
    NUMBER,
    PYTHON,
    Product,
    Release,
    Variable,
    password_file_of,
    password_of,
)

_ERR: Final = "stderr"
_NODE_TAIL: Final = (
    "    at Object.<anonymous> (/app/server.js:6:33)",
    "    at Module._compile (node:internal/modules/cjs/loader:1521:14)",
    "    at Module._extensions..js (node:internal/modules/cjs/loader:1623:10)",
    "    at Module.load (node:internal/modules/cjs/loader:1266:32)",
    "    at Module._load (node:internal/modules/cjs/loader:1091:12)",
    "    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12)",
    "    at node:internal/main/run_main_module:28:49",
    "",
    "Node.js v20.20.2",
)


def started(
    product: Product,
    release: Release,
    env: Mapping[str, str],
    port: int,
    boot_ms: int,
    ready_ms: int,
    at_ms: int,
) -> tuple[Line, ...]:
    """Return what a product says while it starts: the first lines at `boot_ms`, the last when it listens."""
    first, last = slash_date(at_ms + boot_ms), slash_date(at_ms + ready_ms)
    name = product.name
    if product.language == GO:
        lines = [Line(boot_ms, f"{first} {name} {release.tag} starting", _ERR)]
        lines += [Line(boot_ms, f"{first} config: {text}", _ERR) for text in _passwords(product, env)]
        if release.extra_start_ms:
            lines.append(Line(boot_ms, f"{first} schema migration 0042_backfill_totals: running", _ERR))
            lines.append(Line(ready_ms, f"{last} schema migration 0042_backfill_totals: done", _ERR))
        return (*lines, Line(ready_ms, f"{last} listening on :{port}", _ERR))
    if product.language == PYTHON:
        lines = [
            Line(boot_ms, "INFO:     Started server process [1]", _ERR),
            Line(boot_ms, "INFO:     Waiting for application startup.", _ERR),
        ]
        if release.extra_start_ms:
            lines.append(Line(boot_ms, "INFO:     Running upgrade 0041 -> 0042, backfill totals", _ERR))
        return (
            *lines,
            Line(ready_ms, "INFO:     Application startup complete.", _ERR),
            Line(
                ready_ms, f"INFO:     Uvicorn running on http://0.0.0.0:{port} (Press CTRL+C to quit)", _ERR
            ),
        )
    if product.language == NODE:
        lines = (
            [Line(boot_ms, f"{name} {release.tag}: applying migration 0042")]
            if release.extra_start_ms
            else []
        )
        return (*lines, Line(ready_ms, f"{name} listening at http://0.0.0.0:{port}"))
    lines = [Line(boot_ms, f"{name} {release.tag} starting")]
    if release.extra_start_ms:
        lines.append(Line(boot_ms, "Migrating schema to version 42 - backfill totals"))
    return (*lines, Line(ready_ms, f"Server started on port {port}"))


def _passwords(product: Product, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return where the passwords of a product's stores come from, and how often they are read."""
    found = []
    for _protocol, prefix in product.stores:
        name, file = password_of(prefix), password_file_of(prefix)
        if env.get(file):
            found.append(f"{name}: from file {env[file]}, read for each connection")
        else:
            found.append(f"{name}: from the environment, read once ({file} not set)")
    return tuple(found)


def unreadable(product: Product, path: str, at_ms: int) -> tuple[str, ...]:
    """Return what a product says when a file that its configuration names is not there; it ends with 1."""
    if product.language == GO:
        return (f"{slash_date(at_ms)} config: open {path}: no such file or directory",)
    if product.language == PYTHON:
        return (
            "Traceback (most recent call last):",
            '  File "/app/main.py", line 27, in <module>',
            f'    settings.read_file("{path}")',
            f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'",
        )
    if product.language == NODE:
        return (
            "node:fs:441", "    return binding.readFileUtf8(path, stringToFlags(options.flag));", "                   ^", "",
            f"Error: ENOENT: no such file or directory, open '{path}'", "    at Object.readFileSync (node:fs:441:20)", *_NODE_TAIL,
        )  # fmt: skip
    return (
        'Exception in thread "main" java.lang.RuntimeException: configuration',
        "\tat com.shop.App.main(App.java:70)",
        f"Caused by: java.nio.file.NoSuchFileException: {path}",
        "\t... 1 more",
    )


def missing(product: Product, variable: Variable, at_ms: int) -> tuple[str, ...]:
    """Return what a product says when a required variable is not set; it ends with 1."""
    name = variable.name
    if product.language == GO:
        return (f"{slash_date(at_ms)} config: required environment variable {name} is not set",)
    if product.language == PYTHON:
        return (
            "Traceback (most recent call last):",
            '  File "/app/main.py", line 14, in <module>',
            f'    settings.{name.lower()} = os.environ["{name}"]',
            " " * (len(f"    settings.{name.lower()} = ")) + f"~~~~~~~~~~^{'^' * (len(name) + 3)}",
            '  File "<frozen os>", line 714, in __getitem__',
            f"KeyError: '{name}'",
        )
    if product.language == NODE:
        source = (
            "  if (!process.env[name]) throw new Error(`Missing required environment variable: ${name}`);"
        )
        first = ("/app/server.js:6", source, "                          ^", "")
        return (*first, f"Error: Missing required environment variable: {name}", *_NODE_TAIL)
    return (
        f'Exception in thread "main" java.lang.IllegalStateException: required environment variable {name} is not set',
        "\tat com.shop.App.main(App.java:61)",
    )


def malformed(product: Product, variable: Variable, value: str, at_ms: int) -> tuple[str, ...]:
    """Return what a product says when a variable does not parse; it ends with 1."""
    name = variable.name
    if product.language == GO:
        parser = {NUMBER: "Atoi", FLAG: "ParseBool"}.get(variable.kind)
        why = (
            f'strconv.{parser}: parsing "{value}": invalid syntax'
            if parser
            else f'parse "{value}": invalid URI for request'
        )
        return (f"{slash_date(at_ms)} config: {name}: {why}",)
    if product.language == PYTHON:
        why = (
            f"invalid literal for int() with base 10: {value!r}"
            if variable.kind == NUMBER
            else f"{name}: {value!r} is no {'boolean' if variable.kind == FLAG else 'URL'}"
        )
        return (
            "Traceback (most recent call last):",
            '  File "/app/main.py", line 22, in <module>',
            f'    settings.read("{name}")',
            f"ValueError: {why}",
        )
    if product.language == NODE:
        return (
            "/app/server.js:9",
            "  if (!valid(value)) throw new TypeError(`Invalid value for ${name}: ${value}`);",
            "                     ^",
            "",
            f"TypeError: Invalid value for {name}: {value}",
            *_NODE_TAIL,
        )
    cause = (
        f'java.lang.NumberFormatException: For input string: "{value}"'
        if variable.kind == NUMBER
        else f"java.lang.IllegalArgumentException: {value}"
    )
    return (
        f'Exception in thread "main" java.lang.RuntimeException: invalid {name}',
        "\tat com.shop.App.main(App.java:66)",
        f"Caused by: {cause}",
        "\t... 1 more",
    )


def request(product: Product, asked: Request, status: int, size: int, took_ms: int, at_ms: int) -> Line:
    """Return the line about one answered request."""
    method, path = asked.method, asked.path
    if product.language == GO:
        return Line(at_ms, f"{slash_date(at_ms)} {method} {path} {status} {took_ms}ms", _ERR)
    if product.language == PYTHON:
        reason = REASONS.get(status, "")
        return Line(
            at_ms,
            f'INFO:     {asked.source_ip}:{_port(asked)} - "{method} {path} HTTP/1.1" {status} {reason}',
        )
    if product.language == NODE:
        return Line(at_ms, f"{method} {path} {status} {size} - {took_ms}.000 ms")
    return Line(
        at_ms, f'{asked.source_ip} - - [{access_date(at_ms)}] "{method} {path} HTTP/1.1" {status} {size}'
    )


def _port(asked: Request) -> int:
    return 32_768 + sum(map(ord, asked.source_ip + asked.path)) * 31 % 28_000


def failed_call(product: Product, what: str, text: str, at_ms: int) -> tuple[Line, ...]:
    """Return the lines about a call upstream that failed; `text` is the client library's."""
    first, *rest = text.split("\n")
    if product.language == GO:
        lines = [f"{slash_date(at_ms)} call to {what} failed: {first}"]
    elif product.language == PYTHON:
        lines = [f"ERROR:    call to {what} failed: {first}"]
    elif product.language == NODE:
        lines = [first, f"    at async {what} (/app/clients.js:31:18)"]
    else:
        lines = [f"ERROR call to {what} failed", first]
    return tuple(
        Line(at_ms, line, "stdout" if product.language == JAVA else _ERR) for line in (*lines, *rest)
    )


def crashed_request(product: Product, path: str, at_ms: int) -> tuple[Line, ...]:
    """Return the lines about a request that ran into a bug of the release."""
    if product.language == GO:
        lines = [
            f"{slash_date(at_ms)} http: panic serving {path}: runtime error: invalid memory address or nil pointer dereference",
            "goroutine 5 [running]:",
            "net/http.(*conn).serve.func1()",
        ]
    elif product.language == PYTHON:
        lines = [
            "ERROR:    Exception in ASGI application",
            "Traceback (most recent call last):",
            "TypeError: 'NoneType' object is not subscriptable",
        ]
    elif product.language == NODE:
        lines = [
            "TypeError: Cannot read properties of undefined (reading 'id')",
            "    at /app/server.js:118:40",
            "    at Layer.handleRequest (/app/node_modules/router/lib/layer.js:169:33)",
        ]
    else:
        lines = [
            "ERROR request failed",
            "java.lang.NullPointerException",
            "\tat com.shop.App.handle(App.java:118)",
        ]
    return tuple(Line(at_ms, line, "stdout" if product.language == JAVA else _ERR) for line in lines)
