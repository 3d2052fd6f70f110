"""How `kubectl describe node` shows a node, its pods and what they take of it.

Source: k8s.io/kubectl pkg/describe describeNode; tests/golden/l0/describe.jsonl.gz.
"""

from __future__ import annotations

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    annotations_lines,
    labels_lines,
    rfc1123z,
    translate_age,
    write_events,
)
from env_core.kinds._node_pod_resources import Amounts, added, pod_limits, pod_requests
from env_core.objects import goformat, quantity
from env_core.objects.quantity import ZERO, Quantity
from env_core.world import Object

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"
_LEASE_NAMESPACE = "kube-node-lease"
_POOLS_MAX = 10
_INFO = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
)
_STANDARD = ("cpu", "memory", "ephemeral-storage")
# What Go's conversion of an infinite or undefined float to int64 gives on amd64.
_INT64_MIN = -(2**63)


def node_roles(node: Object) -> list[str]:
    """Return the roles that a node's labels name, sorted."""
    labels = node["metadata"].get("labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    roles.add(labels.get(_ROLE_LABEL, ""))
    return sorted(role for role in roles if role)


def taint_text(taint: Object) -> str:
    """Return "key=value:Effect" with what there is of it."""
    key, value, effect = taint.get("key", ""), taint.get("value") or "", taint.get("effect") or ""
    text = f"{key}={value}" if value else str(key)
    return f"{text}:{effect}" if value or effect else text


def describe_node(node: Object, reader: Reader, show_events: bool) -> str:
    """Return the text of a node."""
    name = node["metadata"]["name"]
    running = f"spec.nodeName={name},status.phase!=Failed,status.phase!=Succeeded"
    pods = reader.list("pods", "", field_selector=running)
    events = _events(node, reader) if show_events else None
    slices = reader.list("resourceslices.resource.k8s.io", "", field_selector=f"spec.nodeName={name}")
    lease = reader.get("leases.coordination.k8s.io", _LEASE_NAMESPACE, name)
    writer = LineWriter()
    _write_heading(writer, node)
    _write_lease(writer, lease, name)
    _write_status(writer, node)
    _write_slices(writer, slices)
    _write_info(writer, node)
    _write_pods(writer, node, pods, reader.now_ms)
    _write_allocated(writer, node, pods)
    write_events(writer, events, reader.now_ms)
    return writer.text()


def _events(node: Object, reader: Reader) -> list[Object]:
    """Return events that name the node by its uid, then those whose uid is its name (the kubelet's)."""
    by_name = {**node, "metadata": {**node["metadata"], "uid": node["metadata"]["name"]}}
    return [*reader.events(node), *reader.events(by_name)]


def _write_heading(writer: LineWriter, node: Object) -> None:
    metadata, spec = node["metadata"], node.get("spec") or {}
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"Roles:\t{','.join(node_roles(node)) or NONE}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"CreationTimestamp:\t{rfc1123z(metadata.get('creationTimestamp'))}")
    taints = sorted(
        spec.get("taints") or (), key=lambda each: f"{each.get('effect', '')},{each.get('key', '')}"
    )
    for index, text in enumerate([taint_text(taint) for taint in taints] or [NONE]):
        writer.line(0, f"{'' if index else 'Taints:'}\t{text}")
    writer.line(0, f"Unschedulable:\t{goformat.scalar_text(bool(spec.get('unschedulable')))}")


def _write_lease(writer: LineWriter, lease: Object | None, name: str) -> None:
    if lease is None:
        writer.line(0, f'Lease:\tFailed to get lease: leases.coordination.k8s.io "{name}" not found')
        return
    spec = lease.get("spec") or {}
    writer.line(0, "Lease:")
    holder = spec.get("holderIdentity")
    writer.line(1, f"HolderIdentity:\t{'<unset>' if holder is None else holder}")
    for title, field in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        writer.line(1, f"{title}:\t{rfc1123z(spec[field]) if spec.get(field) else '<unset>'}")


def _write_status(writer: LineWriter, node: Object) -> None:
    status = node.get("status") or {}
    if status.get("conditions"):
        writer.line(0, "Conditions:")
        writer.line(1, "Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage")
        writer.line(1, "----\t------\t-----------------\t------------------\t------\t-------")
        for each in status["conditions"]:
            times = [rfc1123z(each.get("lastHeartbeatTime")), rfc1123z(each.get("lastTransitionTime"))]
            cells = [each.get("type", ""), each.get("status", ""), *times, each.get("reason", "")]
            writer.line(1, " \t".join([*cells, each.get("message", "")]))
    writer.line(0, "Addresses:")
    for address in status.get("addresses") or ():
        writer.line(1, f"{address.get('type', '')}:\t{address.get('address', '')}")
    for title, field in (("Capacity", "capacity"), ("Allocatable", "allocatable")):
        amounts = status.get(field)
        if amounts:
            writer.line(0, f"{title}:")
            for name in sorted(amounts):
                writer.line(1, f"{name}:\t{quantity.canonical(str(amounts[name]))}")


def _write_slices(writer: LineWriter, slices: list[Object]) -> None:
    pools: dict[tuple[str, str], list[int]] = {}
    for each in slices:
        spec = each.get("spec") or {}
        counts = pools.setdefault((spec.get("driver", ""), (spec.get("pool") or {}).get("name", "")), [0, 0])
        counts[0] += 1
        counts[1] += len(spec.get("devices") or ())
    if not pools:
        return
    writer.line(0, "Node-Local ResourceSlices:")
    writer.line(1, "Driver\tPool\tSlices\tDevices")
    writer.line(1, "------\t----\t------\t-------")
    for driver, pool in sorted(pools, key="/".join)[:_POOLS_MAX]:
        count, devices = pools[driver, pool]
        writer.line(1, f"{driver}\t{pool}\t{count}\t{devices}")
    if len(pools) > _POOLS_MAX:
        writer.line(1, f"...and {len(pools) - _POOLS_MAX} more pools")


def _write_info(writer: LineWriter, node: Object) -> None:
    spec, info = node.get("spec") or {}, (node.get("status") or {}).get("nodeInfo") or {}
    writer.line(0, "System Info:")
    for title, field in _INFO:
        writer.line(1, f"{title}:\t{info.get(field, '')}")
    if spec.get("podCIDR"):
        writer.line(0, f"PodCIDR:\t{spec['podCIDR']}")
    if spec.get("podCIDRs"):
        writer.line(0, f"PodCIDRs:\t{','.join(spec['podCIDRs'])}")
    if spec.get("providerID"):
        writer.line(0, f"ProviderID:\t{spec['providerID']}")


def _allocatable(node: Object) -> Object:
    status = node.get("status") or {}
    amounts: Object = status.get("allocatable") or status.get("capacity") or {}
    return amounts


def _of(amounts: Object, name: str) -> Quantity:
    return quantity.parse(str(amounts[name])) if name in amounts else ZERO


def _share(part: int, whole: int, without: int) -> int:
    """Return the percentage, cut to an integer; `without` where there is nothing to divide by."""
    return int(part / whole * 100) if whole else without


def _write_pods(writer: LineWriter, node: Object, pods: list[Object], now_ms: int) -> None:
    writer.line(0, f"Non-terminated Pods:\t({len(pods)} in total)")
    writer.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge")
    writer.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---")
    allocatable = _allocatable(node)
    cpus, memory = _of(allocatable, "cpu").milli_value(), _of(allocatable, "memory").value()
    for pod in pods:
        amounts = (pod_requests(pod, use_status=True), pod_limits(pod, use_status=True))
        processor = [(each.get("cpu", ZERO), each.get("cpu", ZERO).milli_value(), cpus) for each in amounts]
        storage = [(each.get("memory", ZERO), each.get("memory", ZERO).value(), memory) for each in amounts]
        cells = [
            f"{shown} ({_share(part, whole, _INT64_MIN)}%)" for shown, part, whole in (*processor, *storage)
        ]
        metadata = pod["metadata"]
        age = translate_age(metadata.get("creationTimestamp"), now_ms)
        writer.line(1, "\t".join((metadata.get("namespace", ""), metadata["name"], "", *cells, age)))


def _write_allocated(writer: LineWriter, node: Object, pods: list[Object]) -> None:
    writer.line(0, "Allocated resources:")
    writer.line(1, "(Total limits may be over 100 percent, i.e., overcommitted.)")
    writer.line(1, "Resource\tRequests\tLimits")
    writer.line(1, "--------\t--------\t------")
    requests: Amounts = {}
    limits: Amounts = {}
    for pod in pods:
        requests = added(requests, pod_requests(pod))
        limits = added(limits, pod_limits(pod))
    allocatable = _allocatable(node)
    huge = sorted(name for name in allocatable if name.startswith("hugepages-"))
    for name in (*_STANDARD, *huge):
        whole = _of(allocatable, name)
        cells = [
            _allocated_cell(amounts.get(name, ZERO), whole, is_cpu=name == "cpu")
            for amounts in (requests, limits)
        ]
        writer.line(1, "\t".join((name, *cells)))
    for name in sorted(set(allocatable) - set(huge) - set(_STANDARD) - {"pods"}):
        writer.line(1, f"{name}\t{requests.get(name, ZERO)}\t{limits.get(name, ZERO)}")


def _allocated_cell(amount: Quantity, whole: Quantity, *, is_cpu: bool) -> str:
    part, all_of_it = (
        (amount.milli_value(), whole.milli_value()) if is_cpu else (amount.value(), whole.value())
    )
    return f"{amount} ({_share(part, all_of_it, 0)}%)"
