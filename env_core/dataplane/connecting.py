"""Connections: from a place to an address, through Services, node ports and policies, to what listens."""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.apiserver.store import Store
from env_core.dataplane._model import Connection, OutsideName, Source
from env_core.dataplane.ingress import Routes
from env_core.dataplane.names import Names
from env_core.dataplane.policies import RESOURCE as POLICIES
from env_core.dataplane.policies import Peer, Policies
from env_core.dataplane.services import Backend, ServicePort, Services
from env_core.programs import (
    REFUSED,
    TIMEOUT,
    UNREACHABLE,
    Container,
    Run,
    Runtime,
)
from env_core.programs._runs import RunKey
from env_core.sim.loop import EventLoop
from env_core.sim.state import State
from env_core.world import Object

DNS_ADDRESS: Final = "10.96.0.10"
"""Where kubelets tell pods to find the name server."""
NODE_RESOLVER: Final = "169.254.169.253"
"""The resolver of the nodes themselves; it knows nothing of the cluster."""
OUTSIDE_ADDRESS: Final = "10.0.0.250"
DNS_TRY_MS: Final = 5_000
CONNECT_TIMEOUT_MS: Final = 130_000
"""How long Linux repeats SYN packets before it gives up (tcp_syn_retries 6)."""
ARP_TIMEOUT_MS: Final = 3_060
NO_NEIGHBOUR: Final = "arp"
"""What becomes of a ping to an address of one's own network that nobody has: the place itself says that it is not reached."""
INGRESS_PORTS: Final = (80, 8080)
LOST: Final = "network/lost"
"""The table of nodes whose pods' packets are lost on their way from and to other nodes."""
_LOCAL_NETWORKS: Final = ("10.244.", "10.42.", "10.0.")
"""Networks whose unused addresses no neighbour answers for: pods and nodes."""


class Place(NamedTuple):
    """What the resolver library of a place reads."""

    resolver: tuple[tuple[str, ...], int, str]
    hosts: dict[str, str]


class Connector:
    """Opens connections. Its lookup tables are brought up to date when the store has changed."""

    __slots__ = (
        "_loaded",
        "_loop",
        "_lost",
        "_names",
        "_node_stamp",
        "_nodes",
        "_origins",
        "_place_stamp",
        "_places",
        "_policies",
        "_rejected",
        "_revision",
        "_routes",
        "_runtime",
        "_services",
        "_store",
        "_verdicts",
        "work",
    )

    def __init__(self, *, store: Store, runtime: Runtime, loop: EventLoop, state: State) -> None:
        self._store = store
        self._runtime = runtime
        self._loop = loop
        self.work = loop.work
        """The meter of the cluster, for what runs in its containers."""
        self._policies = Policies(store)
        self._services = Services(
            store, state.table("network/turns", is_quiet=True), state.table("network/late")
        )
        self._routes = Routes(store)
        self._names = Names(store, state.table("network/outside"))
        self._rejected = state.table("network/rejected")
        self._loaded = state.table("network/loaded")
        self._lost = state.table(LOST)
        self._verdicts: dict[tuple[str, str, str, int, str], bool] = {}
        self._places: dict[str, Place] = {}
        self._origins: dict[str, Source] = {}
        self._nodes: dict[str, str] = {}
        self._revision = -1
        self._place_stamp = -1
        self._node_stamp = -1

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self._loop.now_ms

    def source_of_pod(self, namespace: str, name: str) -> Source | None:
        """Return the place of a pod that has an address, or None."""
        pod = self._store.get("pods", namespace, name)
        return None if pod is None else source_of(pod)

    def _source_at(self, pod: Object) -> Source | None:
        uid = pod["metadata"]["uid"]
        found = self._origins.get(uid)
        if found is None:
            found = source_of(pod)
            if found is not None:
                self._origins[uid] = found
        return found

    def declare_name(self, name: str, known: OutsideName) -> None:
        """Let the world outside know a name, or all names of a zone (".example.com")."""
        self._names.declare(name, known)

    def reject(self, address: str, failure: str) -> None:
        """Let a router or firewall answer for an address: what is sent there fails with `failure` at once (TIMEOUT: is lost)."""
        self._rejected[address] = failure

    def outside(self) -> Source:
        """Return a host on the nodes' network: it reaches the ingress, Services and pods, and uses the cluster's DNS."""
        return Source(namespace="", pod="", ip=OUTSIDE_ADDRESS)

    def service(self, namespace: str, name: str) -> Object | None:
        """Return a Service, or None."""
        return self._store.get("services", namespace, name)

    def endpoint(self, namespace: str, name: str, port: int, port_name: str) -> Backend | None:
        """Return an endpoint of a Service's port, each time the next, or None if there is none."""
        self._refresh()
        wanted = ServicePort(namespace, name, port, port_name, "TCP", has_affinity=False, affinity_ms=0)
        return self._services.choose(wanted, OUTSIDE_ADDRESS, self._loop.now_ms)

    def nodes(self) -> dict[str, str]:
        """Return node names by internal address."""
        self._refresh()
        return self._nodes

    def _refresh(self) -> None:
        """Bring the lookup tables up to date with the store; free when nothing was written."""
        store = self._store
        if store.revision == self._revision:
            return
        self._revision = store.revision
        self._services.refresh()
        self._routes.refresh()
        self._names.refresh()
        self._policies.refresh()
        stamp = store.last_write("pods") + store.last_write("namespaces") + store.last_write(POLICIES)
        if stamp != self._place_stamp:
            self._place_stamp = stamp
            self._verdicts.clear()
            self._places.clear()
            self._origins.clear()
        stamp = store.last_write("nodes")
        if stamp != self._node_stamp:
            self._node_stamp = stamp
            self._nodes = {
                each["address"]: node["metadata"]["name"]
                for node in store.list("nodes")
                for each in (node.get("status") or {}).get("addresses") or ()
                if each.get("type") == "InternalIP"
            }

    def started_as(self, run: Run) -> Container:
        """Return a container with the files that its process read: those of its first request, not of today.

        The kubelet refreshes mounted files; a process goes on with what it has loaded.
        """
        container = run.container
        key = RunKey(container.pod_uid, container.name)
        kept: Container | None = self._loaded.get(key)
        if kept is not None and kept.started_ms == container.started_ms:
            return kept
        self._loaded[key] = container
        return container

    def reload(self, run: Run) -> None:
        """Let a process read its files again, as `nginx -s reload` does."""
        container = run.container
        self._loaded.pop(RunKey(container.pod_uid, container.name))

    def allows(self, source_pod: Object, dest_pod: Object, port: int, protocol: str = "TCP") -> bool:
        """Whether network policies let one pod (possibly hypothetical) connect to a port of another."""
        self._refresh()
        return self._policies.allows(_peer(source_pod), _peer(dest_pod), port, protocol)

    def _may_connect(
        self, source: Source, address: str, pod: Object | None, port: int, protocol: str
    ) -> bool:
        key = (source.uid, source.ip, address, port, protocol)
        verdict = self._verdicts.get(key)
        if verdict is None:
            origin = self._store.get("pods", source.namespace, source.pod) if source.pod else None
            here = _peer(origin) if origin is not None else _peer_of(source)
            there = _peer(pod) if pod is not None else Peer("", {}, address, is_pod=False)
            is_own = pod is not None and pod["metadata"]["uid"] == source.uid
            verdict = is_own or self._policies.allows(here, there, port, protocol)
            if len(self._verdicts) > 8192:
                self._verdicts.clear()
            self._verdicts[key] = verdict
        return verdict

    def ping(self, source: Source, address: str) -> str:
        """Return "" when an address answers echo requests, else the failure.

        Service addresses of the default proxy mode answer none; policies of common plugins speak of TCP, UDP and
        SCTP, but drop other packets to and from isolated pods, too.
        """
        self._refresh()
        if address.startswith("127.") or address == source.ip:
            return ""
        if address in self._rejected:
            return str(self._rejected[address])
        if self._services.has_address(address):
            return TIMEOUT
        where = self._runtime.pod_at(address)
        if where is not None:
            pod = self._store.get("pods", where[0], where[1])
            return "" if self._may_connect(source, address, pod, 0, "ICMP") else TIMEOUT
        if address in self._nodes:
            return "" if self._may_connect(source, address, None, 0, "ICMP") else TIMEOUT
        return NO_NEIGHBOUR if address.startswith(_LOCAL_NETWORKS) else TIMEOUT

    def connect(self, source: Source, address: str, port: int, protocol: str = "TCP") -> Connection:
        """Open a connection to an address: a Service's, a pod's, a node's or the place's own."""
        self._refresh()
        if address.startswith("127."):
            if source.is_outside:
                return (
                    self._connect_ingress()
                    if port in INGRESS_PORTS and protocol == "TCP"
                    else Connection(failure=REFUSED, address=address, port=port)
                )
            own = self._store.get("pods", source.namespace, source.pod)
            return self._listener(own, address, port, "127.0.0.1")
        if self._rejected and address in self._rejected:
            return Connection(failure=self._rejected[address], address=address, port=port)
        service = self._services.port_at(address, port, protocol)
        if service is not None:
            backend = self._services.choose(service, source.ip, self._loop.now_ms)
            if backend is None:
                return Connection(failure=REFUSED, address=address, port=port)
            return self._connect_backend(source, backend, protocol)
        if self._services.has_address(address):
            return Connection(failure=TIMEOUT, address=address, port=port)
        return self._connect_host(source, address, port, protocol)

    def _connect_backend(self, source: Source, backend: Backend, protocol: str) -> Connection:
        return self._connect_host(source, backend.address, backend.port, protocol)

    def _connect_host(self, source: Source, address: str, port: int, protocol: str) -> Connection:
        where = self._runtime.pod_at(address)
        if where is not None:
            pod = self._store.get("pods", where[0], where[1])
            if pod is not None and pod["metadata"]["uid"] == where[2]:
                if self._is_lost(source, pod) or not self._may_connect(source, address, pod, port, protocol):
                    return Connection(failure=TIMEOUT, address=address, port=port, pod=pod)
                return self._listener(pod, address, port, source.ip)
        node = self._nodes.get(address)
        if node is not None:
            return self._connect_node(source, address, node, port, protocol)
        if self._is_lost(source, None) or not self._may_connect(source, address, None, port, protocol):
            return Connection(failure=TIMEOUT, address=address, port=port)
        # An address of the pods' or nodes' network that nobody has: no neighbour answers. Others: no way out.
        failure = UNREACHABLE if address.startswith(_LOCAL_NETWORKS) else TIMEOUT
        return Connection(failure=failure, address=address, port=port)

    def _is_lost(self, source: Source, pod: Object | None) -> bool:
        """Whether packets between a place and a pod (None: the world outside) are lost on a node: never within one."""
        if not self._lost:
            return False
        origin = self._store.get("pods", source.namespace, source.pod) if source.pod else None
        ends = [
            each["spec"].get("nodeName", "")
            if each is not None and not each["spec"].get("hostNetwork")
            else ""
            for each in (origin, pod)
        ]
        return ends[0] != ends[1] and any(end in self._lost for end in ends)

    def _connect_node(self, source: Source, address: str, node: str, port: int, protocol: str) -> Connection:
        if not self._may_connect(source, address, None, port, protocol):
            return Connection(failure=TIMEOUT, address=address, port=port)
        for pod in self._store.indexed("node", node):
            if pod["spec"].get("hostNetwork"):
                found = self._listener(pod, address, port, source.ip)
                if not found.failure:
                    return found
        service = self._services.on_nodes(port, protocol)
        if service is None:
            return Connection(failure=REFUSED, address=address, port=port)
        backend = self._services.choose(service, source.ip, self._loop.now_ms)
        if backend is None:
            return Connection(failure=REFUSED, address=address, port=port)
        # Traffic through a node arrives with the node's own address.
        return self._connect_backend(Source(namespace="", pod="", ip=address), backend, protocol)

    def _connect_ingress(self) -> Connection:
        service = self._services.on_nodes(80, "TCP")
        if service is None:
            return Connection(failure=REFUSED, address="127.0.0.1", port=80)
        backend = self._services.choose(service, OUTSIDE_ADDRESS, self._loop.now_ms)
        if backend is None:
            return Connection(failure=REFUSED, address="127.0.0.1", port=80)
        return self._connect_backend(Source(namespace="", pod="", ip=OUTSIDE_ADDRESS), backend, "TCP")

    def listening(self, source: Source) -> tuple[tuple[int, str], ...]:
        """Return the open ports of a pod, in order, each with the name of the program behind it."""
        pod = self._store.get("pods", source.namespace, source.pod) if source.pod else None
        if pod is None:
            return ()
        now_ms = self._loop.now_ms
        runs = [self._runtime.run(pod["metadata"]["uid"], each["name"]) for each in pod["spec"]["containers"]]
        return tuple(
            sorted(
                (listener.port, run.container.argv[0].rpartition("/")[2])
                for run in runs
                if run is not None
                for listener in run.launch.listeners
                if run.is_running(now_ms) and now_ms - run.container.started_ms >= listener.after_ms
            )
        )

    def _listener(self, pod: Object | None, address: str, port: int, source_ip: str) -> Connection:
        if pod is None:
            return Connection(failure=UNREACHABLE, address=address, port=port)
        uid = pod["metadata"]["uid"]
        spec = pod["spec"]
        now_ms = self._loop.now_ms
        run = self._runtime.run
        for container in spec["containers"]:
            found = run(uid, container["name"])
            if found is not None and _is_open(found, port, now_ms, source_ip):
                return self._opened(found, pod, address, port, source_ip)
        for key in ("initContainers", "ephemeralContainers"):
            for container in spec.get(key) or ():
                found = run(uid, container["name"])
                if found is not None and _is_open(found, port, now_ms, source_ip):
                    return self._opened(found, pod, address, port, source_ip)
        return Connection(failure=REFUSED, address=address, port=port, pod=pod)

    def _opened(self, run: Run, pod: Object, address: str, port: int, source_ip: str) -> Connection:
        if self._services.way is not None and run.exit_at_ms is not None:
            self._services.way.ends(run.exit_at_ms)
        return Connection(address=address, port=port, run=run, pod=pod, source_ip=source_ip)


def source_of(pod: Object) -> Source | None:
    """Return the place of a pod, None while it has no address."""
    address = (pod.get("status") or {}).get("podIP", "")
    return source_at(pod, address) if address else None


def source_at(pod: Object, address: str) -> Source:
    """Return the place of a pod whose address its status may not tell yet."""
    metadata, spec = pod["metadata"], pod["spec"]
    return Source(
        namespace=metadata["namespace"], pod=metadata["name"], ip=address, uid=metadata["uid"],
        dns_policy=spec.get("dnsPolicy", "ClusterFirst"), labels=metadata.get("labels") or {},
        is_host_network=bool(spec.get("hostNetwork")),
    )  # fmt: skip


def _peer(pod: Object) -> Peer:
    metadata = pod["metadata"]
    return Peer(
        metadata.get("namespace", ""),
        metadata.get("labels") or {},
        (pod.get("status") or {}).get("podIP", ""),
        is_pod=not pod["spec"].get("hostNetwork"),
        pod=pod,
    )


def _peer_of(source: Source) -> Peer:
    return Peer(
        source.namespace, source.labels, source.ip, is_pod=bool(source.pod) and not source.is_host_network
    )


def _is_open(run: Run, port: int, now_ms: int, source_ip: str) -> bool:
    """Whether a run's process lives and accepts connections on a port."""
    for listener in run.launch.listeners:
        if listener.port == port and (not listener.is_local or source_ip.startswith("127.")):
            return run.is_running(now_ms) and now_ms - run.container.started_ms >= listener.after_ms
    return False
