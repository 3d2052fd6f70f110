"""Node objects as a kubelet registers them, their leases, and what a node's end and return do.

Source: k8s.io/kubernetes pkg/kubelet/{kubelet_node_status.go,nodestatus}, pkg/util/node lease controller, 1.37;
shapes in tests/golden/kubelet/nodes.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from env_core.node import dns, eviction, node_status
from env_core.node._host import HANDLER, SECOND_MS, Host
from env_core.node._records import NodeRecord, Settings
from env_core.objects import quantity
from env_core.sim import ids
from env_core.sim.timefmt import rfc3339, rfc3339_micro
from env_core.world import Object

KUBELET_VERSION: Final = "v1.37.2"
RUNTIME_VERSION: Final = "containerd://2.1.4"
LEASES: Final = "leases.coordination.k8s.io"
LEASE_NAMESPACE: Final = "kube-node-lease"
RENEW_MS: Final = 10_000
REPORT_MS: Final = 300_000
RESERVED_MEMORY: Final = 100 << 20
STORAGE_BYTES: Final = 100 << 30

FIRST_REPORT_MS: Final = 330
"""From a new node's registration to the report that it is ready (nodes.jsonl.gz): its CSINode must be there."""
NOT_INITIALIZED: Final = "CSINode is not yet initialized"


def join(
    host: Host,
    name: str,
    *,
    cpu: str,
    memory: str,
    labels: dict[str, str] | None = None,
    taints: Sequence[Object] = (),
    pods: int = 110,
    settings: Settings | None = None,
    is_new: bool = False,
    network_problem: str = "",
) -> Object:
    """Register a node and its lease; returns the Node object.

    A node that `is_new` registers now, with the events of a kubelet that starts; others have been there before.
    """
    number = len(host.nodes)
    address = f"10.0.0.{11 + number}"
    pod_cidr = f"10.244.{number}.0/24"
    now_ms = host.now_ms
    component = host.component(name)
    stream = component.stream("node", name)
    memory_bytes = quantity.to_bytes(memory)
    record = NodeRecord(
        name=name,
        number=number,
        address=address,
        pod_cidr=pod_cidr,
        cpu_millis=quantity.to_milli(cpu),
        memory_bytes=memory_bytes - RESERVED_MEMORY,
        storage_bytes=STORAGE_BYTES * 9 // 10,
        pods_max=pods,
        joined_ms=now_ms,
        relist_ms=stream.below(SECOND_MS),
        tick_ms=stream.below(SECOND_MS),
        settings=settings if settings is not None else Settings(),
        evict_ms=(now_ms + stream.below(SECOND_MS)) % eviction.ROUND_MS,
        network_problem=network_problem,
    )
    host.nodes[name] = record
    amounts = {
        "cpu": cpu,
        "ephemeral-storage": "100Gi",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": memory,
        "pods": str(pods),
    }
    available = {
        **amounts,
        "ephemeral-storage": str(record.storage_bytes),
        "memory": f"{record.memory_bytes >> 10}Ki",
    }
    boot = ids.uid(stream)
    body: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                **(labels or {}),
            },
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
        },
        "spec": {"podCIDR": pod_cidr, "podCIDRs": [pod_cidr], **({"taints": list(taints)} if taints else {})},
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "capacity": amounts,
            "allocatable": available,
            "conditions": _first_conditions(record, now_ms, is_new=is_new),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": boot,
                "containerRuntimeVersion": RUNTIME_VERSION,
                "kernelVersion": "6.12.48",
                "kubeProxyVersion": "",
                "kubeletVersion": KUBELET_VERSION,
                "machineID": ids.hex_id(stream, 32),
                "operatingSystem": "linux",
                "osImage": "Debian GNU/Linux 13 (trixie)",
                "systemUUID": ids.uid(stream),
            },
            "runtimeHandlers": [
                {"name": each, "features": {"recursiveReadOnlyMounts": True, "userNamespaces": True}}
                for each in ("", "runc")
            ],
            "features": {"supplementalGroupsPolicy": True},
        },
    }
    if is_new:
        _starting(host, record, times=2)
    created = component.api.create("nodes", "", body)
    if is_new:
        host.wake(now_ms + FIRST_REPORT_MS, "node", name)
    lease: Object = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": name, "uid": created["metadata"]["uid"]}
            ],
        },
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": rfc3339_micro(now_ms)},
    }
    component.api.create(LEASES, LEASE_NAMESPACE, lease)
    return created


def _first_conditions(record: NodeRecord, now_ms: int, *, is_new: bool) -> list[Object]:
    built, _ = node_status.conditions(record, None, now_ms)
    if is_new:
        said = f"[{built[-1]['message']}, {NOT_INITIALIZED}]" if record.network_problem else NOT_INITIALIZED
        built[-1] = {**built[-1], "status": "False", "reason": "KubeletNotReady", "message": said}
    return built


def _starting(host: Host, record: NodeRecord, times: int) -> None:
    """Record that a kubelet starts, before it knows its node's uid."""
    node_status.event(host, record, "Normal", "Starting", "Starting kubelet.", has_uid=False)
    dns.check_host(host, record)
    for _ in range(times):
        for row in node_status.rows(record, host.now_ms)[:-1]:
            node_status.state_event(host, record, row.event, has_uid=False)


def _last(record: NodeRecord, now_ms: int, period_ms: int) -> int:
    until_ms = now_ms if record.stopped_ms is None else record.stopped_ms
    return record.joined_ms + (until_ms - record.joined_ms) // period_ms * period_ms


def viewed_node(host: Host, node: Object, now_ms: int) -> Object:
    """Return a Node with the heartbeats of its kubelet's last report."""
    record = host.node(node["metadata"]["name"])
    if record is None or record.stopped_ms is not None:
        return node
    clocks = host.runtime.clocks
    at_ms = max(_last(record, now_ms, REPORT_MS), record.reported_ms)
    stamp = rfc3339(clocks.shown_ms(record.name, at_ms))
    is_set_back = clocks.was_set(record.name) and at_ms >= clocks.changed_ms(record.name)
    status = node.get("status") or {}
    conditions = status.get("conditions") or ()
    if not conditions or (
        not is_set_back and all(each.get("lastHeartbeatTime", "") >= stamp for each in conditions)
    ):
        return node
    fresh = [
        {
            **each,
            "lastHeartbeatTime": stamp if is_set_back else max(each.get("lastHeartbeatTime") or "", stamp),
        }
        for each in conditions
    ]
    return {**node, "status": {**status, "conditions": fresh}}


def viewed_lease(host: Host, lease: Object, now_ms: int) -> Object:
    """Return a node's Lease as its kubelet last renewed it."""
    metadata = lease["metadata"]
    if metadata.get("namespace") != LEASE_NAMESPACE:
        return lease
    record = host.node(metadata["name"])
    if record is None or record.stopped_ms is not None:
        return lease
    renewed_ms = host.runtime.clocks.shown_ms(record.name, _last(record, now_ms, RENEW_MS))
    return {**lease, "spec": {**lease["spec"], "renewTime": rfc3339_micro(renewed_ms)}}


def freeze(host: Host, record: NodeRecord, *, is_down: bool) -> NodeRecord:
    """Stop a node's clockwork: its stored lease and heartbeats are from now on its last ones."""
    now_ms = host.now_ms
    lease = host.store.get(LEASES, LEASE_NAMESPACE, record.name)
    node = host.store.get("nodes", "", record.name)
    component = host.component(record.name)
    if node is not None:
        component.api.update_status("nodes", "", viewed_node(host, node, now_ms))
    if lease is not None:
        component.api.update(LEASES, LEASE_NAMESPACE, viewed_lease(host, lease, now_ms))
    stopped = record._replace(stopped_ms=now_ms, is_down=is_down)
    host.nodes[record.name] = stopped
    return stopped


def thaw(host: Host, record: NodeRecord) -> NodeRecord:
    """Let a kubelet start again: a fresh lease, its conditions as they are now, and what it says of them."""
    now_ms = host.now_ms
    was_down = record.is_down
    started = record._replace(
        stopped_ms=None, is_down=False, joined_ms=now_ms, pulls_until_ms=now_ms, observed=(), pressures=()
    )
    host.nodes[record.name] = started
    component = host.component(record.name)
    _forget_events(host, record.name)
    lease = host.store.get(LEASES, LEASE_NAMESPACE, record.name)
    if lease is not None:
        spec = {**lease["spec"], "renewTime": rfc3339_micro(host.clock_ms(record.name))}
        component.api.update(LEASES, LEASE_NAMESPACE, {**lease, "spec": spec})
    node = host.store.get("nodes", "", record.name)
    if node is None:
        return started
    ahead_ms = host.runtime.clocks.ahead_ms(record.name, now_ms)
    fresh, states = node_status.conditions(started, node, now_ms, ahead_ms)
    _starting(host, started, times=2 if was_down else 0)
    every = [row.event for row in node_status.rows(started, now_ms)]
    for _ in range(2 if was_down else 1):
        for state in every if "NodeReady" in states else every[:-1]:
            node_status.state_event(host, started, state)
    component.api.update_status("nodes", "", {**node, "status": {**node["status"], "conditions": fresh}})
    eviction.wake(host, started)
    return started


def _forget_events(host: Host, node: str) -> None:
    """A kubelet that starts has counted no events yet."""
    for name in ("events/seen", "events/similar", "events/spam"):
        table = host.state.table(name)
        for key in [key for key in table if key[:2] == (HANDLER, node)]:
            table.pop(key)
