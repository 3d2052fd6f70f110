"""What passes between an AMQP client and a server in one request: who asks, and what it does on one channel.

A client that keeps its connection names it in `CONNECTION`; one that does not closes it after the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from env_core.programs._model import Reply, Request

PROTOCOL: Final = "amqp"
ADMIN: Final = "erlang"
"""The protocol between Erlang nodes, which command line tools speak, too."""
CONNECTION: Final = ":connection"
"""Pseudo header of a request: the number of the client's connection, "" for a new one that it keeps; and of the reply to it."""
OPERATIONS_MAX: Final = 256
"""How many operations one request may hold: a bound of ours."""
BODY_MAX: Final = 1 << 20

Operation = Mapping[str, Any]
"""What is done: `do` (declare, publish, get, consume, ack, nack, purge, delete, close) and its arguments by their names in AMQP:
queue, durable, auto_delete, exclusive, passive, arguments; body, persistent, count; no_ack; tag, multiple, requeue."""


class Dialogue(NamedTuple):
    """One request over a connection."""

    user: str
    password: str
    operations: tuple[Operation, ...] = ()
    vhost: str = "/"


def request(
    dialogue: Dialogue, *, host: str = "", connection: str | None = None, timeout_ms: int = 0
) -> Request:
    """Return the request that carries a dialogue; `connection` is None for a client that keeps none."""
    body = json.dumps([dialogue.user, dialogue.password, list(dialogue.operations), dialogue.vhost])
    headers = {} if connection is None else {CONNECTION: connection}
    return Request(
        method="", path="", host=host, headers=headers, body=body, protocol=PROTOCOL, timeout_ms=timeout_ms
    )


def decode(body: str) -> Dialogue | None:
    """Return the dialogue in a request's body, None when it is none."""
    if len(body) > BODY_MAX:
        return None
    try:
        words = json.loads(body)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(words, list) or len(words) != len(Dialogue._fields) or not isinstance(words[2], list):
        return None
    user, password, operations, vhost = words
    if len(operations) > OPERATIONS_MAX or not all(isinstance(each, dict) for each in operations):
        return None
    return Dialogue(str(user), str(password), tuple(operations), str(vhost))


class Closed(NamedTuple):
    """Why the server has closed a channel, or the connection."""

    code: int
    text: str
    is_connection: bool = False


class Answer(NamedTuple):
    """What came of a dialogue."""

    results: tuple[Mapping[str, Any], ...] = ()
    """One for each operation that was done."""
    closed: Closed | None = None
    connection: str = ""


def reply(
    results: Iterable[Mapping[str, Any]], closed: Closed | None, connection: str, latency_ms: int
) -> Reply:
    """Return the reply to a dialogue."""
    body = json.dumps({"results": list(results), "closed": list(closed) if closed else None})
    return Reply(headers=((CONNECTION, connection),) if connection else (), body=body, latency_ms=latency_ms)


def answer(found: Reply) -> Answer:
    """Return what a reply holds; nothing when there is none."""
    if found.failure or not found.body:
        return Answer()
    told = json.loads(found.body)
    closed = Closed(*told["closed"]) if told["closed"] else None
    return Answer(tuple(told["results"]), closed, dict(found.headers).get(CONNECTION, ""))


def pika_error(closed: Closed, *, is_login: bool) -> str:
    """Return what the Python client pika raises when the server closes.

    Source: tests/golden/programs/rabbitmq (rabbitmq.ok); not recorded: pika/exceptions.py for others than the login.
    """
    quoted = f"({closed.code}) {closed.text!r}"
    if is_login:
        return f"pika.exceptions.ProbableAuthenticationError: ConnectionClosedByBroker: {quoted}"
    kind = "ConnectionClosedByBroker" if closed.is_connection else "ChannelClosedByBroker"
    return f"pika.exceptions.{kind}: ({closed.code}, {closed.text!r})"
