"""A server program under test in the recorded cluster: at 10.244.3.20, behind redis.tron and the like."""

from __future__ import annotations

import shlex
from typing import Any

from env_core.programs import EMPTY, REFUSED, Container, Program, Reply, Request
from env_core.programs._http import PORT
from env_core.shell._clients import curl, redis_cli
from env_core.shell._clients._wire import Connection
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from env_core.world import Output
from tests.shell.recorded_cluster import NOW_MS, RecordedCluster

ADDRESS = "10.244.3.20"
PLAIN = set("|;&<>$`")


class Served(RecordedCluster):
    """The recorded cluster with one program running in it."""

    def __init__(
        self, program: Program, image: str, record: dict[str, Any], files: dict[str, str] | None = None
    ) -> None:
        super().__init__()
        self.program = program
        self.clock = NOW_MS
        self.memory: dict[str, str] = {}
        self.disk: dict[str, dict[str, str]] = {}
        self.log: list[tuple[str, str]] = []
        self.container = Container(
            namespace="tron", pod="server", pod_uid="u", name="server", image=image, argv=tuple(record["argv"]),
            env=record.get("env") or {}, files={**(record.get("config") or {}), **(files or {})}, pod_ip=ADDRESS, node="node",
            cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=None, started_ms=NOW_MS - 60_000, restarts=0,
            user=record.get("uid") or 0,
        )  # fmt: skip
        self.launch = program.launch(self.container)
        self.ports = {listener.port for listener in self.launch.listeners}

    # The wire of clients

    def connect(self, address: str, port: int, protocol: str = "TCP") -> Connection:
        if address in (ADDRESS, "127.0.0.1", "10.96.10.1"):
            return Connection(failure="" if port in self.ports else REFUSED, address=address, port=port)
        return super().connect(address, port, protocol)

    def exchange(self, connection: Connection, request: Request) -> Reply:
        if connection.address not in (ADDRESS, "127.0.0.1", "10.96.10.1"):
            return super().exchange(connection, request)
        if request.protocol == "tcp":
            return Reply(latency_ms=1)
        inner = Request(
            method=request.method, path=request.path, host=request.host, headers={**request.headers, PORT: str(connection.port)},
            body=request.body, source_ip="10.244.1.5", protocol=request.protocol, timeout_ms=request.timeout_ms,
        )  # fmt: skip
        served = self.program.serve(self.container, inner, self)
        self.log += [(line.stream, line.text) for line in served.log]
        if request.timeout_ms and served.reply.latency_ms > request.timeout_ms:
            return Reply(failure="timeout", latency_ms=request.timeout_ms)
        return served.reply

    # The upstream of the program

    @property
    def now_ms(self) -> int:
        return self.clock

    def request(self, host: str, port: int, request: Request) -> Reply:
        found = self.resolve(host)
        if not found.addresses:
            return Reply(failure=found.failure, latency_ms=1, detail="dns")
        connection = RecordedCluster.connect(self, found.addresses[0], port)
        if found.addresses[0].startswith(("10.244.3.", "192.0.2.")):
            connection = Connection(failure="unreachable", address=found.addresses[0], port=port)
        if connection.failure:
            late = request.timeout_ms if connection.failure == "timeout" else 1
            return Reply(failure=connection.failure, latency_ms=late, detail=f"connect {connection.address}")
        reply = RecordedCluster.exchange(self, connection, request)
        if reply.failure:
            return Reply(
                failure=reply.failure,
                latency_ms=reply.latency_ms or request.timeout_ms,
                detail=f"read {connection.address}",
            )
        if any(name == ":foreign" for name, _ in reply.headers):
            return Reply(failure=EMPTY, latency_ms=1, detail="foreign")
        return reply

    def ask(self, name: str, server: str) -> Reply:
        if server != "10.96.0.10":
            return Reply(failure="dns-timeout", detail="dns")
        found = self.resolve(name)
        return Reply(failure=found.failure, body=next(iter(found.addresses), ""), latency_ms=1, detail="dns")

    def free_bytes(self, path: str) -> int | None:
        return None

    def stored(self, path: str) -> dict[str, str]:
        return self.disk.get(path, {})

    def store(self, path: str, rows: dict[str, str]) -> None:
        self.disk[path] = dict(rows)

    def state(self) -> dict[str, str]:
        return dict(self.memory)

    def remember(self, state: dict[str, str]) -> None:
        self.memory = state

    def run(self, line: str) -> Output | None:
        """Run a client's command line; None when it needs a shell."""
        if any(mark in line.replace("?", "") for mark in PLAIN):
            return None
        words = shlex.split(line)

        def advance(duration_ms: int) -> None:
            self.clock += duration_ms

        env = {}
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        process = Process(
            "",
            FileSystem({"/data/big.bin": "\0" * 3_000_000}),
            env,
            now_ms=lambda: self.clock,
            advance=advance,
        )
        client = {"curl": curl.run, "redis-cli": redis_cli.run}.get(words[0])
        return None if client is None else client(process, words, self)
