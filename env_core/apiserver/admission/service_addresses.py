"""Cluster IPs and node ports: drawn for services that need them, refused when taken or out of range.

Upstream this is the service storage's allocator, which runs after every admission plugin; so does this one.
Dynamic draws keep clear of the low band that people like to choose from, as upstream's do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from env_core.apiserver import errors
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.store import Store
from env_core.objects.problems import Problem, invalid
from env_core.world import Object

CLUSTER_CIDR = "10.96.0.0/16"
NODE_PORT_MIN, NODE_PORT_MAX = 30000, 32767
_NETWORK = (10 << 24) | (96 << 16)
_SIZE = 1 << 16
_IP_BAND = 256
_PORT_BAND = 86
_TAKEN_PORT = "provided port is already allocated"
_WRONG_PORT = (
    f"provided port is not in the valid range. The range of valid ports is {NODE_PORT_MIN}-{NODE_PORT_MAX}"
)


def _needs_node_port(spec: Object) -> bool:
    kind = spec.get("type")
    is_balanced = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    return kind == "NodePort" or is_balanced


def _needs_health_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _others(attributes: Attributes) -> Iterator[Object]:
    body = attributes.object
    assert body is not None
    own = (body["metadata"].get("namespace", ""), body["metadata"].get("name", ""))
    for service in attributes.store.list("services"):
        if (service["metadata"]["namespace"], service["metadata"]["name"]) != own:
            yield service


def _node_ports(service: Object) -> Iterator[int]:
    spec = service["spec"]
    for port in spec.get("ports") or ():
        if port.get("nodePort"):
            yield port["nodePort"]
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def _taken_ports(attributes: Attributes) -> set[int]:
    return {port for service in _others(attributes) for port in _node_ports(service)}


def _taken_addresses(store: Store) -> set[str]:
    return {
        address for service in store.list("services") for address in service["spec"].get("clusterIPs") or ()
    }


@lru_cache(maxsize=4096)
def _offset(address: str) -> int | None:
    """Return the place of an address in the cluster's range, None when it lies outside or is none."""
    parts = address.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    number = 0
    for part in parts:
        number = (number << 8) | int(part)
    offset = number - _NETWORK
    return offset if 0 <= offset < _SIZE else None


def _free_address(attributes: Attributes) -> str:
    stream = attributes.streams.stream("cluster-ips")
    taken = _taken_addresses(attributes.store)
    for low, high in ((_IP_BAND + 1, _SIZE - 2), (1, _IP_BAND)):
        for _ in range(2 * (high - low + 1)):
            number = _NETWORK + stream.between(low, high)
            address = f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            if address not in taken:
                return address
    raise errors.internal("failed to allocate a serviceIP: range is full")


def _free_port(attributes: Attributes, taken: set[int]) -> int:
    stream = attributes.streams.stream("node-ports")
    split = NODE_PORT_MIN + _PORT_BAND
    for low, high in ((split, NODE_PORT_MAX), (NODE_PORT_MIN, split - 1)):
        if any(port not in taken for port in range(low, high + 1)):
            port = stream.between(low, high)
            while port in taken:
                port = stream.between(low, high)
            return port
    raise errors.internal("failed to allocate a nodePort: range is full")


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    old_spec = (attributes.old or {}).get("spec") or {}
    spec = dict(body.get("spec") or {})
    if spec.get("type") != "ExternalName":
        _give_address(attributes, spec, old_spec)
    if _needs_node_port(spec) and spec.get("ports"):
        spec["ports"] = _with_node_ports(attributes, spec["ports"], old_spec)
    if _needs_health_port(spec) and not spec.get("healthCheckNodePort"):
        if old_spec.get("healthCheckNodePort") and _needs_health_port(old_spec):
            spec["healthCheckNodePort"] = old_spec["healthCheckNodePort"]
        else:
            used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
            spec["healthCheckNodePort"] = _free_port(attributes, _taken_ports(attributes) | used)
    return body if spec == body.get("spec") else {**body, "spec": spec}


def _give_address(attributes: Attributes, spec: Object, old_spec: Object) -> None:
    if spec.get("clusterIP") or spec.get("clusterIPs"):
        return
    if old_spec.get("clusterIP") and old_spec.get("type") != "ExternalName":
        return  # The registry keeps the address that the client left out.
    address = _free_address(attributes)
    spec["clusterIP"], spec["clusterIPs"] = address, [address]


def _with_node_ports(attributes: Attributes, ports: list[Object], old_spec: Object) -> list[Object]:
    if all(port.get("nodePort") for port in ports):
        return ports
    before = (old_spec.get("ports") or ()) if _needs_node_port(old_spec) else ()
    known = {port.get("name") or "": port.get("nodePort") for port in before}
    given = {port["nodePort"]: port.get("protocol", "TCP") for port in ports if port.get("nodePort")}
    taken = _taken_ports(attributes) | set(given)
    by_number: dict[tuple[int, str], int] = {}
    done: list[Object] = []
    for port in ports:
        number, protocol = port.get("nodePort"), port.get("protocol") or "TCP"
        if not number:
            number = known.get(port.get("name") or "")
            if number in given:
                number = None
        if not number:
            # One port number over two protocols shares one node port.
            shared = [
                found
                for (listed, other), found in by_number.items()
                if listed == port.get("port") and other != protocol
            ]
            number = shared[0] if shared else _free_port(attributes, taken)
        taken.add(number)
        by_number[(port.get("port", 0), protocol)] = number
        done.append(port if port.get("nodePort") == number else {**port, "nodePort": number})
    return done


def _validate(attributes: Attributes) -> None:
    body = attributes.object
    assert body is not None
    spec = body["spec"]
    problems = _address_problems(attributes, spec) or _port_problems(attributes, spec)
    if problems:
        kind = attributes.kind
        raise errors.invalid(kind.group, kind.kind, body["metadata"]["name"], problems)


def _address_problems(attributes: Attributes, spec: Object) -> list[Problem]:
    addresses = spec.get("clusterIPs") or []
    if not addresses or addresses == ["None"]:
        return []
    address = addresses[0]
    if address in (((attributes.old or {}).get("spec") or {}).get("clusterIPs") or ()):
        return []
    if _offset(address) is None:
        why = "the provided network does not match the current range"
        if attributes.options.dry_run:
            why = (
                f"the provided IP ({address}) is not in the valid range. "
                f"The range of valid IPs is {CLUSTER_CIDR}"
            )
    elif any(address in (service["spec"].get("clusterIPs") or ()) for service in _others(attributes)):
        why = "provided IP is already allocated"
    else:
        return []
    return [invalid("spec.clusterIPs", addresses, f"failed to allocate IP {address}: {why}")]


def _port_problems(attributes: Attributes, spec: Object) -> list[Problem]:
    ports = spec.get("ports") or ()
    if not any(port.get("nodePort") for port in ports):
        return []
    kept = {port.get("nodePort") for port in ((attributes.old or {}).get("spec") or {}).get("ports") or ()}
    taken = _taken_ports(attributes)
    for index, port in enumerate(ports):
        number = port.get("nodePort")
        if not number or number in kept:
            continue
        field = f"spec.ports[{index}].nodePort"
        # A dry run looks only for ports that are taken (tests/golden/l2/defaults.jsonl.gz, id svc-err-np).
        if not attributes.options.dry_run and not NODE_PORT_MIN <= number <= NODE_PORT_MAX:
            return [invalid(field, number, _WRONG_PORT)]
        if number in taken:
            return [invalid(field, number, _TAKEN_PORT)]
    return []


ADMISSION = Admission(
    name="ServiceAddresses",
    order=1000,
    operations=("CREATE", "UPDATE"),
    resources=("services",),
    mutate=_mutate,
    validate=_validate,
    source="tests/golden/l2/flows/svc-nodeport.json.gz; tests/golden/l2/defaults.jsonl.gz, id svc-err-ip",
)
