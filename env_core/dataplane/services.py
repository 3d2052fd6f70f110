"""Services as the nodes' proxies see them: addresses, ports, and the endpoints behind them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from env_core.apiserver.store import Store, WatchEvent
from env_core.dataplane.repeating import Turn, Way
from env_core.programs._model import END_OF_TIME_MS
from env_core.sim.table import Table
from env_core.world import Object

SLICES: Final = "endpointslices.discovery.k8s.io"
_AFFINITY_MS: Final = 10_800_000
SYNC_MS: Final = 1_000
"""From one change of a Service's endpoints that the proxies take over to the next, at least.

Source: k8s.io/kubernetes pkg/proxy/apis/config/v1alpha1/defaults.go (minSyncPeriod), pkg/util/async
bounded_frequency_runner.go; not recorded. Ingress controllers wait, too (doc.traefik.io, providersThrottleDuration: 2 s).
"""


class Backend(NamedTuple):
    """One endpoint address and the port on it."""

    address: str
    port: int
    hostname: str = ""
    node: str = ""


class ServicePort(NamedTuple):
    """A port of a Service."""

    namespace: str
    name: str
    port: int
    port_name: str
    protocol: str
    has_affinity: bool
    affinity_ms: int


class Late(NamedTuple):
    """What the proxies know of an EndpointSlice until they take over its newest version."""

    until_ms: int
    known: Object


class Services:
    """Lookup tables over a store's Services and EndpointSlices; `refresh` comes before use.

    The proxies take over a change at once, and those that follow it a moment later, together.
    """

    __slots__ = (
        "_backends",
        "_by_address",
        "_by_node_port",
        "_late",
        "_outdated_ms",
        "_service_stamp",
        "_slice_stamp",
        "_store",
        "_turns",
        "way",
    )

    def __init__(self, store: Store, turns: Table[Any, Any], late: Table[Any, Any]) -> None:
        self._store = store
        self._turns = turns
        self._late = late
        self.way: Way | None = None
        """What the question of a probe notes on its way."""
        self._outdated_ms = END_OF_TIME_MS
        self._service_stamp = -1
        self._slice_stamp = -1
        self._by_address: dict[str, dict[tuple[int, str], ServicePort]] = {}
        self._by_node_port: dict[tuple[int, str], ServicePort] = {}
        self._backends: dict[tuple[str, str, str, str], tuple[Backend, ...]] = {}

    def on_write(self, event: WatchEvent, now_ms: int) -> None:
        """Take note of when the proxies will know of a changed EndpointSlice."""
        if event.type != "MODIFIED" or event.old is None:
            return
        key = (event.ref.namespace, event.ref.name)
        before: Late | None = self._late.get(key)
        if before is None or now_ms >= before.until_ms + SYNC_MS:
            self._late[key] = Late(now_ms, event.old)
        elif now_ms >= before.until_ms:
            self._late[key] = Late(before.until_ms + SYNC_MS, event.old)

    def refresh(self) -> None:
        """Drop what changes to Services and EndpointSlices have outdated."""
        store = self._store
        slice_stamp = store.last_write(SLICES)
        if slice_stamp != self._slice_stamp:
            self._slice_stamp = slice_stamp
            self._backends.clear()
        stamp = store.last_write("services")
        if stamp == self._service_stamp:
            return
        self._service_stamp = stamp
        self._by_address = {}
        self._by_node_port = {}
        self._backends.clear()
        for service in store.list("services"):
            self._add(service)

    def _add(self, service: Object) -> None:
        spec = service["spec"]
        kind = spec.get("type", "ClusterIP")
        if kind == "ExternalName":
            return
        addresses = [
            each for each in spec.get("clusterIPs") or [spec.get("clusterIP", "")] if each and each != "None"
        ]
        addresses += spec.get("externalIPs") or []
        balancer = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
        addresses += [each["ip"] for each in balancer if each.get("ip")]
        metadata = service["metadata"]
        affinity = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        for port in spec.get("ports") or ():
            protocol = port.get("protocol", "TCP")
            entry = ServicePort(
                metadata["namespace"],
                metadata["name"],
                port["port"],
                port.get("name", ""),
                protocol,
                spec.get("sessionAffinity") == "ClientIP",
                affinity.get("timeoutSeconds", _AFFINITY_MS // 1000) * 1000,
            )
            for address in addresses:
                self._by_address.setdefault(address, {})[(port["port"], protocol)] = entry
            if port.get("nodePort"):
                self._by_node_port[(port["nodePort"], protocol)] = entry
            if kind == "LoadBalancer":
                # What a small cluster's load balancer does: the service's own port, on every node.
                self._by_node_port.setdefault((port["port"], protocol), entry)

    def has_address(self, address: str) -> bool:
        """Whether an address belongs to a Service."""
        return address in self._by_address

    def port_at(self, address: str, port: int, protocol: str) -> ServicePort | None:
        """Return the Service port at an address, or None."""
        ports = self._by_address.get(address)
        return None if ports is None else ports.get((port, protocol))

    def on_nodes(self, port: int, protocol: str) -> ServicePort | None:
        """Return the Service port that every node offers on `port`, or None."""
        return self._by_node_port.get((port, protocol))

    def backends(
        self, namespace: str, name: str, port_name: str, protocol: str, now_ms: int
    ) -> tuple[Backend, ...]:
        """Return the endpoints to which traffic goes: the ready ones, else those that still serve while they end.

        Source: k8s.io/kubernetes pkg/proxy/topology.go CategorizeEndpoints.
        """
        if now_ms >= self._outdated_ms:
            self._outdated_ms = END_OF_TIME_MS
            self._backends.clear()
        key = (namespace, name, port_name, protocol)
        found = self._backends.get(key)
        if found is None:
            found = self._backends[key] = self._read(namespace, name, port_name, protocol, now_ms)
        return found

    def _known(self, entry: Object, now_ms: int) -> Object:
        """Return an EndpointSlice as the proxies know it."""
        late: Late | None = self._late.get((entry["metadata"]["namespace"], entry["metadata"]["name"]))
        if late is None or now_ms >= late.until_ms:
            return entry
        self._outdated_ms = min(self._outdated_ms, late.until_ms)
        return late.known

    def _read(
        self, namespace: str, name: str, port_name: str, protocol: str, now_ms: int
    ) -> tuple[Backend, ...]:
        ready: list[Backend] = []
        ending: list[Backend] = []
        for newest in self._store.indexed("service", f"{namespace}/{name}"):
            entry = self._known(newest, now_ms)
            number = _number(entry, port_name, protocol)
            if number is None:
                continue
            for endpoint in entry.get("endpoints") or ():
                conditions = endpoint.get("conditions") or {}
                is_ready = conditions.get("ready", True) is not False
                is_ending = conditions.get("serving") and conditions.get("terminating")
                if not is_ready and not is_ending:
                    continue
                found = [
                    Backend(address, number, endpoint.get("hostname") or "", endpoint.get("nodeName") or "")
                    for address in endpoint.get("addresses") or ()
                ]
                (ready if is_ready else ending).extend(found)
        chosen = ready or ending
        return tuple(sorted(dict.fromkeys(chosen), key=lambda backend: (backend.address, backend.port)))

    @property
    def is_settled(self) -> bool:
        """Whether the proxies know all endpoints that were asked for as they are."""
        return self._outdated_ms == END_OF_TIME_MS

    def choose(self, service: ServicePort, source_ip: str, now_ms: int) -> Backend | None:
        """Return the endpoint for a new connection, in turn (or the client's own, with affinity); None for none."""
        backends = self.backends(service.namespace, service.name, service.port_name, service.protocol, now_ms)
        if not backends:
            return None
        if len(backends) == 1:
            return backends[0]
        if service.has_affinity:
            if self.way is not None:
                self.way.ends(now_ms)
            sticky = (service.namespace, service.name, service.port, source_ip)
            kept = self._turns.get(sticky)
            if kept is not None and now_ms - kept[1] < service.affinity_ms:
                for backend in backends:
                    if backend.address == kept[0]:
                        return backend
        key = (service.namespace, service.name, service.port)
        turn: int = self._turns.get(key) or 0
        if self.way is not None:
            self.way.turns.append(Turn(key, turn % len(backends), len(backends)))
        self._turns[key] = turn + 1
        backend = backends[turn % len(backends)]
        if service.has_affinity:
            self._turns[(*key, source_ip)] = (backend.address, now_ms)
        return backend


def _number(entry: Object, port_name: str, protocol: str) -> int | None:
    for port in entry.get("ports") or ():
        if (
            (port.get("name") or "") == port_name
            and port.get("protocol", "TCP") == protocol
            and port.get("port")
        ):
            number: int = port["port"]
            return number
    return None


def port_of(service: Object, wanted: Object) -> Object | None:
    """Return the Service port that an Ingress backend names by number or name."""
    for port in service["spec"].get("ports") or ():
        if "number" in wanted:
            if port["port"] == wanted["number"]:
                found: Object = port
                return found
        elif wanted.get("name") and port.get("name") == wanted["name"]:
            return dict(port)
    return None
