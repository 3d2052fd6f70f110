"""The columns of `kubectl get pods`."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.kind import Column
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import NONE, translate_age
from env_core.world import Object

_EMPTY: Object = {}

_COMPLETED = {
    "Succeeded": [
        {
            "type": "Completed",
            "status": "True",
            "reason": "Succeeded",
            "message": "The pod has completed successfully.",
        }
    ],
    "Failed": [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}],
}


def row_conditions(pod: Object) -> list[Object]:
    """Return the conditions of the pod's table row: one for a pod that has ended, none for others."""
    return _COMPLETED.get((pod.get("status") or _EMPTY).get("phase", ""), [])


class _Summaries:
    """Remembers what was last worked out, for the three columns that need it one after another.

    Objects are never changed once stored, so the pod is recognised by identity. Pod and result are replaced
    together, in one assignment.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Object, tuple[str, str, int, str]] = ({}, ("", "", 0, ""))

    def of(self, pod: Object) -> tuple[str, str, int, str]:
        """Return `summarise(pod)`."""
        last = self._last
        if pod is not last[0]:
            self._last = last = (pod, summarise(pod))
        return last[1]


_summary = _Summaries()


def summarise(pod: Object) -> tuple[str, str, int, str]:
    """Return what the columns Ready, Status and Restarts show: (ready, status, restarts, last restart).

    Source: kubernetes pkg/printers/internalversion printPod; tests/golden/l0/printers.jsonl.gz.
    """
    spec = pod.get("spec") or _EMPTY
    status = pod.get("status") or _EMPTY
    phase = status.get("phase", "")
    reason = status.get("reason") or phase
    conditions = status.get("conditions") or ()
    if "nodeName" not in spec and any(map(_is_gate, conditions)):
        reason = "SchedulingGated"
    total = len(spec.get("containers", ()))
    ready = restarts = 0
    last = ""
    is_initializing = False
    if "initContainers" in spec:
        sidecars = {
            item["name"] for item in spec["initContainers"] or () if item.get("restartPolicy") == "Always"
        }
        total += len(sidecars)
        init = _initializing(spec, status, sidecars)
        ready, restarts, last = init.ready, init.sidecar_restarts, init.sidecar_last
        if init.reason:
            reason = init.reason
            is_initializing = True
            if not _is_true(conditions, "Initialized"):
                restarts, last = init.restarts, init.last
            else:
                is_initializing = False
    if not is_initializing:
        is_running = False
        failure = ""
        for container in reversed(status.get("containerStatuses") or ()):
            state = container.get("state", _EMPTY)
            if container.get("restartCount"):
                restarts += container["restartCount"]
            if container.get("lastState"):
                last = max(last, _finished(container))
            if "running" in state:
                if container.get("ready"):
                    is_running = True
                    ready += 1
            elif "terminated" in state:
                reason = _ended(state["terminated"])
                if state["terminated"].get("exitCode"):
                    failure = reason
            elif "waiting" in state and state["waiting"].get("reason"):
                reason = state["waiting"]["reason"]
        if reason == "Completed":
            if is_running:
                reason = "Running" if _is_true(conditions, "Ready") else "NotReady"
            elif failure:
                reason = failure
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif phase not in ("Failed", "Succeeded"):
            reason = "Terminating"
    return f"{ready}/{total}", reason, restarts, last


def _is_gate(condition: Object) -> bool:
    return condition.get("reason") == "SchedulingGated" and condition["type"] == "PodScheduled"


def _ended(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _finished(container: Object) -> str:
    """Return when the container's run before this one ended, "" when there was none."""
    terminated = (container.get("lastState") or _EMPTY).get("terminated") or _EMPTY
    return terminated.get("finishedAt") or ""


class _Init:
    """What a pod's init containers add to its row; `reason` is "" when they are done."""

    __slots__ = ("last", "ready", "reason", "restarts", "sidecar_last", "sidecar_restarts")

    def __init__(self) -> None:
        self.reason = self.last = self.sidecar_last = ""
        self.ready = self.restarts = self.sidecar_restarts = 0


def _initializing(spec: Object, status: Object, sidecars: set[str]) -> _Init:
    """Read init containers up to the first that is not done; sidecars that have started count as done."""
    init = _Init()
    for position, container in enumerate(status.get("initContainerStatuses") or ()):
        state = container.get("state") or _EMPTY
        finished = ((container.get("lastState") or _EMPTY).get("terminated") or _EMPTY).get(
            "finishedAt"
        ) or ""
        is_sidecar = container["name"] in sidecars
        init.restarts += container.get("restartCount", 0)
        init.last = max(init.last, finished)
        if is_sidecar:
            init.sidecar_restarts += container.get("restartCount", 0)
            init.sidecar_last = max(init.sidecar_last, finished)
        terminated = state.get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            init.ready += 1 if container.get("ready") else 0
            continue
        waiting = (state.get("waiting") or _EMPTY).get("reason")
        if terminated is not None:
            init.reason = f"Init:{_ended(terminated)}"
        elif waiting and waiting != "PodInitializing":
            init.reason = f"Init:{waiting}"
        else:
            init.reason = f"Init:{position}/{len(spec['initContainers'])}"
        break
    return init


def _is_true(conditions: Any, kind: str) -> bool:
    return any(condition["type"] == kind and condition.get("status") == "True" for condition in conditions)


def _cell_ready(pod: Object, _now_ms: int) -> str:
    return _summary.of(pod)[0]


def _cell_status(pod: Object, _now_ms: int) -> str:
    return _summary.of(pod)[1]


def _cell_restarts(pod: Object, now_ms: int) -> str:
    _, _, restarts, last = _summary.of(pod)
    return f"{restarts} ({translate_age(last, now_ms)} ago)" if restarts and last else str(restarts)


def _cell_ip(pod: Object, _now_ms: int) -> str:
    addresses = (pod.get("status") or _EMPTY).get("podIPs")
    return (addresses[0].get("ip") if addresses else "") or NONE


def _cell_node(pod: Object, _now_ms: int) -> str:
    return (pod.get("spec") or _EMPTY).get("nodeName") or NONE


def _cell_nominated_node(pod: Object, _now_ms: int) -> str:
    return (pod.get("status") or _EMPTY).get("nominatedNodeName") or NONE


def _cell_readiness_gates(pod: Object, _now_ms: int) -> str:
    gates = (pod.get("spec") or _EMPTY).get("readinessGates")
    if not gates:
        return NONE
    first: dict[str, str] = {}
    for condition in (pod.get("status") or _EMPTY).get("conditions") or ():
        first.setdefault(condition["type"], condition.get("status", ""))
    return f"{sum(first.get(gate['conditionType']) == 'True' for gate in gates)}/{len(gates)}"


COLUMNS = (
    NAME,
    Column("Ready", _cell_ready),
    Column("Status", _cell_status),
    Column("Restarts", _cell_restarts),
    AGE,
    Column("IP", _cell_ip, priority=1),
    Column("Node", _cell_node, priority=1),
    Column("Nominated Node", _cell_nominated_node, priority=1),
    Column("Readiness Gates", _cell_readiness_gates, priority=1),
)
