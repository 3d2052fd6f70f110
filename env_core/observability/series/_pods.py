"""What kube-state-metrics says of pods.

Source: https://github.com/kubernetes/kube-state-metrics/blob/main/docs/metrics/workload/pod-metrics.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.objects import conditions, quantity
from env_core.observability.series._sampling import Row
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

_PHASES: Final = ("Pending", "Succeeded", "Failed", "Running", "Unknown")
_STATES: Final = ("running", "waiting", "terminated")
_REASONS: Final = ("Evicted", "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError")
_UNITS: Final = {"cpu": "core", "memory": "byte", "ephemeral-storage": "byte"}


def seconds(text: str | None) -> float | None:
    """Return a timestamp in seconds since the epoch."""
    return parse_ms(text) / 1000 if text else None


def unit_of(resource: str) -> str:
    """Return the unit that a resource's amounts are told in."""
    if resource.startswith("hugepages-"):
        return "byte"
    return _UNITS.get(resource, "integer")


def label_name(resource: str) -> str:
    """Return a resource's name as a label's value."""
    return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in resource)


def owner_labels(metadata: Object) -> Iterator[dict[str, str]]:
    """Yield the labels of each owner; those of none when there is none."""
    owners = metadata.get("ownerReferences") or ()
    if not owners:
        yield {"owner_kind": "", "owner_name": "", "owner_is_controller": ""}
    for owner in owners:
        yield {
            "owner_kind": owner["kind"],
            "owner_name": owner["name"],
            "owner_is_controller": "true" if owner.get("controller") else "false",
        }


def condition_rows(name: str, labels: dict[str, str], value: str, label: str) -> Iterator[Row]:
    """Yield one row for each status that a condition may have."""
    for status in ("true", "false", "unknown"):
        yield Row(name, {**labels, label: status}, float(value.lower() == status))


def pod_rows(pod: Object) -> Iterator[Row]:
    """Yield a pod's rows."""
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    own = {"namespace": metadata["namespace"], "pod": metadata["name"], "uid": metadata["uid"]}
    node = spec.get("nodeName", "")
    owners = metadata.get("ownerReferences") or ()
    controller: Object = next((each for each in owners if each.get("controller")), {})
    info = {
        "host_ip": status.get("hostIP", ""),
        "pod_ip": status.get("podIP", ""),
        "node": node,
        "created_by_kind": controller.get("kind", ""),
        "created_by_name": controller.get("name", ""),
        "priority_class": spec.get("priorityClassName", ""),
        "host_network": "true" if spec.get("hostNetwork") else "false",
    }
    yield Row("kube_pod_info", {**own, **info}, 1)
    for name, text in (
        ("kube_pod_created", metadata.get("creationTimestamp")),
        ("kube_pod_start_time", status.get("startTime")),
        ("kube_pod_deletion_timestamp", metadata.get("deletionTimestamp")),
    ):
        at = seconds(text)
        if at is not None:
            yield Row(name, own, at)
    for owner in owner_labels(metadata):
        yield Row("kube_pod_owner", {**own, **owner}, 1)
    policy = {"type": spec.get("restartPolicy", "Always")}
    yield Row("kube_pod_restart_policy", {**own, **policy}, 1)
    phase = status.get("phase", "")
    if phase:
        for each in _PHASES:
            is_unknown = status.get("reason") == "NodeLost"
            now = "Unknown" if is_unknown else phase
            yield Row("kube_pod_status_phase", {**own, "phase": each}, float(each == now))
    for type_, name in (("Ready", "kube_pod_status_ready"), ("PodScheduled", "kube_pod_status_scheduled")):
        if conditions.get(pod, type_) is not None:
            yield from condition_rows(name, own, conditions.status_of(pod, type_), "condition")
    scheduled = conditions.get(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("reason") == "Unschedulable":
        yield Row("kube_pod_status_unschedulable", own, 1)
    for each in _REASONS:
        yield Row("kube_pod_status_reason", {**own, "reason": each}, float(status.get("reason") == each))
    yield from _containers(pod, own, node)


def _containers(pod: Object, own: dict[str, str], node: str) -> Iterator[Row]:
    spec, status = pod["spec"], pod.get("status") or {}
    for prefix, specs, statuses in (
        ("kube_pod_init_container", "initContainers", "initContainerStatuses"),
        ("kube_pod_container", "containers", "containerStatuses"),
    ):
        for container in spec.get(specs) or ():
            labels = {**own, "container": container["name"]}
            resources = container.get("resources") or {}
            for field in ("requests", "limits"):
                for resource, text in (resources.get(field) or {}).items():
                    more = {"node": node, "resource": label_name(resource), "unit": unit_of(resource)}
                    name = f"{prefix}_resource_{field}"
                    yield Row(name, {**labels, **more}, quantity.to_milli(text) / 1000)
        for container in status.get(statuses) or ():
            yield from _container(prefix, container, {**own, "container": container["name"]}, spec)


def _container(prefix: str, container: Object, labels: dict[str, str], spec: Object) -> Iterator[Row]:
    declared = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    image = next((each.get("image", "") for each in declared if each["name"] == container["name"]), "")
    info = {
        "image": container.get("image", ""),
        "image_spec": image,
        "image_id": container.get("imageID", ""),
        "container_id": container.get("containerID", ""),
    }
    yield Row(f"{prefix}_info", {**labels, **info}, 1)
    state = container.get("state") or {}
    for each in _STATES:
        yield Row(f"{prefix}_status_{each}", labels, float(each in state))
    for each in ("waiting", "terminated"):
        reason = (state.get(each) or {}).get("reason")
        if reason:
            yield Row(f"{prefix}_status_{each}_reason", {**labels, "reason": reason}, 1)
    last = (container.get("lastState") or {}).get("terminated")
    if last:
        reason = {"reason": last.get("reason", "")}
        yield Row(f"{prefix}_status_last_terminated_reason", {**labels, **reason}, 1)
        yield Row(f"{prefix}_status_last_terminated_exitcode", labels, last.get("exitCode", 0))
    started = seconds((state.get("running") or {}).get("startedAt"))
    if started is not None:
        yield Row(f"{prefix}_state_started", labels, started)
    yield Row(f"{prefix}_status_ready", labels, float(bool(container.get("ready"))))
    yield Row(f"{prefix}_status_restarts_total", labels, container.get("restartCount", 0))
