"""The queues of a RabbitMQ node: what lies in them, who holds what, what outlasts a restart.

Equal messages that follow one another are kept as one with a count, so that a long queue costs little.

Source: https://www.rabbitmq.com/docs/queues, /docs/confirms, /docs/consumers; for errors rabbitmq-server 3.10.8
deps/rabbit/src/rabbit_amqqueue.erl, deps/rabbit_common/src/rabbit_misc.erl.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

QUEUE: Final = "queue "
CONNECTION: Final = "connection "
_RUNS_MAX: Final = 64
"""How many different messages a queue keeps apart; the newest one stands for those after it: a bound of ours."""
_BODY_MAX: Final = 1_024
"""How much of a message's text is kept: a bound of ours."""
QUEUES_MAX: Final = 128
COUNT_MAX: Final = 1_000_000_000
_OVERHEAD: Final = 720
"""About what a message takes beside its text. Source: https://www.rabbitmq.com/docs/memory-use."""

Memory = MutableMapping[str, str]


@dataclass(slots=True)
class Run:
    """Messages that are alike."""

    body: str
    count: int
    size: int
    is_persistent: bool = False
    is_redelivered: bool = False

    def is_like(self, other: Run) -> bool:
        """Whether another run can be joined to this one."""
        return (self.body, self.size, self.is_persistent, self.is_redelivered) == (
            other.body, other.size, other.is_persistent, other.is_redelivered,
        )  # fmt: skip


@dataclass(slots=True)
class Queue:
    """One queue; its name has the virtual host before it."""

    name: str
    is_durable: bool = False
    is_auto_delete: bool = False
    owner: str = ""
    """The connection that alone may use it; "" for none."""
    arguments: dict[str, Any] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    published: int = 0
    delivered: int = 0

    @property
    def ready(self) -> int:
        """How many messages wait."""
        return sum(run.count for run in self.runs)

    @property
    def ready_bytes(self) -> int:
        """How much text waits."""
        return sum(run.count * run.size for run in self.runs)

    def put(self, run: Run, *, is_first: bool = False) -> None:
        """Add messages at the end, or give them back to the beginning."""
        if is_first:
            if self.runs and self.runs[0].is_like(run):
                self.runs[0].count += run.count
            else:
                self.runs.insert(0, run)
            return
        last = self.runs[-1] if self.runs else None
        if last is not None and (last.is_like(run) or len(self.runs) >= _RUNS_MAX):
            last.count = min(last.count + run.count, COUNT_MAX)
        else:
            self.runs.append(run)

    def take(self) -> Run | None:
        """Take the first message, None when there is none."""
        if not self.runs:
            return None
        first = self.runs[0]
        if first.count == 1:
            self.runs.pop(0)
            return first
        first.count -= 1
        return Run(first.body, 1, first.size, first.is_persistent, first.is_redelivered)


@dataclass(slots=True)
class Link:
    """A connection that a client keeps."""

    number: str
    user: str
    vhost: str
    ip: str
    port: int
    since_ms: int
    is_blocked: bool = False
    has_published: bool = False
    consumes: list[str] = field(default_factory=list)
    unacked: list[tuple[int, str, Run]] = field(default_factory=list)
    """Delivery tags, queues and messages."""
    tag: int = 0
    """The last delivery tag."""


def message(body: str, count: int, *, is_persistent: bool) -> Run:
    """Return messages to be published."""
    return Run(body[:_BODY_MAX], max(min(count, COUNT_MAX), 1), len(body.encode()), is_persistent)


def queue_of(memory: Mapping[str, str], name: str) -> Queue | None:
    """Return a queue by its full name, None when there is none."""
    text = memory.get(QUEUE + name)
    if text is None:
        return None
    told = json.loads(text)
    return Queue(**{**told, "runs": [Run(**run) for run in told["runs"]]})


def keep_queue(memory: Memory, queue: Queue) -> None:
    """Put a queue back after a change."""
    memory[QUEUE + queue.name] = json.dumps(asdict(queue))


def queues(memory: Mapping[str, str], vhost: str | None = None) -> list[Queue]:
    """Return the queues of a virtual host, or all, by name."""
    names = sorted(slot[len(QUEUE) :] for slot in memory if slot.startswith(QUEUE))
    wanted = [name for name in names if vhost is None or name.partition(" ")[0] == vhost]
    return [queue for name in wanted if (queue := queue_of(memory, name)) is not None]


def link_of(memory: Mapping[str, str], number: str) -> Link | None:
    """Return a connection by its number, None when there is none."""
    text = memory.get(CONNECTION + number)
    if text is None:
        return None
    told = json.loads(text)
    return Link(**{**told, "unacked": [(tag, name, Run(**run)) for tag, name, run in told["unacked"]]})


def keep_link(memory: Memory, link: Link) -> None:
    """Put a connection back after a change."""
    memory[CONNECTION + link.number] = json.dumps(asdict(link))


def links(memory: Mapping[str, str]) -> list[Link]:
    """Return the connections that are kept, oldest first."""
    numbers = sorted((slot[len(CONNECTION) :] for slot in memory if slot.startswith(CONNECTION)), key=int)
    return [link for number in numbers if (link := link_of(memory, number)) is not None]


def give_back(memory: Memory, unacked: list[tuple[int, str, Run]]) -> None:
    """Requeue what was delivered and not acknowledged, the oldest first again."""
    for _, name, run in reversed(unacked):
        queue = queue_of(memory, name)
        if queue is not None:
            queue.put(
                Run(run.body, run.count, run.size, run.is_persistent, is_redelivered=True), is_first=True
            )
            keep_queue(memory, queue)


def drop_link(memory: Memory, link: Link) -> None:
    """Close a connection: its messages go back, its exclusive queues go, and auto-delete queues without other consumers."""
    memory.pop(CONNECTION + link.number, None)
    give_back(memory, link.unacked)
    others = {name for each in links(memory) for name in each.consumes}
    for queue in queues(memory):
        if queue.owner == link.number or (
            queue.is_auto_delete and queue.name in link.consumes and queue.name not in others
        ):
            memory.pop(QUEUE + queue.name, None)


def unacked_of(memory: Mapping[str, str]) -> dict[str, int]:
    """Return how many messages of each queue are delivered and not acknowledged."""
    found: dict[str, int] = {}
    for link in links(memory):
        for _, name, run in link.unacked:
            found[name] = found.get(name, 0) + run.count
    return found


def consumers_of(memory: Mapping[str, str]) -> dict[str, int]:
    """Return how many consumers each queue has."""
    found: dict[str, int] = {}
    for link in links(memory):
        for name in link.consumes:
            found[name] = found.get(name, 0) + 1
    return found


def message_bytes(memory: Mapping[str, str]) -> int:
    """Return about how much memory the messages take."""
    return sum(run.count * (run.size + _OVERHEAD) for queue in queues(memory) for run in queue.runs)


def durable(memory: Mapping[str, str]) -> dict[str, str]:
    """Return what outlasts the node: durable queues, in them the persistent messages, delivered or not."""
    held: dict[str, str] = {}
    memory = dict(memory)
    for link in links(memory):
        give_back(memory, link.unacked)
    for queue in queues(memory):
        if queue.is_durable and not queue.owner:
            queue.runs = [run for run in queue.runs if run.is_persistent]
            keep_queue(held, queue)
    return held
