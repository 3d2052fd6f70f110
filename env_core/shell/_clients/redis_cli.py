"""redis-cli: commands to a server, its replies as text."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Final

from env_core.programs._redis_session import encode
from env_core.shell._clients._redis_help import HELP
from env_core.shell._clients._wire import (
    EMPTY,
    ERRORS,
    RESET,
    RESOLVER_ERRORS,
    TIMEOUT,
    Connection,
    Request,
    Wire,
    sleep,
)
from env_core.shell.context import Process
from env_core.world import Output

VERSION: Final = "7.0.15"
_UNSAFE: Final = (
    "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
)
_VALUED: Final = (
    "-h",
    "-p",
    "-s",
    "-a",
    "-u",
    "-r",
    "-i",
    "-n",
    "-d",
    "-D",
    "-x",
    "--user",
    "--pass",
    "--pattern",
    "--count",
)
_CONNECT_TIMEOUT_MS: Final = 130_000


@dataclass(slots=True)
class _Options:
    host: str = "127.0.0.1"
    port: int = 6379
    socket: str = ""
    user: str | None = None
    """The name for AUTH; None sends the password alone."""
    password: str = ""
    is_password_given: bool = False
    database: int = 0
    form: str = "raw"
    """raw, standard (--no-raw) or json."""
    shows_errors_as_such: bool = False
    warns: bool = True
    scans: bool = False
    takes_input: bool = False
    """Whether standard input is the last argument."""
    pattern: str = ""
    repeat: int = 1
    interval_ms: int = 0


class _Failed(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run redis-cli.

    Source: tests/golden/programs/redis.
    """
    options = _Options()
    password = process.env.get("REDISCLI_AUTH", "")
    if password:
        options.password = password
    rest = argv[1:]
    while rest:
        word = rest[0]
        if not word.startswith("-") or word == "-":
            break
        rest.pop(0)
        if word in ("--help", "-h") and (word == "--help" or not rest):
            return Output(HELP)
        if word in ("--version", "-v"):
            return Output(f"redis-cli {VERSION}\n")
        if (
            word
            in (
                "-h",
                "-p",
                "-s",
                "-a",
                "--pass",
                "--user",
                "-u",
                "-n",
                "-r",
                "-i",
                "-d",
                "--pattern",
                "--count",
            )
            and rest
        ):
            _value(options, word, rest.pop(0))
        elif word == "--raw":
            options.form = "raw"
        elif word == "--no-raw":
            options.form = "standard"
        elif word == "--json":
            options.form = "json"
        elif word == "-e":
            options.shows_errors_as_such = True
        elif word == "--no-auth-warning":
            options.warns = False
        elif word == "--scan":
            options.scans = True
        elif word == "-x":
            options.takes_input = True
        elif word in (
            "-c",
            "-2",
            "-3",
            "--stat",
            "--bigkeys",
            "--memkeys",
            "--latency",
            "--quoted-input",
            "--tls",
            "--insecure",
            "--verbose",
            "-t",
        ):
            if word == "-t":
                return Output("", f"Unrecognized option or bad number of args for: '{word}'\n", 1)
        else:
            return Output("", f"Unrecognized option or bad number of args for: '{word}'\n", 1)
    if rest:
        words = [*rest, process.stdin] if options.takes_input else rest
        return _command(process, wire, options, words)
    if options.scans:
        words = ["scan", "0", *(["match", options.pattern] if options.pattern else [])]
        return _command(process, wire, options, words)
    return _session(process, wire, options)


def _value(options: _Options, word: str, value: str) -> None:
    if word == "-h":
        options.host = value
    elif word == "-p":
        options.port = int(value) if value.isdigit() else 0
    elif word == "-s":
        options.socket = value
    elif word in ("-a", "--pass"):
        options.password, options.is_password_given = value, True
    elif word == "--user":
        options.user = value
    elif word == "-n":
        options.database = int(value) if value.isdigit() else 0
    elif word == "-r":
        options.repeat = int(value) if value.isdigit() else 1
    elif word == "-i":
        options.interval_ms = int(float(value) * 1000)
    elif word == "--pattern":
        options.pattern = value
    elif word == "-u":
        _address(options, value)


def _address(options: _Options, url: str) -> None:
    rest = url.partition("://")[2]
    credentials, at, place = rest.rpartition("@")
    if at:
        user, _, password = credentials.partition(":")
        options.user, options.password, options.is_password_given = user, password, True
    place, _, database = place.partition("/")
    host, colon, port = place.partition(":")
    options.host = host or options.host
    if colon and port.isdigit():
        options.port = int(port)
    if database.isdigit():
        options.database = int(database)


def _connect(process: Process, wire: Wire, options: _Options) -> Connection:
    where = f"{options.host}:{options.port}"
    if options.socket:
        raise _Failed(f"Could not connect to Redis at {options.socket}: No such file or directory")
    found = wire.resolve(options.host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        raise _Failed(
            f"Could not connect to Redis at {where}: {RESOLVER_ERRORS.get(found.failure, 'Name or service not known')}"
        )
    connection = Connection(failure=TIMEOUT)
    for address in found.addresses:
        connection = wire.connect(address, options.port)
        if not connection.failure:
            return connection
        sleep(process, _CONNECT_TIMEOUT_MS if connection.failure == TIMEOUT else 1)
    raise _Failed(
        f"Could not connect to Redis at {where}: {ERRORS.get(connection.failure, connection.failure)}"
    )


def _ask(process: Process, wire: Wire, connection: Connection, text: str) -> list[_Value]:
    reply = wire.exchange(connection, Request(method="", path="", body=text, protocol="redis"))
    sleep(process, min(reply.latency_ms, _CONNECT_TIMEOUT_MS))
    if reply.failure == EMPTY:
        raise _Failed("Error: Server closed the connection")
    if reply.failure:
        raise _Failed(
            f"Error: {'Connection reset by peer' if reply.failure == RESET else ERRORS.get(reply.failure, reply.failure)}"
        )
    if reply.status:
        raise _Failed('Error: Protocol error, got "H" as reply type byte')
    return _parsed(reply.body)


@dataclass(frozen=True, slots=True)
class _Value:
    """A parsed reply: kind is one of + - : $ *."""

    kind: str
    text: str | None = None
    items: tuple[_Value, ...] = ()


def _parsed(body: str) -> list[_Value]:
    values: list[_Value] = []
    position = 0
    while position < len(body):
        value, position = _one(body, position)
        values.append(value)
    return values


def _one(body: str, position: int) -> tuple[_Value, int]:
    end = body.find("\r\n", position)
    if end == -1:
        return _Value("+", body[position:]), len(body)
    kind, line = body[position], body[position + 1 : end]
    position = end + 2
    if kind == "$":
        if line == "-1":
            return _Value("$"), position
        size = int(line)
        text = body[position:].encode()[:size].decode("utf-8", "replace")
        return _Value("$", text), position + len(text) + 2
    if kind == "*":
        items: list[_Value] = []
        for _ in range(max(int(line), 0)):
            item, position = _one(body, position)
            items.append(item)
        return _Value("*", None, tuple(items)), position
    return _Value(kind, line), position


def _raw(value: _Value) -> str:
    if value.kind == "*":
        return "\n".join(_raw(item) + ("\n" if item.kind == "-" else "") for item in value.items)
    return value.text or ""


def _standard(value: _Value, prefix: str = "") -> str:
    if value.kind == "$":
        return '"' + _escaped(value.text) + '"' if value.text is not None else "(nil)"
    if value.kind == ":":
        return f"(integer) {value.text}"
    if value.kind == "-":
        return f"(error) {value.text}"
    if value.kind == "+":
        return value.text or ""
    if not value.items:
        return "(empty array)"
    width = len(str(len(value.items)))
    lines = []
    for number, item in enumerate(value.items, start=1):
        head = f"{number:>{width}}) "
        lines.append((prefix if number > 1 else "") + head + _standard(item, prefix + " " * len(head)))
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return "".join(
        {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, character)
        for character in text
    )


def _plain(value: _Value) -> object:
    if value.kind == "*":
        return [_plain(item) for item in value.items]
    return int(value.text or "0") if value.kind == ":" else value.text


def _is_whole_text(words: list[str]) -> bool:
    """Whether a reply is printed as it is, with its own line ends."""
    name = words[0].lower()
    second = words[1].lower() if len(words) > 1 else ""
    return name in ("info", "lolwut") or (name, second) in (
        ("cluster", "info"),
        ("cluster", "nodes"),
        ("client", "list"),
        ("memory", "doctor"),
        ("latency", "doctor"),
    )


def _text(options: _Options, words: list[str], value: _Value) -> str:
    if options.scans and len(value.items) == 2:
        return "".join(f"{item.text}\n" for item in value.items[1].items)
    if _is_whole_text(words):
        shown = value.text or ""
        return shown + ("\n" if value.kind == "-" and not shown.endswith("\n") else "")
    if options.form == "json":
        return json.dumps(_plain(value), ensure_ascii=False) + "\n"
    if options.form == "standard":
        return _standard(value) + "\n"
    return _raw(value) + ("\n\n" if value.kind == "-" else "\n")


def _opening(options: _Options) -> tuple[str, int]:
    """Return what is sent before the first command, and how many replies it gets."""
    text, count = "", 0
    if options.password:
        names = () if options.user is None else (options.user,)
        text += encode("AUTH", *names, options.password)
        count += 1
    if options.database:
        text += encode("SELECT", str(options.database))
        count += 1
    return text, count


def _command(process: Process, wire: Wire, options: _Options, words: list[str]) -> Output:
    out: list[str] = []
    err: list[str] = []
    if options.is_password_given and options.warns:
        err.append(_UNSAFE)
    code = 0
    for turn in range(min(options.repeat, 100)):
        try:
            connection = _connect(process, wire, options)
            opening, count = _opening(options)
            values = _ask(process, wire, connection, opening + encode(*words))
        except _Failed as failed:
            err.append(failed.text + "\n")
            return Output("".join(out), "".join(err), 1)
        if options.password and values and values[0].kind == "-":
            err.append(f"AUTH failed: {values[0].text}\n")
        value = values[count] if len(values) > count else _Value("+", "")
        if value.kind == "-" and options.shows_errors_as_such:
            err.append(f"{value.text}\n")
            code = 1
        else:
            out.append(_text(options, words, value))
        if options.interval_ms and turn + 1 < options.repeat and sleep(process, options.interval_ms):
            break
    return Output("".join(out), "".join(err), code)


def _session(process: Process, wire: Wire, options: _Options) -> Output:
    """Run the commands of standard input, one per line, over one connection."""
    out: list[str] = []
    err: list[str] = []
    if options.is_password_given and options.warns:
        err.append(_UNSAFE)
    lines = [line for line in process.stdin.splitlines() if line.strip()]
    try:
        connection = _connect(process, wire, options)
    except _Failed as failed:
        err.append(failed.text + "\n")
        err += [failed.text + "\n" for _ in lines]
        return Output("", "".join(err), 0)
    commands: list[list[str]] = []
    for line in lines:
        try:
            commands.append(shlex.split(line))
        except ValueError:
            out.append("Invalid argument(s)\n")
    opening, count = _opening(options)
    try:
        values = _ask(process, wire, connection, opening + "".join(encode(*words) for words in commands))
    except _Failed as failed:
        return Output("".join(out), "".join([*err, failed.text + "\n"]), 1)
    out += [_text(options, words, value) for words, value in zip(commands, values[count:], strict=False)]
    return Output("".join(out), "".join(err), 0)
