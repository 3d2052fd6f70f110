"""The cluster's network: who reaches whom, by which name, and what answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from env_core.apiserver.store import Store, WatchEvent
from env_core.dataplane._model import Connection, Source
from env_core.dataplane.connecting import ARP_TIMEOUT_MS, CONNECT_TIMEOUT_MS
from env_core.dataplane.crowds import Crowds
from env_core.dataplane.ingress import CLASSES, Route, without_hops
from env_core.dataplane.ingress import RESOURCE as INGRESSES
from env_core.dataplane.policies import RESOURCE as POLICIES
from env_core.dataplane.repeating import Effect, Repeats, Way
from env_core.dataplane.resolving import Resolver
from env_core.dataplane.services import SLICES, ServicePort
from env_core.dataplane.serving import Usage, Usages, programs
from env_core.dataplane.upstream import Upstream
from env_core.objects.volume_claims import CLAIMS, size_bytes
from env_core.programs import (
    EMPTY,
    RESET,
    TIMEOUT,
    UNREACHABLE,
    Container,
    Launch,
    Program,
    Reply,
    Request,
    Run,
    Runtime,
    traefik,
)
from env_core.programs._disks import Place, Space
from env_core.programs._http import PORT, VERSION
from env_core.programs._runs import RunKey
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State
from env_core.world import Object

GATEWAY_TIMEOUT_MS: Final = 30_000
"""Traefik's dial timeout."""
_DEPTH_MAX: Final = 12
_READ: Final = (
    "services",
    SLICES,
    "pods",
    "nodes",
    "namespaces",
    POLICIES,
    INGRESSES,
    CLASSES,
    CLAIMS,
)
"""The resources that the data plane reads."""


class Network(Resolver):
    """Answers at once: latency is in the replies, and only tables change."""

    __slots__ = ("_depth", "_repeats", "_state", "_usages", "crowds", "telemetry")

    def __init__(
        self, *, store: Store, runtime: Runtime, loop: EventLoop, state: State, streams: Streams
    ) -> None:
        del streams  # connections take turns, so that they use no chance
        super().__init__(store=store, runtime=runtime, loop=loop, state=state)
        self._usages = Usages(state.table("network/usage", is_quiet=True))
        self._repeats = Repeats(state.table("network/turns", is_quiet=True), self._usages)
        self._state = state
        self.crowds = Crowds(state, loop)
        self._depth = 0
        self.telemetry: Callable[[str, str], tuple[int, str, str]] = _unmonitored
        """Answers what a monitoring system's HTTP API is asked (path, form): status, body, content type."""

    def on_write(self, event: WatchEvent) -> None:
        """Take note of a change. Every cache checks its own age, so that little needs doing."""
        if event.ref.resource == SLICES:
            self._services.on_write(event, self._loop.now_ms)
        if event.type == "DELETED" and event.ref.resource == "pods":
            for container in event.object["spec"]["containers"]:
                self._usages.forget(event.object["metadata"]["uid"], container["name"])
                self.crowds.forget(event.object["metadata"]["uid"], container["name"])
                self._loaded.pop(RunKey(event.object["metadata"]["uid"], container["name"]))

    def handle(self, key: Hashable) -> None:
        """Do what an agenda entry says: ("visit", name) lets users come."""
        assert isinstance(key, tuple)
        visit = self.crowds.due(key[1])
        if visit is not None:
            self.request_ingress(visit.request, users=visit.users)

    def usage(self, run: Run) -> Usage:
        """Return what a container's requests have used."""
        return self._usages.of(run)

    def request(self, source: Source, host: str, port: int, request: Request, *, tries: int = 2) -> Reply:
        """Resolve a host, connect and send a request; addresses are tried in turn until one accepts.

        The reply's `detail` says in which phase a failure came ("dns", "connect", "read") and at which address; of a name server
        also whether it is "refused".
        """
        return self._request(source, host, port, request, tries, self._loop.now_ms)

    def _request(
        self, source: Source, host: str, port: int, request: Request, tries: int, at_ms: int
    ) -> Reply:
        found = self.resolve(source, host, tries=tries)
        if found.failure:
            return Reply(failure=found.failure, latency_ms=found.latency_ms, detail=found.detail)
        reply = Reply(failure=UNREACHABLE)
        for address in found.addresses:
            reply = self.send(source, address, port, request, at_ms=at_ms + found.latency_ms)
            if reply.failure and reply.detail:
                # Clients know the address that they dialled, not what stands behind it.
                reply = reply._replace(detail=f"{reply.detail.partition(' ')[0]} {address}")
            if not (reply.failure and reply.detail.startswith("connect")):
                break
        if not found.latency_ms:
            return reply
        return Reply(
            status=reply.status, headers=reply.headers, body=reply.body, failure=reply.failure, detail=reply.detail,
            latency_ms=reply.latency_ms + found.latency_ms,
        )  # fmt: skip

    def send(
        self, source: Source, address: str, port: int, request: Request, *, at_ms: int | None = None
    ) -> Reply:
        """Connect to an address and send a request."""
        connection = self.connect(source, address, port)
        reply = self.exchange(connection, request, self._loop.now_ms if at_ms is None else at_ms)
        if reply.failure and (not reply.detail or connection.address != address):
            # The caller knows the address that it dialled, not the one behind the Service.
            return reply._replace(detail=f"{reply.detail.partition(' ')[0] or 'read'} {address}")
        return reply

    def settled(self, pod: Object, program: Program, container: Container, launch: Launch) -> Launch:
        """Return what a program does at its start: as declared, or by what its container reaches."""
        if program.starts is None or launch.create_error:
            return launch
        run = Run(container=container, container_id="", program=program.name, launch=launch)
        upstream = Upstream(self, run, pod, self._loop.now_ms)
        return program.starts(container, launch, upstream)

    def space(self, place: Place) -> Space | None:
        """Return how full a volume is, None for one without a size."""
        namespace, _, name = place.claim.partition("/")
        size = size_bytes(self._store.get(CLAIMS, namespace, name)) if name else None
        return (
            None if size is None else Space(size, self._runtime.used_bytes(place.volume, self._loop.now_ms))
        )

    def exchange(self, connection: Connection, request: Request, at_ms: int) -> Reply:
        """Send a request over a connection (or tell why there is none)."""
        if self._services.way is not None:
            self._services.way.begun += 1
        failure = connection.failure
        if failure:
            if failure == TIMEOUT:
                latency_ms = request.timeout_ms or CONNECT_TIMEOUT_MS
            elif failure == UNREACHABLE and connection.address not in self._rejected:
                latency_ms = ARP_TIMEOUT_MS
                if request.timeout_ms and request.timeout_ms < latency_ms:
                    failure, latency_ms = TIMEOUT, request.timeout_ms
            else:
                latency_ms = 1
            return Reply(failure=failure, latency_ms=latency_ms, detail=f"connect {connection.address}")
        if request.protocol in ("tcp", "udp"):
            self._touch(connection, at_ms)
            return Reply(latency_ms=1)
        if self._depth >= _DEPTH_MAX:
            late_ms = request.timeout_ms or CONNECT_TIMEOUT_MS
            return Reply(failure=TIMEOUT, latency_ms=late_ms, detail=f"read {connection.address}")
        self._depth += 1
        try:
            return self._serve(connection, request, at_ms)
        finally:
            self._depth -= 1

    def _touch(self, connection: Connection, at_ms: int) -> None:
        """Let a program take note of a connection over which nothing comes."""
        run = connection.run
        program = None if run is None or run.is_hung else self._program_of(run)
        if run is not None and program is not None and program.touched is not None:
            if lines := program.touched(self.started_as(run), connection.source_ip, at_ms):
                self._runtime.log(run, lines)

    def probe_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Send a kubelet's question as `request_pod` does; while nothing changes, a good answer stays (with its Date header)."""
        question = (
            pod_ip,
            port,
            request.path,
            request.host,
            request.protocol,
            request.timeout_ms,
            *request.headers.items(),
        )
        work = self._loop.work
        known = self._repeats.again(self._stamp(), question, self._loop.now_ms)
        if known is not None:
            work.done += known[1]
            return known[0]
        before, way = work.done, Way()
        self._services.way = way
        try:
            reply = self.request_pod(pod_ip, port, request, source_ip)
        finally:
            self._services.way = None
        if 200 <= reply.status < 300 and not reply.failure and self._services.is_settled:
            self._repeats.remember(self._stamp(), question, way, reply, work.done - before)
        return reply

    def _stamp(self) -> tuple[int, int]:
        """Return what changes with everything that an answer depends on."""
        return self._store.newest_write(_READ), self._state.writes

    def request_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Send a request from a node to a pod of its own, as kubelets do: no policy stands in the way."""
        self._refresh()
        where = self._runtime.pod_at(pod_ip)
        now_ms = self._loop.now_ms
        if where is None:
            node = self._nodes.get(pod_ip)
            if node is None and not pod_ip.startswith("127."):
                return self.exchange(
                    Connection(failure=UNREACHABLE, address=pod_ip, port=port), request, now_ms
                )
            connection = self._connect_node(
                Source(namespace="", pod="", ip=source_ip), pod_ip, node or "", port, "TCP"
            )
            return self.exchange(connection, request, now_ms)
        pod = self._store.get("pods", where[0], where[1])
        return self.exchange(self._listener(pod, pod_ip, port, source_ip), request, now_ms)

    def request_ingress(self, request: Request, *, users: int = 1) -> Reply:
        """Send an HTTP request from outside through the ingress controller; `request.host` is the Host header.

        With several `users` it stands for as many that come at once: the reply is that of the last one.
        """
        self._refresh()
        self.crowds.users = users
        try:
            return self.exchange(self._connect_ingress(), request, self._loop.now_ms)
        finally:
            self.crowds.users = 1

    def _program_of(self, run: Run) -> Program | None:
        """Return what answers for a run."""
        return programs().get(run.program)

    def _serve(self, connection: Connection, request: Request, at_ms: int) -> Reply:
        run = connection.run
        assert run is not None, "connections without a failure have a run"
        program = self._program_of(run)
        if run.is_hung:
            waited_ms = request.timeout_ms or CONNECT_TIMEOUT_MS
            return Reply(failure=TIMEOUT, latency_ms=waited_ms, detail=f"read {connection.address}")
        if program is None:
            return Reply(failure=EMPTY, latency_ms=1, detail=f"read {connection.address}")
        container = run.container if program.rereads_files else self.started_as(run)
        upstream = Upstream(self, run, connection.pod, at_ms)
        users = self.crowds.users
        if (
            run.program == "traefik"
            and request.protocol == "http"
            and traefik.routes_ingresses(container, connection.port)
        ):
            reply = self._through_ingress(upstream, request, connection.source_ip)
            self._usages.add(run, at_ms, -1 if reply.failure else reply.status, users, 0, times=users)
            return _within(reply, request.timeout_ms, connection.address)
        inner = Request(
            method=request.method, path=request.path, host=request.host,
            headers={**request.headers, PORT: str(connection.port)}, body=request.body,
            source_ip=connection.source_ip, protocol=request.protocol, timeout_ms=request.timeout_ms,
        )  # fmt: skip
        served = program.serve(container, inner, upstream)
        reply = served.reply
        memory_bytes, kept_bytes = served.memory_bytes * users, served.kept_bytes * users
        limit = container.memory_limit_bytes
        if limit is not None and memory_bytes and run.resting_bytes(at_ms) + memory_bytes > limit:
            self._usages.add(run, at_ms, -1, served.cpu_ms * users, memory_bytes, times=users)
            self._kill(run)
            return Reply(failure=EMPTY, latency_ms=reply.latency_ms, detail=f"read {connection.address}")
        status = -1 if reply.failure else reply.status
        self._usages.add(run, at_ms, status, served.cpu_ms * users, memory_bytes, kept_bytes, times=users)
        if served.kept_bytes:
            self._fill(run)
        way = self._services.way
        if way is not None and not (
            served.log or kept_bytes or (memory_bytes and run.launch.growth_bytes_per_s) or self.crowds.has_met(run)
        ):  # fmt: skip
            effect = Effect(run, at_ms - self._loop.now_ms, status, served.cpu_ms, memory_bytes)
            way.note(effect, served.lasts_until_ms)
        if served.log:
            self._runtime.log(run, served.log)
        self._loop.work.done += served.work
        if served.ends is not None:
            ends_ms = at_ms + reply.latency_ms + served.ends_after_ms
            self._runtime.end(run, ends_ms, served.ends, "Error")
            self._loop.wake(ends_ms, "kubelet", ("run", container.pod_uid, container.name))
        extra_ms = self.crowds.takes_ms(run, at_ms, served.cpu_ms, is_done=True) if served.cpu_ms else 0
        if extra_ms or (reply.failure and not reply.detail):
            reply = Reply(
                status=reply.status, headers=reply.headers, body=reply.body, failure=reply.failure,
                latency_ms=reply.latency_ms + extra_ms, detail=reply.detail or f"read {connection.address}",
            )  # fmt: skip
        if run.exit_at_ms is not None and at_ms + reply.latency_ms > run.exit_at_ms and not reply.failure:
            reply = Reply(
                failure=RESET, latency_ms=run.exit_at_ms - at_ms, detail=f"read {connection.address}"
            )
        return _within(reply, request.timeout_ms, connection.address)

    def _kill(self, run: Run) -> None:
        """Let the kernel kill a container that needs more memory than its limit."""
        now_ms = self._loop.now_ms
        self._runtime.end(run, now_ms, 137, "OOMKilled")
        self._loop.wake(now_ms, "kubelet", ("run", run.container.pod_uid, run.container.name))

    def _fill(self, run: Run) -> None:
        """Take note that a process keeps more of its memory: it may get over its limit sooner, or now."""
        over_ms = run.out_of_memory_ms(self._usages.of(run).kept_bytes)
        if over_ms is None:
            return
        at_ms = max(over_ms, self._loop.now_ms)
        self._runtime.end(run, at_ms, 137, "OOMKilled")
        self._loop.wake(at_ms, "kubelet", ("run", run.container.pod_uid, run.container.name))

    def _through_ingress(self, upstream: Upstream, request: Request, client_ip: str) -> Reply:
        host = (request.headers.get("Host") or request.host).partition(":")[0]
        path = request.path.partition("?")[0]
        route = self._routes.find(host, path)
        if route is None:
            return traefik.not_found(upstream)
        backends = self._services.backends(
            route.namespace, route.service, route.port_name, "TCP", upstream.now_ms
        )
        if not backends:
            return traefik.failed(upstream, 503, "no available server\n")
        return self._to_backend(upstream, request, route, client_ip)

    def _to_backend(self, upstream: Upstream, request: Request, route: Route, client_ip: str) -> Reply:
        port = ServicePort(
            route.namespace, route.service, 0, route.port_name, "TCP", has_affinity=False, affinity_ms=0
        )
        backend = self._services.choose(port, client_ip, upstream.now_ms)
        source = upstream.source()
        if backend is None or source is None:
            return traefik.failed(upstream, 503, "no available server\n")
        connection = self._connect_host(source, backend.address, backend.port, "TCP")
        headers = dict(request.headers)
        headers.pop(VERSION, None)
        host = headers.get("Host") or request.host
        before = headers.get("X-Forwarded-For")
        headers["X-Forwarded-For"] = f"{before}, {client_ip}" if before else client_ip
        headers["X-Forwarded-Host"] = host
        headers["X-Forwarded-Port"] = "80"
        headers["X-Forwarded-Proto"] = "http"
        headers["X-Forwarded-Server"] = upstream.run.container.pod
        headers["X-Real-Ip"] = client_ip
        inner = Request(
            method=request.method, path=request.path, host=host, headers=headers, body=request.body,
            timeout_ms=request.timeout_ms,
        )  # fmt: skip
        reply = self.exchange(connection, inner, upstream.now_ms + 1)
        if not reply.failure:
            return Reply(
                status=reply.status,
                headers=without_hops(reply.headers),
                body=reply.body,
                latency_ms=reply.latency_ms + 1,
            )
        if reply.failure == TIMEOUT:
            is_connecting = reply.detail.startswith("connect")
            if request.timeout_ms and (not is_connecting or request.timeout_ms <= GATEWAY_TIMEOUT_MS):
                return reply
            answer, latency_ms = (
                traefik.failed(upstream, 504, "Gateway Timeout"),
                GATEWAY_TIMEOUT_MS if is_connecting else reply.latency_ms,
            )
        else:
            answer, latency_ms = traefik.failed(upstream, 502, "Bad Gateway"), reply.latency_ms
        return Reply(
            status=answer.status, headers=answer.headers, body=answer.body, latency_ms=latency_ms + 1
        )


def _unmonitored(_path: str, _form: str) -> tuple[int, str, str]:
    return 404, "404 page not found\n", "text/plain; charset=utf-8"


def _within(reply: Reply, timeout_ms: int, address: str) -> Reply:
    """Return a reply, or the caller's time-out when it comes too late."""
    if timeout_ms and reply.latency_ms > timeout_ms:
        return Reply(failure=TIMEOUT, latency_ms=timeout_ms, detail=f"read {address}")
    return reply
