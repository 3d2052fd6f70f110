"""Node objects as a kubelet registers them, their leases, and what a node's end and return do.

Source: k8s.io/kubernetes pkg/kubelet/{kubelet_node_status.go,nodestatus}, pkg/util/node lease controller, 1.37;
shapes in tests/golden/kubelet/nodes.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from env_core.node._host import SECOND_MS, Host
from env_core.node._records import NodeRecord
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

_HEALTHY: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def join(
    host: Host,
    name: str,
    *,
    cpu: str,
    memory: str,
    labels: dict[str, str] | None = None,
    taints: Sequence[Object] = (),
    pods: int = 110,
) -> Object:
    """Register a node and its lease; returns the Node object."""
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
    heartbeat = rfc3339(now_ms)
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
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "lastHeartbeatTime": heartbeat,
                    "lastTransitionTime": heartbeat,
                    "reason": reason,
                    "message": message,
                }
                for kind, status, reason, message in _HEALTHY
            ],
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
    created = component.api.create("nodes", "", body)
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


def _last(record: NodeRecord, now_ms: int, period_ms: int) -> int:
    until_ms = now_ms if record.stopped_ms is None else record.stopped_ms
    return record.joined_ms + (until_ms - record.joined_ms) // period_ms * period_ms


def viewed_node(host: Host, node: Object, now_ms: int) -> Object:
    """Return a Node with the heartbeats of its kubelet's last report."""
    record = host.node(node["metadata"]["name"])
    if record is None or record.stopped_ms is not None:
        return node
    stamp = rfc3339(_last(record, now_ms, REPORT_MS))
    status = node.get("status") or {}
    conditions = status.get("conditions") or ()
    if not conditions or all(each.get("lastHeartbeatTime", "") >= stamp for each in conditions):
        return node
    fresh = [
        {**each, "lastHeartbeatTime": max(each.get("lastHeartbeatTime") or "", stamp)} for each in conditions
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
    return {**lease, "spec": {**lease["spec"], "renewTime": rfc3339_micro(_last(record, now_ms, RENEW_MS))}}


def freeze(host: Host, record: NodeRecord) -> NodeRecord:
    """Stop a node's clockwork: its stored lease and heartbeats are from now on its last ones."""
    now_ms = host.now_ms
    lease = host.store.get(LEASES, LEASE_NAMESPACE, record.name)
    node = host.store.get("nodes", "", record.name)
    component = host.component(record.name)
    if node is not None:
        component.api.update_status("nodes", "", viewed_node(host, node, now_ms))
    if lease is not None:
        component.api.update(LEASES, LEASE_NAMESPACE, viewed_lease(host, lease, now_ms))
    stopped = record._replace(stopped_ms=now_ms)
    host.nodes[record.name] = stopped
    return stopped


def thaw(host: Host, record: NodeRecord) -> NodeRecord:
    """Let a stopped node report again: a fresh lease and healthy conditions."""
    now_ms = host.now_ms
    started = record._replace(stopped_ms=None, joined_ms=now_ms, pulls_until_ms=now_ms)
    host.nodes[record.name] = started
    component = host.component(record.name)
    lease = host.store.get(LEASES, LEASE_NAMESPACE, record.name)
    if lease is not None:
        spec = {**lease["spec"], "renewTime": rfc3339_micro(now_ms)}
        component.api.update(LEASES, LEASE_NAMESPACE, {**lease, "spec": spec})
    node = host.store.get("nodes", "", record.name)
    if node is not None:
        stamp = rfc3339(now_ms)
        old = {each["type"]: each for each in (node.get("status") or {}).get("conditions") or ()}
        fresh = []
        for kind, status, reason, message in _HEALTHY:
            before = old.get(kind)
            since = (
                before["lastTransitionTime"] if before is not None and before["status"] == status else stamp
            )
            fresh.append(
                {
                    "type": kind,
                    "status": status,
                    "lastHeartbeatTime": stamp,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                }
            )
        others = [each for kind, each in old.items() if kind not in {row[0] for row in _HEALTHY}]
        component.api.update_status(
            "nodes", "", {**node, "status": {**node["status"], "conditions": [*fresh, *others]}}
        )
    return started
