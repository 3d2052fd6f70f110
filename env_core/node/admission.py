"""Whether a kubelet takes a pod that was bound to its node.

Source: k8s.io/kubernetes pkg/kubelet/lifecycle/predicate.go and pkg/kubelet/sysctl, 1.37; texts in
tests/golden/kubelet (admit-*, sec-sysctl-forbidden).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from env_core.node import eviction
from env_core.node._host import Host
from env_core.node._records import FINISHED, NodeRecord, PodRecord
from env_core.node.conditions import is_sidecar
from env_core.objects import meta, quantity
from env_core.objects.node_matching import wants_node
from env_core.world import Object

SAFE_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
    }
)


class Refusal(NamedTuple):
    """Why a pod is not taken."""

    reason: str
    message: str


class Requests(NamedTuple):
    """What a pod takes of its node."""

    cpu_millis: int
    memory_bytes: int
    storage_bytes: int


def requests_of(pod: Object) -> Requests:
    """Return a pod's requests: regular containers and sidecars together, or the largest init container."""
    spec = pod["spec"]
    own = (spec.get("resources") or {}).get("requests") or {}
    regular = [_amounts(container) for container in spec["containers"]]
    sidecars: list[Requests] = []
    peak = Requests(0, 0, 0)
    for container in spec.get("initContainers") or ():
        amounts = _amounts(container)
        if is_sidecar(container):
            sidecars.append(amounts)
            amounts = Requests(0, 0, 0)
        peak = _larger(peak, _total([amounts, *sidecars]))
    found = _larger(_total([*regular, *sidecars]), peak)
    overhead = _amounts({"resources": {"requests": spec.get("overhead") or {}}})
    if own:
        fixed = _amounts({"resources": {"requests": own}})
        found = Requests(
            fixed.cpu_millis if "cpu" in own else found.cpu_millis,
            fixed.memory_bytes if "memory" in own else found.memory_bytes,
            found.storage_bytes,
        )
    return _total([found, overhead])


def _amounts(container: Object) -> Requests:
    requests = (container.get("resources") or {}).get("requests") or {}
    if not requests:
        return Requests(0, 0, 0)
    return Requests(
        quantity.to_milli(requests["cpu"]) if "cpu" in requests else 0,
        quantity.to_bytes(requests["memory"]) if "memory" in requests else 0,
        quantity.to_bytes(requests["ephemeral-storage"]) if "ephemeral-storage" in requests else 0,
    )


def _total(rows: Iterable[Requests]) -> Requests:
    listed = list(rows)
    return Requests(*(sum(row[index] for row in listed) for index in range(3)))


def _larger(one: Requests, other: Requests) -> Requests:
    return Requests(*(max(pair) for pair in zip(one, other, strict=True)))


def refusal(host: Host, record: PodRecord, pod: Object, node: NodeRecord, wanted: Requests) -> Refusal | None:
    """Return why the node does not take the pod, None when it does."""
    if not node.settings.has_apparmor and _wants_apparmor(pod):
        return Refusal("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host")
    pressed = _pressure_refusal(pod, node)
    if pressed is not None:
        return pressed
    used_cpu, used_memory, count = node.used
    if count + 1 > node.pods_max:
        return _out_of("pods", 1, count, node.pods_max)
    for name, amount, used, capacity in (
        ("cpu", wanted.cpu_millis, used_cpu, node.cpu_millis),
        ("memory", wanted.memory_bytes, used_memory, node.memory_bytes),
        ("ephemeral-storage", wanted.storage_bytes, 0, node.storage_bytes),
    ):
        if amount and amount + used > capacity:
            return _out_of(name, amount, used, capacity)
    spec = pod["spec"]
    if not _matches_node(host, record.node, spec):
        return Refusal(
            "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
        )
    if _has_port_conflict(host, record, pod):
        return Refusal(
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        )
    for sysctl in (spec.get("securityContext") or {}).get("sysctls") or ():
        if sysctl["name"] not in SAFE_SYSCTLS:
            return Refusal("SysctlForbidden", f'forbidden sysctl: "{sysctl["name"]}" not allowlisted')
    return None


def _wants_apparmor(pod: Object) -> bool:
    spec = pod["spec"]
    rows = [spec, *spec["containers"], *(spec.get("initContainers") or ())]
    profiles = [(row.get("securityContext") or {}).get("appArmorProfile") or {} for row in rows]
    return any(profile.get("type") in ("Localhost", "RuntimeDefault") for profile in profiles)


def _pressure_refusal(pod: Object, node: NodeRecord) -> Refusal | None:
    """What the eviction manager says: a node under pressure takes in only what it would not end first."""
    kinds = [kind for kind, _ in node.pressures]
    if not kinds or eviction.is_critical(pod):
        return None
    if kinds == ["MemoryPressure"]:
        qos = (pod.get("status") or {}).get("qosClass")
        tolerations = pod["spec"].get("tolerations") or ()
        if qos != "BestEffort" or any(
            tolerates(toleration, "node.kubernetes.io/memory-pressure") for toleration in tolerations
        ):
            return None
    return Refusal("Evicted", f"The node had condition: [{' '.join(kinds)}]. ")


def tolerates(toleration: Object, key: str) -> bool:
    """Whether a toleration covers a NoSchedule taint without a value."""
    if toleration.get("effect") not in (None, "", "NoSchedule"):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", key)
    return toleration.get("key") == key and not toleration.get("value")


def _out_of(name: str, wanted: int, used: int, capacity: int) -> Refusal:
    return Refusal(
        f"OutOf{name}",
        f"Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, capacity: {capacity}",
    )


def _matches_node(host: Host, name: str, spec: Object) -> bool:
    node = host.store.get("nodes", "", name)
    return wants_node(spec, name, meta.labels(node) if node is not None else {})


def _host_ports(pod: Object) -> list[tuple[str, str, int]]:
    return [
        (port.get("protocol") or "TCP", port.get("hostIP") or "0.0.0.0", port["hostPort"])
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _has_port_conflict(host: Host, record: PodRecord, pod: Object) -> bool:
    wanted = _host_ports(pod)
    if not wanted:
        return False
    for other in host.store.indexed("node", record.node):
        uid = other["metadata"]["uid"]
        known = host.record(uid)
        if uid == record.uid or known is None or known.worker == FINISHED:
            continue
        for protocol, address, port in _host_ports(other):
            for own_protocol, own_address, own_port in wanted:
                any_address = "0.0.0.0" in (address, own_address)
                if port == own_port and protocol == own_protocol and (any_address or address == own_address):
                    return True
    return False
