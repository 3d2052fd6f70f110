"""l2/facts/watches: raw watch streams while a fixed list of operations runs."""

from __future__ import annotations

import json
from typing import Any

from env_core.cluster import EPOCH_MS, Cluster
from env_core.rest.watching import Watch
from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.topics.errors import shown

NAMESPACE = "watches"
FIRST_MS, LENGTH_MS = 1_400, 9_100
"""The note of the first record: "run 1.5 s after the watches started, 0.15 s apart; w1 existed before"."""
MOMENTS = tuple(
    (phase_ms, lead_ms, apart_ms)
    for apart_ms in (150, 200, 170)
    for lead_ms in (300, 800, 1_300)
    for phase_ms in range(0, 1_000, 100)
)
"""When within a second the recorder began, how long before that w1 was made, and how far apart its requests got.

l2 README: "the request itself fell somewhere in [t_ms, t_ms + waited_ms], so an age is right if it is right for some
moment of that span".
"""


def _world(phase_ms: int, lead_ms: int) -> Cluster:
    world = Cluster(seed=1, now_ms=EPOCH_MS + phase_ms)
    world.boot()
    world.client().create("namespaces", "", {"metadata": {"name": NAMESPACE}})
    world.advance(1_500)
    body = {"metadata": {"name": "w1", "labels": {"app": "x"}}, "data": {"a": "1"}}
    world.client().create("configmaps", NAMESPACE, body)
    world.advance(lead_ms)
    return world


def _events(record: Record, operations: list[Record], moment: tuple[int, int, int]) -> Any:
    """Open one watch, carry out the operations, and return what the watch has shown."""
    phase_ms, lead_ms, apart_ms = moment
    world = _world(phase_ms, lead_ms)
    api = http.RestApi(world.server)
    path = record["path"].replace("<rv of a list>", str(world.store.revision))
    opened = api.handle(http.request_of({**record, "method": "GET", "path": path}), http.ADMIN)
    if not isinstance(opened, Watch):
        return opened.body.decode().splitlines(keepends=True)
    lines = opened.poll()
    start_ms = world.now_ms
    for index, operation in enumerate(operations):
        lines += _until(world, opened, start_ms + FIRST_MS + apart_ms * index)
        api.handle(http.request_of(operation), http.ADMIN)
        lines += opened.poll()
    lines += _until(world, opened, start_ms + LENGTH_MS)
    return [json.loads(line) for line in lines.splitlines()]


def _until(world: Cluster, watch: Watch, at_ms: int) -> bytes:
    lines = b""
    while world.now_ms < at_ms:
        world.advance(min(50, at_ms - world.now_ms))
        lines += watch.poll()
    return lines


def _plain(events: list[Any]) -> list[Any]:
    return [
        {"type": event["type"], "object": shown(event["object"])} if isinstance(event, dict) else event
        for event in events
    ]


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    if "operations" in record:
        folder.once("operations", lambda: record["operations"])
        return []
    operations = folder.once("operations", list)
    wanted = _plain([event for _, event in record["events"]])
    first = None
    for moment in MOMENTS if "as=Table" in record["accept"] else MOMENTS[:1]:
        got = _plain(_events(record, operations, moment))
        first = got if first is None else first
        if got == wanted:
            return [Comparison(wanted, got)]
    return [Comparison(wanted, first)]


TOPIC = Topic(name="l2/facts/watches", files=("watches.jsonl",), answers=("events",), judge=_judge)
