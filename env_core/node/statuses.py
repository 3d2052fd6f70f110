"""Pod and container statuses: what a kubelet reports of the runs that it knows.

Source: k8s.io/kubernetes pkg/kubelet/kubelet_pods.go (convertToAPIContainerStatuses, generateAPIPodStatus) and
pkg/kubelet/status/status_manager.go (TerminatePod), 1.37; shapes in tests/golden/kubelet/timelines.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from env_core.node import conditions, resizing
from env_core.node._host import Host
from env_core.node._records import ContainerRecord, Instance, PodRecord
from env_core.node.probes import is_ready, is_started
from env_core.objects import quantity
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

LOST = "The container could not be located when the pod was terminated"
DELETED = "The container could not be located when the pod was deleted.  The container used to be Running"
_UNKNOWN: Object = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": LOST,
    "startedAt": None,
    "finishedAt": None,
}
DEADLINE = "DeadlineExceeded"
DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline"


def should_restart(container: Object, pod: Object, record: ContainerRecord) -> bool:
    """Whether the next sync starts a container that does not run."""
    if "deletionTimestamp" in pod["metadata"]:
        return False
    instance = record.current
    if instance is None:
        return True
    if instance.is_running:
        return False
    return conditions.restarts_after(container, pod, instance.exit_code)


def _state(instance: Instance) -> Object:
    if instance.is_running:
        return {"running": {"startedAt": rfc3339(instance.started_ms)}}
    assert instance.finished_ms is not None
    ended: Object = {"exitCode": instance.exit_code, "reason": instance.reason}
    if instance.message:
        ended["message"] = instance.message
    ended["startedAt"] = rfc3339(instance.started_ms)
    ended["finishedAt"] = rfc3339(instance.finished_ms)
    ended["containerID"] = f"containerd://{instance.container_id}"
    return {"terminated": ended}


def _mounts(container: Object) -> list[Object]:
    mounts = []
    for mount in container.get("volumeMounts") or ():
        shown = {"name": mount["name"], "mountPath": mount["mountPath"]}
        if mount.get("readOnly"):
            shown["readOnly"] = True
            shown["recursiveReadOnly"] = mount.get("recursiveReadOnly") or "Disabled"
        mounts.append(shown)
    return mounts


def container_status(
    pod: Object,
    container: Object,
    record: ContainerRecord,
    old: Object | None,
    waiting_reason: str,
    *,
    is_init: bool = False,
    allocated: Object | None = None,
) -> Object:
    """Return one container's status, without `started` and `ready`, which are the probes'.

    An init container that ended well does not show why it waits, a sidecar no more than others.
    """
    name = container["name"]
    instance = record.current
    resources = container.get("resources") or {}
    mounts = _mounts(container)
    status: Object
    if instance is None:
        status = {"name": name, "state": {"waiting": {"reason": waiting_reason}}, "lastState": {}}
        restarts = 0
        if old is not None:
            if "terminated" in old["state"]:
                return {**old}
            restarts = old.get("restartCount", 0)
            status["lastState"] = old.get("lastState") or {}
            if "running" in old["state"]:
                status["lastState"] = {"terminated": {**_UNKNOWN, "message": DELETED}}
        status |= {
            "ready": False,
            "restartCount": restarts,
            "image": container["image"],
            "imageID": "",
            "started": False,
        }
    else:
        last = record.previous
        status = {
            "name": name,
            "state": _state(instance),
            "lastState": _state(last) if last is not None else {},
            "ready": False,
            "restartCount": instance.restarts,
            "image": instance.image,
            "imageID": instance.image_id,
            "containerID": f"containerd://{instance.container_id}",
            "started": False,
        }
        requests = (resources if allocated is None else allocated).get("requests")
        if requests:
            status["allocatedResources"] = requests
        given = resources if instance.resources is None else instance.resources
        status["resources"] = {key: given[key] for key in ("limits", "requests") if given.get(key)}
    if mounts:
        status["volumeMounts"] = mounts
    if instance is not None:
        status["user"] = {"linux": {"uid": instance.user, "gid": instance.user}}
    has_passed = is_init and instance is not None and not instance.is_running and instance.exit_code == 0
    if record.waiting is not None and not has_passed and should_restart(container, pod, record):
        reason, message = record.waiting
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        waiting = {"reason": reason}
        if message:
            waiting["message"] = message
        status["state"] = {"waiting": waiting}
    return status


def _by_name(status: Object | None, key: str) -> dict[str, Object]:
    if not status:
        return {}
    return {each["name"]: each for each in status.get(key) or ()}


def generate(host: Host, record: PodRecord, pod: Object, *, is_ended: bool = False) -> Object:
    """Return the status that the kubelet derives now from what it has seen of the runtime."""
    spec = pod["spec"]
    old: Object = record.status if record.status is not None else pod.get("status") or {}
    init = spec.get("initContainers") or ()
    default = "PodInitializing" if init else "ContainerCreating"
    init_statuses = _container_statuses(
        host, record, pod, init, _by_name(old, "initContainerStatuses"), default, is_init=True
    )
    statuses = _container_statuses(
        host, record, pod, spec["containers"], _by_name(old, "containerStatuses"), default, is_init=False
    )
    statuses.sort(key=_name_of)
    by_name = {status["name"]: status for status in (*init_statuses, *statuses)}
    was_initialized = any(
        record.container(container["name"]).current is not None for container in spec["containers"]
    )
    phase = conditions.phase_of(pod, by_name, is_ended=is_ended, was_initialized=was_initialized)
    if not conditions.is_terminal(phase) and conditions.is_terminal(old.get("phase", "")):
        phase = old["phase"]
    reason = message = ""
    if phase == old.get("phase"):
        reason, message = old.get("reason", ""), old.get("message", "")
    if record.is_killed:
        # Its containers' exit codes decide: what ends well on the signal has succeeded, and says no reason.
        if is_ended and phase == "Failed":
            reason, message = record.reason, record.reason_message
    elif record.reason:
        phase, reason, message = "Failed", record.reason, record.reason_message
    now = host.stamp(record.node)
    sandbox = record.sandbox
    others = [
        each for each in pod.get("status", {}).get("conditions") or () if each["type"] not in conditions.OWNED
    ]
    if record.disruption and is_ended:
        others = [each for each in others if each["type"] != "DisruptionTarget"]
        others.append(conditions.disrupted(pod, record.disruption, old.get("conditions") or (), now))
    all_ready = conditions.containers_ready(pod, by_name, phase)
    own = [
        conditions.ready_to_start(
            pod, has_sandbox=sandbox is not None, is_sandbox_ready=sandbox is not None and sandbox.is_ready
        ),
        conditions.initialized(pod, by_name, phase),
        conditions.ready(pod, others, all_ready),
        all_ready,
        conditions.scheduled(pod),
    ]
    resize = resizing.condition(record, pod["metadata"].get("generation", 0))
    if resize is not None:
        own.insert(0, resize)
    node = host.node(record.node)
    address = node.address if node is not None else ""
    status: Object = {
        "observedGeneration": pod["metadata"].get("generation", 0),
        "phase": phase,
        "conditions": [*others, *conditions.with_times(own, old.get("conditions") or (), now)],
    }
    if message:
        status["message"] = message
    if reason:
        status["reason"] = reason
    status["hostIP"] = address
    status["hostIPs"] = [{"ip": address}]
    shown = old.get("podIP", "")
    if sandbox is not None:
        shown = sandbox.address or shown
    if spec.get("hostNetwork"):
        shown = address
    if shown:
        status["podIP"] = shown
        status["podIPs"] = [{"ip": shown}]
    status["startTime"] = old.get("startTime") or rfc3339(record.seen_ms)
    if init_statuses:
        status["initContainerStatuses"] = init_statuses
    status["containerStatuses"] = statuses
    ephemeral = spec.get("ephemeralContainers") or ()
    if ephemeral:
        status["ephemeralContainerStatuses"] = _ephemeral_statuses(record, pod, ephemeral)
    if "qosClass" in pod.get("status", {}):
        status["qosClass"] = pod["status"]["qosClass"]
    status |= pod_resources(pod, record.allocated)
    if record.is_killed:
        status["resources"] = _without_storage(status["resources"])
    return status


def _without_storage(resources: Object) -> Object:
    """What is left of a pod's resources once the kubelet ends it: local storage is not shown (evict-ephemeral-limit)."""
    built = {}
    for side, amounts in resources.items():
        kept = {name: amount for name, amount in amounts.items() if name != "ephemeral-storage"}
        if kept:
            built[side] = kept
    return built


def _name_of(status: Object) -> str:
    name: str = status["name"]
    return name


def _container_statuses(
    host: Host,
    record: PodRecord,
    pod: Object,
    containers: Any,
    old: dict[str, Object],
    default: str,
    *,
    is_init: bool,
) -> list[Object]:
    built = []
    for container in containers:
        name = container["name"]
        status = container_status(
            pod,
            container,
            record.container(name),
            old.get(name),
            default,
            is_init=is_init,
            allocated=(record.allocated or {}).get(name),
        )
        if "running" in status["state"]:
            status["started"] = is_started(host, record, container, old.get(name))
        if is_init and not conditions.is_sidecar(container):
            ended = status["state"].get("terminated")
            status["ready"] = ended is not None and ended.get("exitCode") == 0
        elif status["started"]:
            status["ready"] = is_ready(host, record, container)
        built.append(status)
    return built


def _ephemeral_statuses(record: PodRecord, pod: Object, containers: Any) -> list[Object]:
    built = []
    for container in containers:
        status = container_status(
            pod, container, record.container(container["name"]), None, "ContainerCreating"
        )
        built.append({key: value for key, value in status.items() if key != "started"})
    return built


def pod_resources(pod: Object, allocated: Mapping[str, Object] | None = None) -> Object:
    """Return `allocatedResources` and `resources` of the pod: its own, or the sums over its containers.

    `allocated` are its containers' resources as its node grants them, where that may be something else.
    """
    spec = pod["spec"]
    if allocated is not None:
        containers = [{**each, "resources": allocated.get(each["name"]) or {}} for each in spec["containers"]]
        spec = {**spec, "containers": containers}
    own = spec.get("resources") or {}
    if own:
        requests, limits = own.get("requests") or {}, own.get("limits") or {}
    else:
        requests = _sums(spec["containers"], "requests")
        limits = _sums(spec["containers"], "limits")
    resources = {key: amounts for key, amounts in (("limits", limits), ("requests", requests)) if amounts}
    return ({"allocatedResources": requests} if requests else {}) | {"resources": resources}


def _sums(containers: Any, key: str) -> Object:
    rows = [each["resources"][key] for each in containers if (each.get("resources") or {}).get(key)]
    if not rows:
        return {}
    if key == "limits" and len(rows) < len(containers):
        return {}
    if len(rows) == 1:
        return dict(rows[0])
    names = sorted({name for row in rows for name in row})
    return {name: _sum(tuple(str(row[name]) for row in rows if name in row)) for name in names}


@lru_cache(maxsize=1024)
def _sum(texts: tuple[str, ...]) -> str:
    total = quantity.parse(texts[0])
    for text in texts[1:]:
        total = total + quantity.parse(text)
    return str(total)


def with_container_flag(
    host: Host, record: PodRecord, pod: Object, container: str, **flags: bool
) -> Object | None:
    """Return the generated status with `started` or `ready` of one container set, None if nothing changes.

    What a probe's result writes at once, before the next sync. Source: SetContainerReadiness, SetContainerStartup.
    """
    status = record.status
    if status is None:
        return None
    changed = False
    built = dict(status)
    for key in ("containerStatuses", "initContainerStatuses"):
        rows = []
        for row in status.get(key) or ():
            if row["name"] == container and any(row.get(flag) != value for flag, value in flags.items()):
                row = {**row, **flags}
                changed = True
            rows.append(row)
        if rows:
            built[key] = rows
    if not changed:
        return None
    by_name = {
        row["name"]: row
        for key in ("containerStatuses", "initContainerStatuses")
        for row in built.get(key) or ()
    }
    if "ready" in flags:
        others = [
            each
            for each in pod.get("status", {}).get("conditions") or ()
            if each["type"] not in conditions.OWNED
        ]
        all_ready = conditions.containers_ready(pod, by_name, status["phase"])
        fresh = {"ContainersReady": all_ready, "Ready": conditions.ready(pod, others, all_ready)}
        replaced = [fresh.get(each["type"], each) for each in status["conditions"]]
        built["conditions"] = conditions.with_times(replaced, status["conditions"], host.stamp(record.node))
    return built


def ended_for_good(status: Object) -> Object:
    """Return a status in which every container has ended: what is known of them at the very end of a pod.

    Source: pkg/kubelet/status TerminatePod.
    """
    built = dict(status)
    init = status.get("initContainerStatuses") or ()
    has_run = any(_has_started(row) for row in status.get("containerStatuses") or ())
    if not init or has_run:
        built["containerStatuses"] = [_lost(row) for row in status.get("containerStatuses") or ()]
    if init:
        # The last init containers that never started stay as they are.
        last = max((index for index, row in enumerate(init) if _has_started(row)), default=-1)
        built["initContainerStatuses"] = [
            _lost(row) if index <= last else row for index, row in enumerate(init)
        ]
    if not conditions.is_terminal(built.get("phase", "")):
        built["phase"] = "Failed"
    return built


def _has_started(row: Object) -> bool:
    return "waiting" not in row["state"] or "terminated" in (row.get("lastState") or {})


def _lost(row: Object) -> Object:
    if "terminated" in row["state"]:
        return row
    return {**row, "state": {"terminated": _UNKNOWN}}
