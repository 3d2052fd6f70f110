"""How clients of Postgres reach a server: environment, addresses, sockets, and what they say of failures.

Source: postgres 15 src/interfaces/libpq/fe-connect.c; tests/golden/programs/postgres (psql.*, pg_isready.*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from env_core.programs._postgres_wire import LOCAL, NO_PASSWORD, PROTOCOL, Query, encode
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    ERRORS,
    RESOLVER_ERRORS,
    TIMEOUT,
    Connection,
    Reply,
    Request,
    Wire,
    sleep,
)
from env_core.shell.context import Process

SOCKET_DIRECTORY: Final = "/var/run/postgresql"
_NONE: Final[Mapping[str, str]] = {}
_PORT: Final = "5432"
_CONNECT_TIMEOUT_MS: Final = 130_000
_HINT: Final = "Is the server running on that host and accepting TCP/IP connections?"
_LOCAL_HINT: Final = "Is the server running locally and accepting connections on that socket?"
LOST: Final = (
    "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
    "\tbefore or while processing the request."
)
_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


class Failed(Exception):
    """The client gives up; `text` says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(slots=True)
class Target:
    """Where to, as whom."""

    host: str = ""
    port: str = _PORT
    user: str = ""
    password: str | None = None
    database: str = ""
    sslmode: str = ""
    timeout_ms: int = 0


def environment(process: Process) -> Target:
    env = process.env
    timeout = env.get("PGCONNECT_TIMEOUT", "")
    return Target(
        host=env.get("PGHOST", ""), port=env.get("PGPORT", _PORT), user=env.get("PGUSER", ""),
        password=env.get("PGPASSWORD"), database=env.get("PGDATABASE", ""), sslmode=env.get("PGSSLMODE", ""),
        timeout_ms=int(timeout) * 1000 if timeout.isdigit() else 0,
    )  # fmt: skip


def read_options(
    process: Process, argv: list[str], valued: str, flags: str
) -> tuple[dict[str, list[str]], list[str]]:
    """Return options by letter, and operands.

    Raises:
        Failed: an option that there is not.
    """
    found: dict[str, list[str]] = {}
    operands: list[str] = []
    rest = argv[1:]
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            letter = _LONG.get(name)
            if letter is None or letter not in valued + flags:
                raise Failed(f"unrecognized option '{word}'")
            if letter in valued:
                value = value if equals else rest.pop(0) if rest else ""
            found.setdefault(letter, []).append(value)
            continue
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in valued:
                value = letters or (rest.pop(0) if rest else "")
                found.setdefault(letter, []).append(value)
                letters = ""
            elif letter in flags:
                found.setdefault(letter, []).append("")
            else:
                raise Failed(f"invalid option -- '{letter}'")
    del process
    return found, operands


_LONG: Final = {
    "host": "h", "port": "p", "username": "U", "dbname": "d", "command": "c", "file": "f", "no-password": "w", "password": "W",
    "tuples-only": "t", "no-align": "A", "quiet": "q", "no-psqlrc": "X", "timeout": "t", "list": "l",
}  # fmt: skip


def take(target: Target, options: dict[str, list[str]]) -> None:
    target.host = options.get("h", [target.host])[-1]
    target.port = options.get("p", [target.port])[-1]
    target.user = options.get("U", [target.user])[-1]
    named = options.get("d")
    if named:
        name_database(target, named[-1])


def name_database(target: Target, text: str) -> None:
    """Take a database name, which may be a URL.

    Raises:
        Failed: a URL that makes no sense.
    """
    if not text.startswith(("postgresql://", "postgres://")):
        target.database = text
        return
    rest, _, query = text.partition("://")[2].partition("?")
    place, _, database = rest.partition("/")
    credentials, at, address = place.rpartition("@")
    if at:
        user, colon, password = credentials.partition(":")
        target.user = unquote(user)
        target.password = unquote(password) if colon else target.password
    host, _, port = address.partition(":")
    target.host, target.database = host or target.host, unquote(database) or target.database
    target.port = port or target.port
    for name, value in parse_qsl(query):
        if name == "sslmode":
            target.sslmode = value
        elif name == "connect_timeout" and value.isdigit():
            target.timeout_ms = int(value) * 1000


def _checked_port(target: Target) -> int:
    if not target.port.isdigit():
        raise Failed(f'invalid integer value "{target.port}" for connection option "port"')
    if not 0 < int(target.port) < 65_536:
        raise Failed(f'invalid port number: "{target.port}"')
    return int(target.port)


def connected(process: Process, wire: Wire, target: Target) -> tuple[Connection, str]:
    """Return an open connection, and how it is called in messages.

    Raises:
        Failed: there is none.
    """
    port = _checked_port(target)
    if target.sslmode and target.sslmode not in _SSL_MODES:
        raise Failed(f'invalid sslmode value: "{target.sslmode}"')
    if not target.host or target.host.startswith("/"):
        directory = target.host or SOCKET_DIRECTORY
        where = f'connection to server on socket "{directory}/.s.PGSQL.{port}"'
        is_ours = directory == SOCKET_DIRECTORY and any(each == port for each, _ in wire.own_ports())
        connection = wire.connect("127.0.0.1", port) if is_ours else Connection(failure=TIMEOUT)
        if connection.failure:
            raise Failed(f"{where} failed: No such file or directory\n\t{_LOCAL_HINT}")
        return connection, where
    found = wire.resolve(target.host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        why = RESOLVER_ERRORS.get(found.failure, RESOLVER_ERRORS[DNS_TIMEOUT])
        raise Failed(f'could not translate host name "{target.host}" to address: {why}')
    addresses = tuple(sorted(found.addresses)) if len(found.addresses) > 1 else found.addresses
    if target.host == "localhost" and "::1" not in addresses:
        addresses = ("::1", *addresses)
    addresses = tuple(sorted(addresses, key=lambda each: each != "::1"))
    problems: list[str] = []
    for address in addresses:
        where = f'connection to server at "{target.host}" ({address}), port {port}'
        if target.host == address:
            where = f'connection to server at "{address}", port {port}'
        if address == "::1":
            problems.append(f"{where} failed: Connection refused\n\t{_HINT}")
            continue
        connection = wire.connect(address, port)
        if not connection.failure:
            return connection, where
        if connection.failure == TIMEOUT:
            sleep(process, target.timeout_ms or _CONNECT_TIMEOUT_MS)
            if target.timeout_ms:
                problems.append(f"{where} failed: timeout expired")
                continue
        why = ERRORS.get(connection.failure, connection.failure)
        problems.append(f"{where} failed: {why}\n\t{_HINT}")
    raise Failed("\n".join(problems))


def ask(
    process: Process,
    wire: Wire,
    connection: Connection,
    target: Target,
    where: str,
    statement: str,
    path: str,
    more: Mapping[str, str] = _NONE,
) -> Reply:
    """Send a statement, and wait for what the server says.

    Raises:
        Failed: the server does not let one in, or does not answer.
    """
    reply = sent(process, wire, connection, target, where, statement, path, more)
    sleep(process, min(reply.latency_ms, _CONNECT_TIMEOUT_MS))
    return checked(reply, target, where)


def sent(
    process: Process,
    wire: Wire,
    connection: Connection,
    target: Target,
    where: str,
    statement: str,
    path: str,
    more: Mapping[str, str] = _NONE,
) -> Reply:
    """Send a statement; `more` are pseudo headers."""
    user = target.user or own_name(process)
    query = Query(user, target.password or "", target.database or user, statement)
    headers = {**more, LOCAL: own_name(process)} if "socket" in where else {**more}
    if target.password is None:
        headers[NO_PASSWORD] = ""
    request = Request(
        method="",
        path=path,
        body=encode(query),
        protocol=PROTOCOL,
        headers=headers,
        timeout_ms=target.timeout_ms,
    )
    return wire.exchange(connection, request)


def checked(reply: Reply, target: Target, where: str) -> Reply:
    """Return a reply that is one.

    Raises:
        Failed: the server does not answer.
    """
    if reply.failure == TIMEOUT:
        raise Failed(f"{where} failed: timeout expired" if target.timeout_ms else f"{where} failed: {LOST}")
    if reply.failure or reply.status:
        raise Failed(f"{where} failed: {LOST}")
    return reply


def own_name(process: Process) -> str:
    return process.user
