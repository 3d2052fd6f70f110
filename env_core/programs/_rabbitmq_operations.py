"""What clients do on a channel: declare, publish, get, consume, acknowledge, purge, delete; and why they are refused.

Publishing goes to the default exchange: the name of the queue is the routing key.

Source: rabbitmq-server 3.10.8 deps/rabbit/src/rabbit_channel.erl, rabbit_amqqueue.erl, deps/rabbit_common/src/rabbit_misc.erl
(assert_field_equivalence); https://www.rabbitmq.com/docs/maxlength, /docs/alarms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from env_core.programs._rabbitmq_node import alarms
from env_core.programs._rabbitmq_queues import (
    QUEUE,
    QUEUES_MAX,
    Link,
    Memory,
    Queue,
    Run,
    consumers_of,
    give_back,
    keep_queue,
    message,
    queue_of,
    queues,
)

_PREFETCH_MAX: Final = 256
_UNACKED_MAX: Final = 256
"""How much one connection may hold: a bound of ours."""
_ARGUMENTS: Final = (
    "x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-max-length", "x-max-length-bytes",
    "x-max-in-memory-length", "x-max-in-memory-bytes", "x-max-priority", "x-overflow", "x-queue-mode", "x-queue-version",
    "x-single-active-consumer", "x-queue-type",
)  # fmt: skip
"""Arguments that a declaration must repeat, in the order in which they are compared."""
_NAME_MAX: Final = 255
_CODES: Final = {
    "NOT_FOUND": 404,
    "RESOURCE_LOCKED": 405,
    "PRECONDITION_FAILED": 406,
    "ACCESS_REFUSED": 403,
    "NOT_IMPLEMENTED": 540,
}

Result = Mapping[str, Any]


class Refused(Exception):
    """The server closes the channel."""

    def __init__(self, word: str, text: str, method: str) -> None:
        super().__init__(text)
        self.word, self.text, self.method = word, text, method
        self.code = _CODES[word]


class Blocked(Exception):
    """The server reads no more from a connection that publishes while an alarm is on."""


def run(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    """Do one operation; return what the client gets.

    Raises `Refused` when the channel is closed instead, `Blocked` when the client has to wait.
    """
    if link.is_blocked and alarms(memory):
        raise Blocked
    what = str(operation.get("do", ""))
    handler = _HANDLERS.get(what)
    if handler is None:
        raise Refused("NOT_IMPLEMENTED", f"operation {what[:40]}", what[:40] or "none")
    return handler(memory, link, operation)


def _full(link: Link, operation: Mapping[str, Any]) -> str:
    return f"{link.vhost} {str(operation.get('queue', ''))[:_NAME_MAX]}"


def shown(name: str) -> str:
    """Return a queue as error texts name it."""
    vhost, _, bare = name.partition(" ")
    return f"queue '{bare}' in vhost '{vhost}'"


def _found(memory: Memory, link: Link, operation: Mapping[str, Any], method: str) -> Queue:
    name = _full(link, operation)
    queue = queue_of(memory, name)
    if queue is None:
        raise Refused("NOT_FOUND", f"no {shown(name)}", method)
    if queue.owner not in ("", link.number):
        text = (
            f"cannot obtain exclusive access to locked {shown(name)}. It could be originally declared on another connection or the"
            " exclusive property value does not match that of the original declaration."
        )
        raise Refused("RESOURCE_LOCKED", text, method)
    return queue


def _declare(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    name = _full(link, operation)
    given = operation.get("arguments")
    arguments = _scalars(given) if isinstance(given, dict) else {}
    if operation.get("passive") or QUEUE + name in memory:
        queue = _found(memory, link, operation, "queue.declare")
        if not operation.get("passive"):
            _compare(queue, operation, arguments)
    else:
        if len(queues(memory)) >= QUEUES_MAX:
            text = f"cannot declare {shown(name)}: queue limit in cluster ({QUEUES_MAX}) is reached"
            raise Refused("PRECONDITION_FAILED", text, "queue.declare")
        queue = Queue(
            name, bool(operation.get("durable")), bool(operation.get("auto_delete")),
            link.number if operation.get("exclusive") else "", arguments,
        )  # fmt: skip
        keep_queue(memory, queue)
    counted = consumers_of(memory).get(name, 0)
    return {"queue": name.partition(" ")[2], "messages": queue.ready, "consumers": counted}


def _scalars(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are kept."""
    found = {str(key)[:80]: value for key, value in list(given.items())[:20]}
    return {
        key: value[:_NAME_MAX] if isinstance(value, str) else value
        for key, value in found.items()
        if isinstance(value, str | int)
    }


def _compare(queue: Queue, operation: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    for key, current in (("durable", queue.is_durable), ("auto_delete", queue.is_auto_delete)):
        given = bool(operation.get(key))
        if given != current:
            _inequivalent(queue, key, f"'{str(given).lower()}'", f"'{str(current).lower()}'")
    for key in _ARGUMENTS:
        if arguments.get(key) != queue.arguments.get(key):
            _inequivalent(queue, key, _value(arguments.get(key)), _value(queue.arguments.get(key)))


def _inequivalent(queue: Queue, key: str, given: str, current: str) -> None:
    text = f"inequivalent arg '{key}' for {shown(queue.name)}: received {given} but current is {current}"
    raise Refused("PRECONDITION_FAILED", text, "queue.declare")


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"the value '{str(value).lower()}' of type 'bool'"
    return f"the value '{value}' of type '{'signedint' if isinstance(value, int) else 'longstr'}'"


def _whole(operation: Mapping[str, Any], key: str, default: int) -> int:
    value = operation.get(key, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _publish(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    if alarms(memory):
        link.is_blocked = True
        raise Blocked
    link.has_published = True
    queue = queue_of(memory, _full(link, operation))
    if queue is None:
        return {"routed": False, "confirmed": True}
    count = _whole(operation, "count", 1)
    given = message(str(operation.get("body", "")), count, is_persistent=bool(operation.get("persistent")))
    limit = _whole(queue.arguments, "x-max-length", -1)
    if (
        limit >= 0
        and queue.arguments.get("x-overflow") == "reject-publish"
        and queue.ready + given.count > limit
    ):
        return {"routed": True, "confirmed": False}
    queue.put(given)
    queue.published += given.count
    if limit >= 0:
        _drop_head(queue, limit)
    keep_queue(memory, queue)
    return {"routed": True, "confirmed": True}


def _drop_head(queue: Queue, limit: int) -> None:
    over = queue.ready - limit
    while over > 0 and queue.runs:
        first = queue.runs[0]
        if first.count <= over:
            over -= first.count
            queue.runs.pop(0)
        else:
            first.count -= over
            over = 0


def _deliver(memory: Memory, link: Link, queue: Queue, *, no_ack: bool) -> Result | None:
    taken = queue.take() if len(link.unacked) < _UNACKED_MAX else None
    if taken is None:
        return None
    link.tag += 1
    queue.delivered += 1
    if not no_ack:
        link.unacked.append((link.tag, queue.name, taken))
    return {"tag": link.tag, "body": taken.body, "redelivered": taken.is_redelivered, "ready": queue.ready}


def _get(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    queue = _found(memory, link, operation, "basic.get")
    found = _deliver(memory, link, queue, no_ack=bool(operation.get("no_ack")))
    keep_queue(memory, queue)
    return found or {}


def _consume(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    """Register a consumer the first time, and deliver as many messages as its prefetch count leaves room for."""
    queue = _found(memory, link, operation, "basic.consume")
    if queue.name not in link.consumes:
        link.consumes.append(queue.name)
    no_ack = bool(operation.get("no_ack"))
    held = sum(name == queue.name for _, name, _ in link.unacked)
    room = min(max(_whole(operation, "prefetch", 1), 1), _PREFETCH_MAX) - (0 if no_ack else held)
    delivered = []
    while room > 0 and (found := _deliver(memory, link, queue, no_ack=no_ack)) is not None:
        delivered.append(found)
        room -= 1
    keep_queue(memory, queue)
    return {"deliveries": delivered}


def _acked(link: Link, operation: Mapping[str, Any], method: str) -> list[tuple[int, str, Run]]:
    tag = _whole(operation, "tag", 0)
    if operation.get("multiple"):
        found = [each for each in link.unacked if tag == 0 or each[0] <= tag]
    else:
        found = [each for each in link.unacked if each[0] == tag]
    if not found and tag:
        raise Refused("PRECONDITION_FAILED", f"unknown delivery tag {tag}", method)
    gone = {each[0] for each in found}
    link.unacked = [each for each in link.unacked if each[0] not in gone]
    return found


def _ack(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    return {"acked": len(_acked(link, operation, "basic.ack"))}


def _nack(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    found = _acked(link, operation, "basic.nack")
    if operation.get("requeue", True):
        give_back(memory, found)
    return {"nacked": len(found)}


def _purge(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    queue = _found(memory, link, operation, "queue.purge")
    count = queue.ready
    queue.runs = []
    keep_queue(memory, queue)
    return {"messages": count}


def _delete(memory: Memory, link: Link, operation: Mapping[str, Any]) -> Result:
    name = _full(link, operation)
    if QUEUE + name not in memory:
        return {"messages": 0}
    queue = _found(memory, link, operation, "queue.delete")
    if operation.get("if_empty") and queue.ready:
        raise Refused("PRECONDITION_FAILED", f"{shown(name)} not empty", "queue.delete")
    if operation.get("if_unused") and consumers_of(memory).get(name):
        raise Refused("PRECONDITION_FAILED", f"{shown(name)} in use", "queue.delete")
    del memory[QUEUE + name]
    return {"messages": queue.ready}


_HANDLERS: Final[dict[str, Callable[[Memory, Link, Mapping[str, Any]], Result]]] = {
    "declare": _declare, "publish": _publish, "get": _get, "consume": _consume, "ack": _ack, "nack": _nack, "purge": _purge,
    "delete": _delete,
}  # fmt: skip
