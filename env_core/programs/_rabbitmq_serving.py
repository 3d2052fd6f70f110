"""How a RabbitMQ node answers AMQP clients, and what it logs of them.

Source: rabbitmq-server 3.10.8 deps/rabbit/src/rabbit_reader.erl, rabbit_channel.erl; tests/golden/programs/rabbitmq.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from env_core.programs import _rabbitmq_node, _rabbitmq_operations
from env_core.programs._http import FOREIGN
from env_core.programs._model import EMPTY, RESET, TIMEOUT, Line, Reply, Request, Served, Upstream
from env_core.programs._rabbitmq_boot import logged
from env_core.programs._rabbitmq_node import USER, VHOST, Node
from env_core.programs._rabbitmq_operations import Blocked, Refused
from env_core.programs._rabbitmq_queues import Link, drop_link, durable, give_back, keep_link, link_of, links
from env_core.programs._rabbitmq_wire import CONNECTION, Closed, Dialogue, decode, reply

_GREETING: Final = "AMQP\0\0\t\x01"
"""What a node says to those who do not speak its protocol."""
_TLS_HELLO: Final = "22,3,1,2,0,1,0,1"
_BLOCKED_MS: Final = 600_000
"""How long a client without a limit of its own is let wait."""
_LINKS_MAX: Final = 64
"""How many connections are kept: a bound of ours."""
RUN: Final = "run"
_COUNT: Final = "connections"
_LEVELS: Final = {"i": "info", "w": "warning", "e": "error"}


@dataclass(slots=True)
class Visit:
    """One request to a node, with the node's memory as it changes."""

    node: Node
    memory: dict[str, str]
    now_ms: int
    said: list[Line] = field(default_factory=list)

    def say(self, level: str, text: str, pid: int = 400) -> None:
        """Log a message, each of its lines with a head of its own."""
        for each in text.split("\n"):
            self.said.append(logged(level, each, self.now_ms, pid, len(self.said) * 17))

    def tell(self, entries: list[tuple[str, str]]) -> None:
        """Log what alarms tell."""
        for kind, text in entries:
            self.say(_LEVELS[kind], text)

    def title(self, link: Link) -> str:
        """Return a connection as the log names it."""
        return f"{link.ip}:{link.port} -> {self.node.own_ip}:{self.node.port}"


def pid_of(link: Link) -> int:
    """Return the number of a connection's Erlang process."""
    return 700 + int(link.number) * 19


def opened(node: Node, upstream: Upstream, started_ms: int) -> Visit:
    """Return what a node remembers, from its disk when it has just begun to run."""
    memory = upstream.state()
    if memory.get(RUN) != str(started_ms):
        memory = {RUN: str(started_ms), **(upstream.stored(node.directory) or _rabbitmq_node.seed(node))}
        visit = Visit(node, memory, upstream.now_ms)
        _watch(visit, upstream)
        # The start has told of what was wrong then.
        visit.said.clear()
        return visit
    return Visit(node, memory, upstream.now_ms)


def closed(visit: Visit, upstream: Upstream) -> tuple[Line, ...]:
    """Keep what a request has changed; return what was logged."""
    _watch(visit, upstream)
    upstream.remember(visit.memory)
    held = kept(visit.memory)
    if held != upstream.stored(visit.node.directory):
        upstream.store(visit.node.directory, held)
    return tuple(visit.said)


def kept(memory: Mapping[str, str]) -> dict[str, str]:
    """Return what a node keeps on disk."""
    return {slot: text for slot, text in memory.items() if slot.startswith((USER, VHOST))} | durable(memory)


def _watch(visit: Visit, upstream: Upstream) -> None:
    """Look after alarms and lost clients."""
    node, memory = visit.node, visit.memory
    visit.tell(_rabbitmq_node.check_memory(node, memory))
    visit.tell(_rabbitmq_node.check_disk(node, memory, free_bytes(node, upstream)))
    for link in links(memory):
        if link.ip.startswith("127.") or link.ip == node.own_ip or upstream.has_peer(link.ip):
            if link.is_blocked and not _rabbitmq_node.alarms(memory):
                link.is_blocked = False
                keep_link(memory, link)
            continue
        drop_link(memory, link)
        who = f"({visit.title(link)}, vhost: '{link.vhost}', user: '{link.user}')"
        visit.say(
            "warning",
            f"closing AMQP connection <0.{pid_of(link)}.0> {who}:\nclient unexpectedly closed TCP connection",
            pid_of(link),
        )


def free_bytes(node: Node, upstream: Upstream) -> int:
    """Return how much space is left where a node keeps its data."""
    found = upstream.free_bytes(node.directory)
    return node.build.free_bytes if found is None else max(found, 0)


def serve(node: Node, started_ms: int, request: Request, upstream: Upstream) -> Served:
    """Answer what comes over a connection to the AMQP port."""
    visit = opened(node, upstream, started_ms)
    before = _rabbitmq_node.used_bytes(visit.memory)
    dialogue = decode(request.body) if request.protocol == "amqp" else None
    found = _foreign(visit, request) if dialogue is None else _talk(visit, dialogue, request)
    log = closed(visit, upstream)
    grown = _rabbitmq_node.used_bytes(visit.memory) - before
    held = max(_rabbitmq_node.used_bytes(visit.memory) - _rabbitmq_node.RESTING_BYTES, 0)
    return Served(reply=found, log=log, cpu_ms=1, memory_bytes=held if grown > 0 else 0)


def _foreign(visit: Visit, request: Request) -> Reply:
    """Turn away what is no AMQP: a node looks at the first eight bytes."""
    link = _new_link(visit, Dialogue("", ""), request.source_ip)
    _accept(visit, link)
    first = f"{request.method or 'GET'} {request.path or '/'} HTTP/1.1"[:8]
    shown = f'"{first}"' if request.protocol != "tls" else _TLS_HELLO
    pid = pid_of(link)
    visit.say(
        "error",
        f"closing AMQP connection <0.{pid}.0> ({visit.title(link)}):\n{{bad_header,<<{shown}>>}}",
        pid,
    )
    if request.protocol == "http":
        return Reply(headers=((FOREIGN, _GREETING),), body=_GREETING, latency_ms=1)
    return Reply(failure=EMPTY, latency_ms=1)


def _new_link(visit: Visit, dialogue: Dialogue, source_ip: str) -> Link:
    number = int(visit.memory.get(_COUNT, "0")) + 1
    visit.memory[_COUNT] = str(number)
    port = 32_768 + number * 37 % 28_000
    return Link(str(number), dialogue.user, dialogue.vhost, source_ip or "127.0.0.1", port, visit.now_ms)


def _accept(visit: Visit, link: Link) -> None:
    pid = pid_of(link)
    visit.say("info", f"accepting AMQP connection <0.{pid}.0> ({visit.title(link)})", pid)


def _talk(visit: Visit, dialogue: Dialogue, request: Request) -> Reply:
    number = request.headers.get(CONNECTION)
    link = link_of(visit.memory, number) if number and number.isdecimal() else None
    if number and link is None:
        return Reply(failure=RESET, latency_ms=1)
    is_new = link is None
    if link is None:
        link = _new_link(visit, dialogue, request.source_ip)
        _accept(visit, link)
        problem = _login(visit, link, dialogue)
        if problem is not None:
            return reply((), problem, "", 2)
    is_kept = number is not None and len(links(visit.memory)) <= _LINKS_MAX
    keep_link(visit.memory, link)
    results: list[Mapping[str, Any]] = []
    why: Closed | None = None
    try:
        for operation in dialogue.operations:
            results.append(_rabbitmq_operations.run(visit.memory, link, operation))
            keep_link(visit.memory, link)
    except Refused as refused:
        why = Closed(refused.code, f"{refused.word} - {refused.text}")
        _channel_error(visit, link, refused)
    except Blocked:
        waits_ms = request.timeout_ms or _BLOCKED_MS
        _leave(visit, link, is_kept=is_kept)
        return Reply(failure=TIMEOUT, latency_ms=waits_ms, detail="")
    _leave(visit, link, is_kept=is_kept)
    return reply(results, why, link.number if is_kept else "", 3 if is_new else 1)


def _leave(visit: Visit, link: Link, *, is_kept: bool) -> None:
    """Keep a connection, or close it as its client does."""
    if is_kept:
        keep_link(visit.memory, link)
        return
    keep_link(visit.memory, link)
    drop_link(visit.memory, link)
    pid = pid_of(link)
    who = f"({visit.title(link)}, vhost: '{link.vhost}', user: '{link.user}')"
    visit.say("info", f"closing AMQP connection <0.{pid}.0> {who}", pid)


def _channel_error(visit: Visit, link: Link, refused: Refused) -> None:
    """Close the channel: what was delivered over it goes back."""
    give_back(visit.memory, link.unacked)
    link.unacked, link.consumes = [], []
    keep_link(visit.memory, link)
    pid = pid_of(link)
    who = f"({visit.title(link)}, vhost: '{link.vhost}', user: '{link.user}'), channel 1"
    visit.say(
        "error",
        f"Channel error on connection <0.{pid}.0> {who}:\n"
        f"operation {refused.method} caused a channel exception {refused.word.lower()}: {refused.text}",
        pid + 7,
    )


def _login(visit: Visit, link: Link, dialogue: Dialogue) -> Closed | None:
    """Return why a client is not let in, None when it is."""
    pid, title = pid_of(link), visit.title(link)
    problem = _login_problem(visit, link, dialogue)
    if problem:
        visit.say(
            "error",
            f"Error on AMQP connection <0.{pid}.0> ({title}, state: starting):\nPLAIN login refused: {problem}",
            pid,
        )
        visit.say("info", f"closing AMQP connection <0.{pid}.0> ({title})", pid)
        text = "Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
        return Closed(403, f"ACCESS_REFUSED - {text}", is_connection=True)
    known = json.loads(visit.memory[USER + dialogue.user])
    vhost = dialogue.vhost
    problem = ""
    if VHOST + vhost not in visit.memory:
        problem = f"vhost {vhost} not found"
    elif vhost not in known["permissions"]:
        problem = f"access to vhost '{vhost}' refused for user '{dialogue.user}'"
    if problem:
        head = f"Error on AMQP connection <0.{pid}.0> ({title}, user: '{dialogue.user}', state: opening)"
        visit.say("error", f"{head}:\n{problem}", pid)
        visit.say("info", f"closing AMQP connection <0.{pid}.0> ({title})", pid)
        return Closed(530, f"NOT_ALLOWED - {problem}", is_connection=True)
    text = f"user '{dialogue.user}' authenticated and granted access to vhost '{vhost}'"
    visit.say("info", f"connection <0.{pid}.0> ({title}): {text}", pid)
    return None


def _login_problem(visit: Visit, link: Link, dialogue: Dialogue) -> str:
    user = dialogue.user
    row = visit.memory.get(USER + user)
    if row is None or json.loads(row)["password"] != dialogue.password:
        return f"user '{user}' - invalid credentials"
    is_local = link.ip.startswith("127.") or link.ip == visit.node.own_ip
    if user in visit.node.loopback and not is_local:
        return f"user '{user}' can only connect via localhost"
    return ""
