"""In-place resize: what of a pod's new resources its node grants, what its containers have, and what is said of it.

Source: k8s.io/kubernetes pkg/kubelet/allocation (allocation_manager.go) and pkg/kubelet/kuberuntime (doPodResizeAction),
1.37; times, conditions and texts in tests/golden/kubelet (resize-*). Not recorded: what is said of a
resize that the node could never grant (the API refuses it first).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from env_core.node import admission
from env_core.node._host import Host
from env_core.node._records import PodRecord, Resize
from env_core.objects import quantity
from env_core.programs import Container
from env_core.world import Object

PENDING: Final = "PodResizePending"
IN_PROGRESS: Final = "PodResizeInProgress"
_RESIZABLE: Final = ("cpu", "memory")


def resources_of(pod: Object) -> dict[str, Object]:
    """Return the resources of each container that can be resized, by name."""
    spec = pod["spec"]
    return {
        container["name"]: _plain(container.get("resources") or {})
        for container in (*spec["containers"], *(spec.get("initContainers") or ()))
    }


def _plain(resources: Object) -> Object:
    return {key: resources[key] for key in ("limits", "requests") if resources.get(key)}


def consider(host: Host, record: PodRecord, pod: Object) -> PodRecord:
    """Return the record after a look at what the pod asks for now: granted if the node has it, else put off."""
    if record.allocated is None:
        return record._replace(allocated=resources_of(pod))
    seen = (record.status or {}).get("observedGeneration")
    if record.resize is None and seen == pod["metadata"].get("generation", 0):
        return record
    wanted = resources_of(pod)
    if wanted == record.allocated:
        return record
    node = host.node(record.node)
    assert node is not None, "pods have a node of ours"
    asked = admission.requests_of(pod)
    own_cpu, own_memory = record.use
    others = (node.used[0] - own_cpu, node.used[1] - own_memory)
    for name, amount, used, capacity in (
        ("cpu", asked.cpu_millis, others[0], node.cpu_millis),
        ("memory", asked.memory_bytes, others[1], node.memory_bytes),
    ):
        if amount + used > capacity:
            return _put_off(host, record, pod, name, amount, used, capacity)
    host.nodes[node.name] = node._replace(
        used=(others[0] + asked.cpu_millis, others[1] + asked.memory_bytes, node.used[2])
    )
    record = record._replace(
        allocated=wanted,
        use=(asked.cpu_millis, asked.memory_bytes),
        resize=Resize(IN_PROGRESS, "", "", host.stamp(record.node), host.stamp(record.node)),
    )
    _event(host, record, pod, "Normal", "ResizeStarted", "started")
    return record


def _put_off(
    host: Host, record: PodRecord, pod: Object, name: str, amount: int, used: int, capacity: int
) -> PodRecord:
    is_infeasible = amount > capacity
    reason = "Infeasible" if is_infeasible else "Deferred"
    message = (
        f"Node didn't have enough resource: {name}, requested: {amount}, used: {used}, capacity: {capacity}"
    )
    if is_infeasible:
        message = f"Node didn't have enough capacity: {name}, requested: {amount}, capacity: {capacity}"
    known = record.resize
    if known is not None and known.kind == PENDING and (known.reason, known.message) == (reason, message):
        return record
    stamp = host.stamp(record.node)
    record = record._replace(resize=Resize(PENDING, reason, message, stamp, stamp))
    _event(
        host,
        record,
        pod,
        "Warning",
        f"Resize{reason}",
        f"OutOf{name}",
        wanted=resources_of(pod),
        error=message,
    )
    return record


def _event(
    host: Host,
    record: PodRecord,
    pod: Object,
    kind: str,
    reason: str,
    what: str,
    *,
    wanted: Mapping[str, Object] | None = None,
    error: str = "",
) -> None:
    amounts = wanted if wanted is not None else record.allocated or {}
    names = [container["name"] for container in pod["spec"]["containers"]]
    body: Object = {
        "containers": [
            {
                "name": name,
                "resources": {side: dict(sorted(rows.items())) for side, rows in amounts[name].items()},
            }
            for name in names
            if amounts.get(name)
        ],
        "generation": pod["metadata"].get("generation", 0),
    }
    if error:
        body["error"] = error
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    host.event(record, pod, kind, reason, f"Pod resize {what}: {text}")


def condition(record: PodRecord, generation: int) -> Object | None:
    """Return the condition that tells of a resize, None without one."""
    resize = record.resize
    if resize is None:
        return None
    built: Object = {
        "type": resize.kind,
        "observedGeneration": generation,
        "status": "True",
        "lastProbeTime": resize.probed,
        "lastTransitionTime": resize.since,
    }
    if resize.reason:
        built["reason"] = resize.reason
    if resize.message:
        built["message"] = resize.message
    return built


def restarts(record: PodRecord, container: Object) -> bool:
    """Whether a running container must be started anew to get what it was granted."""
    changed = _changed(record, container["name"])
    return any(
        policy["resourceName"] in changed and policy.get("restartPolicy") == "RestartContainer"
        for policy in container.get("resizePolicy") or ()
    )


def _changed(record: PodRecord, name: str) -> set[str]:
    granted = (record.allocated or {}).get(name)
    instance = record.container(name).current
    if granted is None or instance is None or not instance.is_running or instance.resources is None:
        return set()
    return {
        resource
        for resource in _RESIZABLE
        for side in ("limits", "requests")
        if (granted.get(side) or {}).get(resource) != (instance.resources.get(side) or {}).get(resource)
    }


def actuate(host: Host, record: PodRecord, pod: Object) -> tuple[PodRecord, bool]:
    """Give running containers what they were granted; returns the record and whether all went well.

    A memory limit below what a container uses is refused.
    """
    if record.resize is None or record.resize.kind != IN_PROGRESS:
        return record, True
    stamp = host.stamp(record.node)
    for container in pod["spec"]["containers"]:
        name = container["name"]
        changed = _changed(record, name)
        if not changed:
            continue
        granted = (record.allocated or {})[name]
        instance = record.container(name).current
        run = host.runtime.run(record.uid, name)
        assert instance is not None, "only what runs was changed"
        limit = (granted.get("limits") or {}).get("memory")
        used = run.launch.memory_bytes if run is not None else 0
        before = (instance.resources or {}).get("limits") or {}
        shrinks = (
            limit is not None
            and "memory" in before
            and quantity.to_bytes(str(limit)) < quantity.to_bytes(str(before["memory"]))
        )
        if shrinks and quantity.to_bytes(str(limit)) < used:
            why = (
                f'cannot decrease memory limits: attempting to set container "{name}" memory limit '
                f"({quantity.to_bytes(str(limit))}) below current usage ({used})"
            )
            if record.resize.message != why:
                _event(host, record, pod, "Warning", "ResizeError", "error", error=why)
            return record._replace(
                resize=record.resize._replace(reason="Error", message=why, probed=stamp)
            ), False
        record = record.change_container(name, current=instance._replace(resources=granted))
        if run is not None:
            host.runtime.put(replace(run, container=_sized(run.container, granted)))
        record = record._replace(has_changed=True)
    return record, True


def _sized(container: Container, granted: Object) -> Container:
    limits, requests = granted.get("limits") or {}, granted.get("requests") or {}
    return replace(
        container,
        cpu_limit_millis=quantity.to_milli(str(limits["cpu"])) if "cpu" in limits else None,
        cpu_request_millis=quantity.to_milli(str(requests["cpu"])) if "cpu" in requests else 0,
        memory_limit_bytes=quantity.to_bytes(str(limits["memory"])) if "memory" in limits else None,
    )


def finish(host: Host, record: PodRecord, pod: Object) -> PodRecord:
    """Return the record of a pod whose resize is over, if every container has what it was granted."""
    if record.resize is None or record.resize.kind != IN_PROGRESS or record.resize.reason:
        return record
    if any(_changed(record, container["name"]) for container in pod["spec"]["containers"]):
        return record
    _event(host, record, pod, "Normal", "ResizeCompleted", "completed")
    return record._replace(resize=None)


def room_made(host: Host, node: str) -> None:
    """Let the pods of a node whose resize was put off ask again."""
    for record in host.pods.values():
        if record.node == node and record.resize is not None and record.resize.kind == PENDING:
            host.wake(host.now_ms + 1, "sync", record.uid)
