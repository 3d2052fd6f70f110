"""programs/rabbitmq: a node's start, its refusals, alarms and stop."""

import re
from dataclasses import replace
from typing import Final

from env_core.programs import Container, Launch, Program, Request, Upstream, rabbitmq
from env_core.programs import Served as Answered
from env_core.programs._machine import Machine
from env_core.programs._rabbitmq_node import Build
from env_core.programs._rabbitmq_wire import Dialogue, answer, pika_error, request
from env_core.shell.context import Process
from env_core.world import Output
from tests.golden.comparison import Topic
from tests.golden.recordings import Record
from tests.golden.server_records import Family, Served, judge_of

_DEBIAN: Final = Build(
    "3.10.8", "25.2.3", "OpenSSL 3.0.19 27 Jan 2026", "Copyright (c) 2007-2022 VMware, Inc. or its affiliates.",
    total_bytes=25_276_510_208, files_max=20_000, cores=2,
)  # fmt: skip
_FIRST: Final = "first start"
_SEEDED: Final = {"vhost /": "", 'user guest': '{"password": "guest", "tags": ["administrator"], "permissions": {"/": [".*", ".*", ".*"]}}'}
_URL: Final = re.compile(r"amqp://([^:]+):([^@]+)@([^:/]+):(\d+)/([^?]*)")
_READY_MS: Final = 4_000
"""How long the recorder waited for the server."""


def _machine(record: Record) -> Machine:
    kind = record["condition"]["kind"]
    return Machine(
        taken=frozenset({5672}) if kind == "address_in_use" else frozenset(),
        forbidden=("/var/lib/rabbitmq",) if kind == "permission_denied" else (),
    )


def _program(record: Record) -> Program:
    machine = _machine(record)

    def launch(container: Container) -> Launch:
        return rabbitmq.started(container, _DEBIAN, machine, {}, None)

    def begun(container: Container, found: Launch, upstream: Upstream) -> Launch:
        return rabbitmq.started(container, _DEBIAN, machine, upstream.stored(rabbitmq.node_of(container, _DEBIAN).directory), None)

    def serve(container: Container, asked: Request, upstream: Upstream) -> Answered:
        return rabbitmq.serve(rabbitmq.node_of(container, _DEBIAN), container, asked, upstream)

    return replace(
        rabbitmq.PROGRAM, launch=launch, starts=begun, serve=serve,
        signalled=lambda container, name, at_ms, _memory: rabbitmq.stopped(rabbitmq.node_of(container, _DEBIAN), name, at_ms),
    )  # fmt: skip


def _equip(served: Served, process: Process) -> None:
    """Put the recorder's `python client.py pika URL` into the client pod."""
    network = served.world.network

    def python(own: Process, argv: list[str]) -> Output:
        found = _URL.match(argv[-1])
        assert found is not None
        user, password, host, port, _ = found.groups()
        source = network.source_of_pod("tron", "toolbox")
        assert source is not None
        reply = network.request(source, host, int(port), request(Dialogue(user, password)))
        own.advance(reply.latency_ms)
        got = answer(reply)
        text = pika_error(got.closed, is_login=True) if got.closed is not None else ""
        return Output("", f"Traceback (most recent call last):\n{text}\n" if text else "", 1 if text else 0)

    process.fs.mkdir("/app", parents=True)
    process.programs = {**process.programs, "python": python}


FAMILY: Final = Family(
    program=rabbitmq.PROGRAM,
    image="rabbitmq:3.10",
    program_of=_program,
    formats={"ts": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\+00:00"},
    volume=lambda record: {} if _FIRST in (record.get("desc") or "") else _SEEDED,
    data_of=lambda _record: "/var/lib/rabbitmq/mnesia/rabbit@localhost",
    pauses=lambda _record: {-1: _READY_MS},
    measured=(
        (re.compile(r"took \d+ms"), "took Nms"),
        (re.compile(r"cookie hash    : \S+"), "cookie hash    : N"),
        (re.compile(r"rabbitmq-cluster-id-[\w-]+"), "rabbitmq-cluster-id-N"),
    ),
    # The banner is another process's than the log.
    is_child=lambda line: line.startswith(" completed with "),
    equip=_equip,
)

TOPIC = Topic(
    name="programs/rabbitmq", files=("programs/rabbitmq.jsonl", "rabbitmq.jsonl"), answers=("log", "exit", "trigger"),
    judge=judge_of(FAMILY),
)  # fmt: skip
