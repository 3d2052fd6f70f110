"""What the client libraries of our services say of failed calls, language by language.

Source: tests/golden/programs/app-{go,node,python,java} (*.client.*), client-libs (python.redis.*, python.psycopg.*,
node.pg.*). Not recorded: lib/pq's texts (github.com/lib/pq error.go: "pq: " and the server's message), pgjdbc's
(org/postgresql/core/v3/ConnectionFactoryImpl.java), what AMQP clients say of a server that closes: github.com/rabbitmq/amqp091-go
types.go, amqplib lib/connection.js, com.rabbitmq.client AuthenticationFailureException.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from env_core.programs import _rabbitmq_wire
from env_core.programs._go_net import NAME_SERVER, in_operation, lookup_error
from env_core.programs._http import REASONS
from env_core.programs._model import (
    DNS_TIMEOUT,
    EMPTY,
    FILTERED,
    NETWORK_UNREACHABLE,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
    Lookup,
)
from env_core.programs._service_model import AMQP, GO, HTTP, JAVA, NODE, POSTGRES, PYTHON


class Failed(NamedTuple):
    """A call that brought nothing usable."""

    protocol: str
    host: str
    port: int
    failure: str = ""
    """One of the failures of connections, or "" when the server answered."""
    address: str = ""
    """The address that the client dialled, "" when the name has none."""
    is_connecting: bool = False
    status: int = 0
    """Of an HTTP answer."""
    message: str = ""
    """What a Redis or Postgres server answered, without its prefix; why a RabbitMQ server closed."""
    url: str = ""
    method: str = "GET"
    source_ip: str = ""
    timeout_ms: int = 0
    user: str = ""
    lookup: Lookup | None = None
    """Where the name was looked up, if that failed."""

    @property
    def target(self) -> str:
        """The address and port as clients print them."""
        return f"{self.address or self.host}:{self.port}"


def text(language: str, failed: Failed) -> str:
    """Return what the language's client says, without the stack (a cause has a line of its own)."""
    return _TEXTS[language](failed)


def _go(failed: Failed) -> str:
    if failed.protocol == HTTP:
        if not failed.failure:
            return f"unexpected status: {failed.status} {REASONS.get(failed.status, '')}"
        return f'{failed.method.capitalize()} "{failed.url}": {_go_connection(failed)}'
    if failed.failure:
        return _go_connection(failed)
    if failed.protocol == AMQP:
        return f'Exception ({failed.status}) Reason: "{_first(failed.message)}"'
    return f"pq: {failed.message}" if failed.protocol == POSTGRES else failed.message


def _go_connection(failed: Failed) -> str:
    if failed.failure in (NXDOMAIN, SERVFAIL):
        server, is_refused = failed.lookup or Lookup("", False)
        failure = REFUSED if is_refused else failed.failure
        error = lookup_error(failed.host, failure, server or NAME_SERVER, own=failed.source_ip)
        return in_operation("dial", "tcp", error).text
    if failed.failure in (TIMEOUT, DNS_TIMEOUT):
        if failed.protocol == HTTP:
            return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return f"dial tcp {failed.target}: i/o timeout"
    if failed.failure == RESET:
        return f"read tcp {failed.source_ip}:{_client_port(failed)}->{failed.target}: read: connection reset by peer"
    if failed.failure == EMPTY:
        return "EOF"
    found = {REFUSED: "connection refused", NETWORK_UNREACHABLE: "network is unreachable"}
    return f"dial tcp {failed.target}: connect: {found.get(failed.failure, 'no route to host')}"


def _client_port(failed: Failed) -> int:
    return 32_768 + sum(map(ord, failed.source_ip + failed.host)) * 7 % 28_000


_CODES: Final = {
    REFUSED: "ECONNREFUSED", UNREACHABLE: "EHOSTUNREACH", FILTERED: "EHOSTUNREACH", NETWORK_UNREACHABLE: "ENETUNREACH",
}  # fmt: skip


def _node(failed: Failed) -> str:
    is_http = failed.protocol == HTTP
    if failed.failure == NXDOMAIN:
        return f"Error: getaddrinfo ENOTFOUND {failed.host}"
    if failed.failure == SERVFAIL:
        return f"Error: getaddrinfo EAI_AGAIN {failed.host}"
    if failed.failure in (TIMEOUT, DNS_TIMEOUT):
        # Axios names only the errors that it makes itself; those of the socket keep their name.
        if is_http:
            return f"AxiosError: timeout of {failed.timeout_ms}ms exceeded"
        return f"Error: {'timeout expired' if failed.protocol == POSTGRES else 'connect ETIMEDOUT'}"
    if failed.protocol == AMQP and not failed.failure:
        return f"Error: {_handshake(failed)}"
    if failed.failure == EMPTY:
        return "Error: socket hang up"
    if failed.failure == RESET:
        return "Error: read ECONNRESET"
    if failed.failure:
        return f"Error: connect {_CODES[failed.failure]} {failed.target}"
    if is_http:
        return f"AxiosError: Request failed with status code {failed.status}"
    return f"{'error' if failed.protocol == POSTGRES else 'SimpleError [ReplyError]'}: {failed.message}"


_PYTHON_ERRORS: Final = {
    NXDOMAIN: (-2, "Name or service not known"),
    SERVFAIL: (-3, "Temporary failure in name resolution"),
    DNS_TIMEOUT: (-3, "Temporary failure in name resolution"),
    REFUSED: (111, "Connection refused"),
    UNREACHABLE: (113, "No route to host"),
    FILTERED: (113, "No route to host"),
    NETWORK_UNREACHABLE: (101, "Network is unreachable"),
    RESET: (104, "Connection reset by peer"),
}


def _python(failed: Failed) -> str:
    if failed.protocol == HTTP:
        return _httpx(failed)
    if failed.protocol == POSTGRES:
        return _psycopg(failed)
    if failed.protocol == AMQP:
        return _pika(failed)
    if failed.failure in (TIMEOUT, EMPTY):
        if failed.failure == EMPTY:
            return "redis.exceptions.ConnectionError: Connection closed by server."
        what = "connecting to server" if failed.is_connecting else "reading from socket"
        return f"redis.exceptions.TimeoutError: Timeout {what}"
    if failed.failure:
        number, why = _PYTHON_ERRORS[failed.failure]
        return f"redis.exceptions.ConnectionError: Error {number} connecting to {failed.host}:{failed.port}. {why}."
    code, _, rest = failed.message.partition(" ")
    kind = _REDIS_ERRORS.get(code)
    if kind is None:
        return f"redis.exceptions.ResponseError: {failed.message}"
    return f"redis.exceptions.{'ConnectionError' if rest == _TOO_MANY else kind}: {rest}"


_REDIS_ERRORS: Final = {
    "ERR": "ResponseError", "WRONGPASS": "AuthenticationError", "NOAUTH": "AuthenticationError", "NOPERM": "NoPermissionError",
    "READONLY": "ReadOnlyError", "OOM": "OutOfMemoryError", "LOADING": "BusyLoadingError", "CLUSTERDOWN": "ClusterDownError",
    "MASTERDOWN": "MasterDownError", "EXECABORT": "ExecAbortError", "NOSCRIPT": "NoScriptError", "TRYAGAIN": "TryAgainError",
}  # fmt: skip
"""Source, beyond the recordings: github.com/redis/redis-py redis/_parsers/base.py (EXCEPTION_CLASSES)."""
_TOO_MANY: Final = "max number of clients reached"


def _first(message: str) -> str:
    """Return what Go's client says of a refused login, or the server's own words."""
    if message.startswith("ACCESS_REFUSED"):
        return "username or password not allowed"
    return message


def _handshake(failed: Failed) -> str:
    """Return what amqplib says when the server closes the connection or the channel."""
    if failed.status == 403:
        return f'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "{failed.message}"'
    return f'Operation failed: {failed.status} with message "{failed.message}"'


def _pika(failed: Failed) -> str:
    if failed.failure in (NXDOMAIN, SERVFAIL, DNS_TIMEOUT):
        number, why = _PYTHON_ERRORS[failed.failure]
        return f"socket.gaierror: [Errno {number}] {why}"
    if failed.failure:
        return "pika.exceptions.AMQPConnectionError"
    is_connection = failed.status in (403, 530)
    closed = _rabbitmq_wire.Closed(failed.status, failed.message, is_connection)
    return _rabbitmq_wire.pika_error(closed, is_login=failed.status == 403)


def _httpx(failed: Failed) -> str:
    if failed.failure == TIMEOUT:
        return f"httpx.{'Connect' if failed.is_connecting else 'Read'}Timeout: timed out"
    if failed.failure == EMPTY:
        return "httpx.RemoteProtocolError: Server disconnected without sending a response."
    if failed.failure:
        number, why = _PYTHON_ERRORS[failed.failure]
        kind = "ReadError" if failed.failure == RESET else "ConnectError"
        return f"httpx.{kind}: [Errno {number}] {why}"
    kind = "Server" if failed.status >= 500 else "Client"
    shown = f"{failed.status} {REASONS.get(failed.status, '')}"
    more = f"https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/{failed.status}"
    return f"httpx.HTTPStatusError: {kind} error '{shown}' for url '{failed.url}'\nFor more information check: {more}"


def _psycopg(failed: Failed) -> str:
    if failed.failure == TIMEOUT:
        return "psycopg.errors.ConnectionTimeout: connection timeout expired"
    if failed.failure in (NXDOMAIN, SERVFAIL, DNS_TIMEOUT):
        number, why = _PYTHON_ERRORS[failed.failure]
        return f"psycopg.OperationalError: failed to resolve host '{failed.host}': [Errno {number}] {why}"
    before = f'psycopg.OperationalError: connection failed: connection to server at "{failed.address}", port {failed.port} failed: '
    if failed.failure == EMPTY:
        return before + "server closed the connection unexpectedly"
    if failed.failure:
        hint = "\tIs the server running on that host and accepting TCP/IP connections?"
        return f"{before}{_PYTHON_ERRORS[failed.failure][1]}\n{hint}"
    return f"{before}FATAL:  {failed.message}"


def _java(failed: Failed) -> str:
    if failed.protocol == POSTGRES:
        return _jdbc(failed)
    if failed.protocol == AMQP and not failed.failure:
        return f"com.rabbitmq.client.{'AuthenticationFailureException: ' if failed.status == 403 else 'ShutdownSignalException: '}{failed.message}"
    if failed.failure in (TIMEOUT, DNS_TIMEOUT):
        if failed.is_connecting or failed.failure == DNS_TIMEOUT:
            return "java.net.http.HttpConnectTimeoutException: HTTP connect timed out"
        return "java.net.http.HttpTimeoutException: request timed out"
    if failed.failure in (EMPTY, RESET):
        return "java.io.IOException: HTTP/1.1 header parser received no bytes"
    if failed.failure in (NXDOMAIN, SERVFAIL):
        return "java.net.ConnectException\nCaused by: java.nio.channels.UnresolvedAddressException"
    if failed.failure == REFUSED:
        return "java.net.ConnectException\nCaused by: java.nio.channels.ClosedChannelException"
    if failed.failure:
        why = "Network is unreachable" if failed.failure == NETWORK_UNREACHABLE else "No route to host"
        return f"java.net.ConnectException: {why}"
    return f"java.lang.IllegalStateException: {failed.method} {failed.url} returned {failed.status}"


def _jdbc(failed: Failed) -> str:
    if failed.failure == REFUSED:
        return (
            f"org.postgresql.util.PSQLException: Connection to {failed.host}:{failed.port} refused. Check that the"
            " hostname and port are correct and that the postmaster is accepting TCP/IP connections."
        )
    if failed.failure:
        return "org.postgresql.util.PSQLException: The connection attempt failed."
    return f"org.postgresql.util.PSQLException: FATAL: {failed.message}"


_TEXTS: Final[dict[str, Callable[[Failed], str]]] = {GO: _go, NODE: _node, PYTHON: _python, JAVA: _java}
