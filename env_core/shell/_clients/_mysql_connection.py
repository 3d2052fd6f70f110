"""How MariaDB's clients reach a server, and what they say of failures.

Source: mariadb-corporation/mariadb-connector-c libmariadb/mariadb_lib.c; tests/golden/programs/mariadb (mysql.*, mysqladmin.*).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Final, NamedTuple

from env_core.programs import _mariadb_wire as protocol
from env_core.programs._http import FOREIGN
from env_core.shell._clients._mysql_options import SOCKET, Failed, Options
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    EMPTY,
    FILTERED,
    NETWORK_UNREACHABLE,
    NXDOMAIN,
    REFUSED,
    RESET,
    TIMEOUT,
    UNREACHABLE,
    Connection,
    Reply,
    Request,
    Wire,
    sleep,
)
from env_core.shell.context import Process

CONNECTION, UNKNOWN_HOST, GONE, LOST = 2002, 2005, 2006, 2013
_NONE, _NOT_NOW = -2, -3
"""EAI_NONAME and EAI_AGAIN of getaddrinfo."""
_IN_PROGRESS, _TIMED_OUT, _RESET = 115, 110, 104
"""The error numbers that are left after a connection: the library connects without blocking."""
_NOTHING: Final[Mapping[str, str]] = {}
_CONNECT_TIMEOUT_MS: Final = 130_000
_SILENCE_MS: Final = 60_000
_HANDSHAKE: Final = "handshake: reading initial communication packet"


class Texts(NamedTuple):
    """What clients of MariaDB and of Oracle's MySQL say differently."""

    no_socket: str = "ERROR 2002 (HY000): Can't connect to local server through socket '{path}' (2)"
    no_host: str = "ERROR 2005 (HY000): Unknown server host '{host}' ({why})"
    no_server: str = "ERROR 2002 (HY000): Can't connect to server on '{host}' ({left})"
    number: int = CONNECTION
    """That of the error before."""
    lost_early: str = "ERROR 2013 (HY000): Lost connection to server at '{phase}', system error: {left}"
    gone: str = "Server has gone away"
    lost: str = "Lost connection to server during query"
    socket: str = SOCKET
    daemon: str = "mariadbd"
    shows_statements: bool = True
    """Whether a statement that fails is printed."""
    warning: str = ""
    """What is said of a password on the command line."""
    version: str = (
        "  Ver 15.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper\n"
    )


MARIADB: Final = Texts()
ORACLE: Final = Texts(
    no_socket="ERROR 2002 (HY000): Can't connect to local MySQL server through socket '{path}' (2)",
    no_host="ERROR 2005 (HY000): Unknown MySQL server host '{host}' ({why})",
    no_server="ERROR 2003 (HY000): Can't connect to MySQL server on '{host}:{port}' ({errno})", number=2003,
    lost_early="ERROR 2013 (HY000): Lost connection to MySQL server at '{phase}', system error: {left}",
    gone="MySQL server has gone away", lost="Lost connection to MySQL server during query", socket="/var/run/mysqld/mysqld.sock",
    daemon="mysqld", shows_statements=False,
    warning="{name}: [Warning] Using a password on the command line interface can be insecure.\n",
    version="  Ver 8.0.42 for Linux on x86_64 (MySQL Community Server - GPL)\n",
)  # fmt: skip
"""Not recorded. Source: tests/golden/programs/public-knowledge (public.mysql.*); mysql/mysql-server include/errmsg.h, client/mysql.cc."""
_ERRNO: Final = {
    REFUSED: 111,
    UNREACHABLE: 113,
    FILTERED: 113,
    NETWORK_UNREACHABLE: 101,
    TIMEOUT: 110,
    RESET: 104,
}


class Error(NamedTuple):
    """An error of the server's, or of the connection to it."""

    number: int
    state: str
    text: str
    is_late: bool = False
    """Whether it came after the result had begun."""


class Answer(NamedTuple):
    """What came of a statement."""

    names: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    numbers: tuple[bool, ...] = ()
    error: Error | None = None
    affected: str = "0"

    @property
    def has_rows(self) -> bool:
        """Whether it is a result."""
        return bool(self.names)


class Link:
    """A connection with a session."""

    def __init__(self, process: Process, wire: Wire, options: Options, texts: Texts = MARIADB) -> None:
        self._texts = texts
        self._process = process
        self._wire = wire
        self._options = options
        self._connection = Connection()
        self._number = ""
        self._is_local = False

    @property
    def is_open(self) -> bool:
        """Whether there is a session."""
        return bool(self._number)

    def open(self, database: str, path: str = protocol.LOGIN) -> None:
        """Connect, and log in.

        Raises:
            Failed: that is not possible.
        """
        self._connect()
        reply = self._send(database, "", path)
        sleep(self._process, min(reply.latency_ms, _CONNECT_TIMEOUT_MS))
        self._check_greeting(reply)
        headers = dict(reply.headers)
        if protocol.ERROR in headers:
            number, state, text, _ = json.loads(headers[protocol.ERROR])
            raise Failed(f"ERROR {number} ({state}): {text}", number=number)
        self._number = headers.get(protocol.SESSION, "")

    def _connect(self) -> None:
        options = self._options
        host = options.host or "localhost"
        is_tcp = options.protocol == "tcp" or (
            not options.host and options.is_port_given and options.protocol != "socket"
        )
        if (host == "localhost" and not is_tcp) or options.protocol == "socket":
            self._is_local = True
            path = options.socket or self._texts.socket
            found_ = self._own_server() if path in (SOCKET, f"/var{SOCKET}") else None
            self._connection = found_ or Connection(failure=TIMEOUT)
            if found_ is None:
                raise Failed(self._texts.no_socket.format(path=path), number=CONNECTION)
            return
        found = self._wire.resolve(host)
        sleep(self._process, found.latency_ms)
        if not found.addresses:
            why = _NONE if (found.failure or DNS_TIMEOUT) == NXDOMAIN else _NOT_NOW
            raise Failed(self._texts.no_host.format(host=host, why=why), number=UNKNOWN_HOST)
        left = _IN_PROGRESS
        for address in found.addresses:
            self._connection = self._wire.connect(address, options.port)
            if not self._connection.failure:
                return
            if self._connection.failure == TIMEOUT:
                sleep(self._process, options.timeout_ms or _CONNECT_TIMEOUT_MS)
                left = _TIMED_OUT
        errno = _ERRNO.get(self._connection.failure, left)
        text = self._texts.no_server.format(host=host, left=left, port=options.port, errno=errno)
        raise Failed(text, number=self._texts.number)

    def _own_server(self) -> Connection | None:
        """Return a connection to a server of this place: its socket lies beside it."""
        for port, _ in self._wire.own_ports():
            connection = self._wire.connect("127.0.0.1", port)
            listener = self._wire.listener(connection)
            if not connection.failure and listener is not None and listener.protocol == "mysql":
                return connection
        return None

    def _send(self, database: str, statement: str, path: str, more: Mapping[str, str] = _NOTHING) -> Reply:
        options = self._options
        headers = {**more, protocol.SESSION: self._number}
        if self._is_local:
            headers[protocol.LOCAL] = self._process.user
        body = protocol.encode(protocol.Query(options.user, options.password, database, statement))
        timeout_ms = options.timeout_ms if not self._number else 0
        request = Request(
            method="",
            path=path,
            body=body,
            protocol=protocol.PROTOCOL,
            headers=headers,
            timeout_ms=timeout_ms,
        )
        return self._wire.exchange(self._connection, request)

    def _check_greeting(self, reply: Reply) -> None:
        """See whether a MySQL server has spoken first.

        Raises:
            Failed: none has.
        """
        left = -1
        if reply.failure == RESET:
            left = _RESET
        elif reply.failure == TIMEOUT:
            left = _TIMED_OUT
        elif reply.failure == EMPTY or FOREIGN in dict(reply.headers) or reply.failure:
            left = _IN_PROGRESS
        elif reply.status:
            # Who waits for the client to speak lets it wait.
            sleep(self._process, self._options.timeout_ms or _SILENCE_MS)
            left = _TIMED_OUT if self._options.timeout_ms else _IN_PROGRESS
        if left >= 0:
            raise Failed(self._texts.lost_early.format(phase=_HANDSHAKE, left=left), number=LOST)

    def ask(self, statement: str, path: str = "", *, was_idle: bool = True) -> Generator[int, None, Answer]:
        """Send a statement, and wait for its end."""
        while True:
            if not self._number:
                return Answer(error=Error(GONE, "HY000", self._texts.gone))
            reply = self._send("", statement, path)
            headers = dict(reply.headers)
            if protocol.PENDING in headers:
                yield int(headers[protocol.PENDING])
                path, statement, was_idle = protocol.GO_ON, "", False
                continue
            yield reply.latency_ms
            if reply.failure or reply.status:
                self._number = ""
                if was_idle:
                    return Answer(error=Error(GONE, "HY000", self._texts.gone))
                return Answer(error=Error(LOST, "HY000", self._texts.lost))
            return self._answered(reply, headers)

    def _answered(self, reply: Reply, headers: dict[str, str]) -> Answer:
        self._number = headers.get(protocol.SESSION, "")
        if protocol.ERROR in headers:
            return Answer(error=Error(*json.loads(headers[protocol.ERROR])))
        if protocol.RESULT in headers:
            names, rows, numbers = json.loads(headers[protocol.RESULT])
            return Answer(tuple(names), tuple(map(tuple, rows)), tuple(numbers))
        return Answer(affected=reply.body)

    def close(self, *, is_killed: bool = False) -> None:
        """Leave a server that still listens: with a farewell, or without when the client is killed."""
        if self._number:
            self._send("", "", protocol.END, {protocol.ABORTED: ""} if is_killed else {})
            self._number = ""
