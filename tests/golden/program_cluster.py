"""The small cluster in which the programs were recorded, of our own data plane: Services, endpoints, DNS, policies.

The servers with faults are scripts (`program_servers.py`); everything between a client and them is ours.

Source: shared oracle `programs/README.md`, "The simulated cluster".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from env_core.dataplane._model import Connection, OutsideName, Source
from env_core.dataplane.network import Network
from env_core.programs import (
    FILTERED,
    NETWORK_UNREACHABLE,
    REFUSED,
    TIMEOUT,
    UNREACHABLE,
    Container,
    Launch,
    Listener,
    Program,
    Reply,
    Request,
    Run,
    Tls,
)
from env_core.programs._http import PORT
from env_core.shell._clients._wire import NetworkWire
from tests.dataplane.world import World
from tests.golden.program_keys import certificate
from tests.golden.program_servers import SCRIPTS, Memory
from tests.golden.recordings import Record

UNDER_TEST: Final = "10.244.3.20"
"""Where the server under test stands; nothing listens there when none runs."""
CLIENT: Final = "10.244.1.5"
NOW_MS: Final = 1_796_000_000_000
SERVICES: Final[dict[str, tuple[str, dict[int, str]]]] = {
    "web.shop": (
        "10.96.20.1",
        {8080: "web", 2222: "ssh", 9090: "silent", 9443: "silent"},
    ),
    "cart.shop": ("10.96.20.2", {8080: "resetting", 8081: "resetting", 8443: "resetting"}),
    "checkout.shop": ("10.96.20.3", {8080: "closing", 8443: "closing"}),
    "gateway.shop": (
        "10.96.20.4",
        {port: "gateway" for port in (80, 443, 8443, 8444, 9443, 10443, 11443, 12443, 13443, 14443)},
    ),
    "payments.shop": ("10.96.20.5", {}),
    "orders.shop": ("10.96.20.6", {}),
    "search.shop": ("10.96.20.7", {}),
    "ads.shop": ("10.96.20.8", {}),
    "audit.shop": ("10.96.20.9", {}),
    "email.shop": ("10.96.20.10", {}),
    "redis.tron": ("10.96.10.1", {}),
    "postgres.tron": ("10.96.10.2", {}),
    "api.tron": ("10.96.10.3", {}),
    "mysql.tron": ("10.96.10.4", {}),
    "rabbitmq.tron": ("10.96.10.5", {}),
    "kubernetes.default": ("10.96.0.1", {}),
}
"""Addresses, and which script answers on which port."""
IDLE: Final = tuple(f"10.96.10.{number}" for number in range(1, 6))
"""Addresses of the servers under test, when none runs: a host that refuses."""
REJECTED: Final = {
    "10.96.20.5": TIMEOUT,
    "10.96.20.6": REFUSED,
    "10.96.20.7": UNREACHABLE,
    "10.96.20.8": REFUSED,
    "10.96.20.9": FILTERED,
    "10.96.20.10": NETWORK_UNREACHABLE,
    **dict.fromkeys(IDLE, REFUSED),
}
"""What packets to an address meet: rules that drop or reject, by the kind of the ICMP answer."""
COREFILE: Final = (
    ".:53 {\n errors\n health\n ready\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  pods insecure\n"
    "  fallthrough in-addr.arpa ip6.arpa\n  ttl 30\n }\n forward . /etc/resolv.conf\n cache 30\n}\n"
)
NGINX: Final = """server {
  listen 80;
  server_name localhost;
  location = /301 { return 301 /index.html; }
  location = /302 { return 302 http://$host/login; }
  location = /400 { return 400; } location = /401 { return 401; } location = /403 { return 403; }
  location = /404 { return 404; } location = /405 { return 405; } location = /413 { return 413; }
  location = /429 { return 429; } location = /500 { return 500; } location = /502 { return 502; }
  location = /503 { return 503; } location = /504 { return 504; } location = /204 { return 204; }
  location / { root /usr/share/nginx/html; }
}
"""
SHOP_PAGE: Final = (
    "<!DOCTYPE html>\n<html>\n<head><title>Shop</title></head>\n<body><h1>Shop</h1></body>\n</html>\n"
)
OUTSIDE: Final = {
    "shop.example.com": OutsideName(("203.0.113.10",), is_own=True),
    ".example.com": OutsideName(zone="example.com", is_own=True),
    "github.example.net": OutsideName(("203.0.113.11",)),
    "broken.example.org": OutsideName(rcode="SERVFAIL"),
    "refused.example.org": OutsideName(rcode="REFUSED"),
}
"""The zone example.com is a file of CoreDNS, the others are the forwarder's."""


_NO_NAME_SERVERS: Final = tuple(REJECTED)


class RecordedNetwork(Network):
    """The data plane, with servers that are scripts."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.memories: dict[str, Memory] = {}
        self.under_test: Program | None = None
        """The build of a program that a record is of."""

    def _program_of(self, run: Run) -> Program | None:
        under_test = self.under_test
        return under_test if under_test is not None and run.program == under_test.name else super()._program_of(run)

    def connect(self, source: Source, address: str, port: int, protocol: str = "TCP") -> Connection:
        """Open a connection; Service addresses were a host's own there: a port that a Service does not have refuses."""
        found = super().connect(source, address, port, protocol)
        if found.failure == TIMEOUT and address not in self._rejected and port != 9091 and address.startswith("10.96."):
            return Connection(failure=REFUSED, address=address, port=port)
        return found

    def _serve(self, connection: Connection, request: Request, at_ms: int) -> Reply:
        run = connection.run
        script = SCRIPTS.get(run.program) if run is not None else None
        if script is None or run is None:
            return super()._serve(connection, request, at_ms)
        asked = Request(
            method=request.method, path=request.path, host=request.host,
            headers={**request.headers, PORT: str(connection.port)}, body=request.body,
            source_ip=connection.source_ip, protocol=request.protocol, timeout_ms=request.timeout_ms,
        )  # fmt: skip
        return script(asked, self.memories.setdefault(run.container_id, {}))


class Cluster(World):
    """The recorded cluster's objects and runs."""

    def __init__(self, *, _parts: Any = None) -> None:
        super().__init__(_parts=_parts)
        self.network: RecordedNetwork = RecordedNetwork(
            store=self.store, runtime=self.runtime, loop=self.loop, state=self.state, streams=self.streams
        )
        self.store.subscriber = self.network.on_write

    def fork(self) -> Cluster:
        """Return a copy that shares what nobody writes."""
        return Cluster(_parts=(self.store.fork(), self.loop.fork(), self.state.fork(), self.streams.fork()))

    def scripted(self, namespace: str, name: str, address: str, scripts: dict[int, str]) -> None:
        """Add a pod in which each script is a container that listens on its ports."""
        containers = [{"name": script, "image": f"recorded/{script}"} for script in dict.fromkeys(scripts.values())]
        spec = {"nodeName": "node-a", "containers": containers}
        pod = self.put("pods", {
            "metadata": {"namespace": namespace, "name": name, "uid": f"uid-{namespace}-{name}", "labels": {"app": name}},
            "spec": spec, "status": {"podIP": address, "hostIP": "10.0.0.11", "phase": "Running"},
        })  # fmt: skip
        uid = pod["metadata"]["uid"]
        self.runtime.assign(address, namespace, name, uid)
        for each in containers:
            script = each["name"]
            container = Container(
                namespace=namespace, pod=name, pod_uid=uid, name=script, image=each["image"], argv=("serve",), env={},
                files={}, pod_ip=address, node="node-a", cpu_limit_millis=None, cpu_request_millis=0,
                memory_limit_bytes=None, started_ms=self.loop.now_ms - 60_000, restarts=0,
            )  # fmt: skip
            listeners = tuple(_listener(port, each) for port, each in scripts.items() if each == script)
            launch = Launch(listeners=listeners)
            self.runtime.put(
                Run(container=container, container_id=f"{uid}/{script}", program=f"recorded/{script}", launch=launch)
            )

    def endpoints(self, namespace: str, service: str, ports: dict[int, int], addresses: list[str]) -> None:
        """Write a Service's EndpointSlice."""
        metadata = {
            "namespace": namespace,
            "name": f"{service}-x",
            "labels": {"kubernetes.io/service-name": service},
        }
        rows = [
            {"addresses": [address], "conditions": {"ready": True}, "hostname": f"{service}-{index}"}
            for index, address in enumerate(addresses)
        ]
        named = [
            {"name": _port_name(port), "port": target, "protocol": "TCP"} for port, target in ports.items()
        ]
        self.put(
            "endpointslices.discovery.k8s.io",
            {"metadata": metadata, "addressType": "IPv4", "ports": named, "endpoints": rows},
        )


def _port_name(port: int) -> str:
    return "http" if port == 8080 else f"p{port}"


_TLS_12: Final = ("TLSv1.2",)
GATEWAY: Final[dict[int, tuple[tuple[str, ...], Tls]]] = {
    443: (("good", "ca"), Tls(versions=_TLS_12, protocols=("h2", "http/1.1"))),
    8443: (("expired",), Tls(versions=_TLS_12)),
    8444: (("future",), Tls(versions=_TLS_12)),
    9443: (("self",), Tls(versions=_TLS_12)),
    10443: (("wrong",), Tls(versions=_TLS_12)),
    11443: (("good",), Tls(versions=("TLSv1.3",))),
    12443: (("good", "ca"), Tls(versions=_TLS_12, client_authorities=certificate("ca"))),
    13443: (("good",), Tls(versions=("TLSv1.0",))),
    14443: (("good",), Tls(versions=("TLSv1.3",), client_authorities=certificate("ca"))),
}
"""What the gateway shows on each port, and how it does TLS there."""


def _listener(port: int, script: str) -> Listener:
    if script != "gateway" or port == 80:
        return Listener(port=port, protocol="http" if script == "web" or port == 80 else "tcp")
    names, tls = GATEWAY[port]
    return Listener(port=port, protocol="https", certificate=certificate(*names), tls=tls)


@cache
def _built() -> Cluster:
    world = Cluster()
    world.loop.run_until(NOW_MS)
    for namespace in ("kube-system", "tron", "default", "shop"):
        world.namespace(namespace)
    node = {
        "metadata": {"name": "node-a"},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": "10.0.0.11"},
                {"type": "InternalIP", "address": "10.244.1.1"},
            ]
        },
    }
    world.put("nodes", node)
    _name_server(world)
    for number, (full, (address, scripts)) in enumerate(SERVICES.items()):
        _service(world, full, address, scripts, f"10.244.3.{40 + number}")
    _headless(world)
    world.pod(
        "tron", "toolbox", {"containers": [{"name": "toolbox", "image": "debian:12"}]}, address=CLIENT
    )
    for address, failure in REJECTED.items():
        world.network.reject(address, failure)
    for name, known in OUTSIDE.items():
        world.network.declare_name(name, known)
    return world


def _name_server(world: Cluster) -> None:
    metadata = {"namespace": "kube-system", "name": "coredns"}
    world.put("configmaps", {"metadata": metadata, "data": {"Corefile": COREFILE}})
    world.pod(
        "kube-system",
        "coredns",
        {
            "containers": [
                {
                    "name": "coredns", "image": "registry.k8s.io/coredns/coredns:v1.12.1",
                    "args": ["-conf", "/etc/coredns/Corefile"],
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns"}],
                }
            ],
            "volumes": [{"name": "config", "configMap": {"name": "coredns"}}],
        },
        {"k8s-app": "kube-dns"},
    )  # fmt: skip
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]
    world.service(
        "kube-system",
        "kube-dns",
        {"selector": {"k8s-app": "kube-dns"}, "ports": ports, "clusterIP": "10.96.0.10"},
    )
    world.slices("kube-system", "kube-dns")


def _service(
    world: Cluster, full: str, address: str, scripts: dict[int, str], pod_address: str
) -> None:
    name, _, namespace = full.partition(".")
    ports = {port: port for port in scripts}
    if full == "web.shop":
        world.put(
            "configmaps",
            {"metadata": {"namespace": namespace, "name": "nginx"}, "data": {"default.conf": NGINX}},
        )
        world.put(
            "configmaps",
            {"metadata": {"namespace": namespace, "name": "pages"}, "data": {"index.html": SHOP_PAGE}},
        )
        volumes = [
            {"name": "conf", "configMap": {"name": "nginx"}},
            {"name": "pages", "configMap": {"name": "pages"}},
        ]
        container = {
            "name": "nginx", "image": "nginx:1.22",
            "volumeMounts": [
                {"name": "conf", "mountPath": "/etc/nginx/conf.d"},
                {"name": "pages", "mountPath": "/usr/share/nginx/html"},
            ],
        }  # fmt: skip
        world.pod(namespace, "nginx", {"containers": [container], "volumes": volumes}, address="10.244.3.10")
    declared = [{"name": _port_name(port), "port": port} for port in ports or {8080: 8080}]
    if full == "web.shop":
        declared.append({"name": "p80", "port": 80})
    world.service(namespace, name, {"ports": declared, "clusterIP": address})
    if scripts:
        world.scripted(namespace, name, pod_address, scripts)
        world.endpoints(namespace, name, ports, [pod_address])
    if full == "web.shop":
        metadata = {"namespace": namespace, "name": "web-y", "labels": {"kubernetes.io/service-name": "web"}}
        world.put(
            "endpointslices.discovery.k8s.io",
            {
                "metadata": metadata,
                "addressType": "IPv4",
                "ports": [{"name": "p80", "port": 80, "protocol": "TCP"}],
                "endpoints": [{"addresses": ["10.244.3.10"], "conditions": {"ready": True}}],
            },
        )


def _headless(world: Cluster) -> None:
    ports = [{"name": "http", "port": 8080}]
    world.service("shop", "web-headless", {"ports": ports, "clusterIP": "None"})
    addresses = ["10.244.2.10", "10.244.2.11", "10.244.2.12"]
    for index, address in enumerate(addresses):
        world.scripted("shop", f"web-headless-{index}", address, {})
    world.endpoints("shop", "web-headless", {8080: 8080}, addresses)
    world.service("tron", "redis-headless", {"ports": ports, "clusterIP": "None"})
    world.service(
        "shop", "stripe", {"type": "ExternalName", "externalName": "api.stripe.example.com", "ports": []}
    )


@dataclass(frozen=True, slots=True)
class RecordedWire(NetworkWire):
    """The toolbox's view. Service addresses were a host's own there: they answer pings, and refuse other ports."""

    def connect(self, address: str, port: int, protocol: str = "TCP") -> Connection:
        """Open a connection; a time-out on a port that a Service does not have is a refusal there."""
        found = self.network.connect(self.source, address, port, protocol)
        if found.failure == TIMEOUT and address not in REJECTED and port != 9091:
            return Connection(failure=REFUSED, address=address, port=port)
        return found

    def ping(self, address: str) -> str:
        """Send an echo request."""
        failure = self.network.ping(self.source, address)
        return "" if address in IDLE or (failure == TIMEOUT and address not in REJECTED) else failure


def cluster() -> Cluster:
    """Return a fresh copy of the recorded cluster."""
    return _built().fork()


def resolver_of(record: Record) -> dict[str, Any]:
    """Return the DNS configuration of a recorded client: `condition.kind` says what became of the name server.

    A name server of the argv's own is asked whatever resolv.conf says.
    """
    if any(word in _NO_NAME_SERVERS or word.startswith("@") for word in record["argv"]):
        return {}
    kind = record["condition"]["kind"]
    if kind == "dns_timeout":
        return {"nameservers": ["10.96.20.5"]}
    return {"nameservers": ["10.96.20.6"]} if kind in ("dns_server_refused", "no_resolv_conf") else {}


def wire(resolver: dict[str, Any] | None = None) -> RecordedWire:
    """Return the toolbox's network; `resolver` replaces parts of its resolv.conf (as of a pod's dnsConfig)."""
    world = cluster()
    if world.runtime.pod_at(UNDER_TEST) is None:
        world.scripted("tron", "under-test", UNDER_TEST, {})
    if resolver:
        pod = world.store.get("pods", "tron", "toolbox")
        assert pod is not None
        config = {
            "nameservers": ["10.96.0.10"],
            "searches": ["tron.svc.cluster.local", "svc.cluster.local", "cluster.local"],
            "options": [{"name": "ndots", "value": "5"}],
            **resolver,
        }
        world.put("pods", {**pod, "spec": {**pod["spec"], "dnsPolicy": "None", "dnsConfig": config}})
    source = world.network.source_of_pod("tron", "toolbox")
    assert source is not None
    return RecordedWire(world.network, source)
