"""Nodes."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import NONE
from env_core.kinds._node_describe import describe_node, node_roles
from env_core.kinds._node_validation import node_problems, node_update_problems
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.world import Object

_UNKNOWN = "<unknown>"


def _default(obj: Object) -> Object:
    status = obj.get("status") or {}
    if status.get("capacity") and status.get("allocatable") is None:
        return {**obj, "status": {**status, "allocatable": status["capacity"]}}
    return obj


def _with_networks(obj: Object) -> Object:
    """Return the node with podCIDR and podCIDRs saying the same; the single one wins."""
    spec = obj.get("spec") or {}
    single, several = spec.get("podCIDR"), spec.get("podCIDRs") or []
    if single and (not several or several[0] != single):
        return {**obj, "spec": {**spec, "podCIDRs": [single]}}
    return {**obj, "spec": {**spec, "podCIDR": several[0]}} if several and not single else obj


def _prepare_update(new: Object, old: Object) -> Object:
    return _with_networks(kept_status(new, old))


def _info(obj: Object) -> Object:
    info: Object = (obj.get("status") or {}).get("nodeInfo") or {}
    return info


def _is_unschedulable(obj: Object) -> str:
    return "true" if (obj.get("spec") or {}).get("unschedulable") else "false"


def _cell_status(obj: Object, _now_ms: int) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    ready = next((each.get("status") for each in reversed(conditions) if each.get("type") == "Ready"), None)
    text = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{text},SchedulingDisabled" if (obj.get("spec") or {}).get("unschedulable") else text


def _cell_roles(obj: Object, _now_ms: int) -> str:
    return ",".join(node_roles(obj)) or NONE


def _cell_version(obj: Object, _now_ms: int) -> str:
    return str(_info(obj).get("kubeletVersion") or "")


def _address(obj: Object, kind: str) -> str:
    addresses = (obj.get("status") or {}).get("addresses") or ()
    return next((str(each.get("address", "")) for each in addresses if each.get("type") == kind), NONE)


def _cell_internal_ip(obj: Object, _now_ms: int) -> str:
    return _address(obj, "InternalIP")


def _cell_external_ip(obj: Object, _now_ms: int) -> str:
    return _address(obj, "ExternalIP")


def _cell_image(obj: Object, _now_ms: int) -> str:
    return str(_info(obj).get("osImage") or _UNKNOWN)


def _cell_kernel(obj: Object, _now_ms: int) -> str:
    info = _info(obj)
    kernel, architecture = info.get("kernelVersion") or _UNKNOWN, info.get("architecture")
    return f"{kernel} ({architecture})" if architecture else str(kernel)


def _cell_runtime(obj: Object, _now_ms: int) -> str:
    return str(_info(obj).get("containerRuntimeVersion") or _UNKNOWN)


KIND = Kind(
    group="",
    version="v1",
    kind="Node",
    plural="nodes",
    singular="node",
    short_names=("no",),
    is_namespaced=False,
    subresources=("proxy", "status"),
    # A kubelet creates its node with a status; `prepare_update` keeps other writes away from it.
    has_status=False,
    default=_default,
    prepare_create=_with_networks,
    prepare_update=_prepare_update,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=node_problems,
    validate_update=node_update_problems,
    validate_status=node_update_problems,
    field_labels=("metadata.name", "spec.unschedulable"),
    field_values={"spec.unschedulable": _is_unschedulable},
    columns=(
        NAME,
        Column("Status", _cell_status),
        Column("Roles", _cell_roles),
        AGE,
        Column("Version", _cell_version),
        Column("Internal-IP", _cell_internal_ip, priority=1),
        Column("External-IP", _cell_external_ip, priority=1),
        Column("OS-Image", _cell_image, priority=1),
        Column("Kernel-Version", _cell_kernel, priority=1),
        Column("Container-Runtime", _cell_runtime, priority=1),
    ),
    describe=describe_node,
    source="k8s.io/api core/v1 Node, 1.37; tests/golden/l0",
)
