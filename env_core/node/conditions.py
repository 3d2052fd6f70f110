"""The phase and the conditions that a kubelet derives from container statuses.

Source: k8s.io/kubernetes pkg/kubelet (getPhase) and pkg/kubelet/status (generate.go), 1.37; vectors in
tests/golden/l0/pod_phase.jsonl.gz, texts in tests/golden/kubelet/state-texts.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from env_core.world import Object

OWNED = frozenset(
    {
        "PodScheduled",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodReadyToStartContainers",
        "AllContainersRestarting",
        "PodResizePending",
        "PodResizeInProgress",
    }
)
"""Condition types that only the kubelet writes."""

Statuses = Mapping[str, Object]


def is_terminal(phase: str) -> bool:
    """Whether a pod of this phase never runs again."""
    return phase in ("Succeeded", "Failed")


def is_sidecar(container: Object) -> bool:
    """Whether an init container keeps running beside the others."""
    return container.get("restartPolicy") == "Always"


def restarts_after(container: Object, pod: Object, exit_code: int) -> bool:
    """Whether a container is started again after an exit: its own rules and policy, else the pod's policy."""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if codes and (codes.get("operator") == "In") == (exit_code in (codes.get("values") or ())):
            return True
    policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy", "Always")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def phase_of(pod: Object, statuses: Statuses, *, is_ended: bool, was_initialized: bool) -> str:
    """Return a pod's phase from its containers' statuses by name.

    `is_ended` says that the kubelet will start no container of the pod again; `was_initialized`, that a
    regular container has run already, so that sidecars cannot make the pod Pending.
    """
    spec = pod["spec"]
    policy = spec.get("restartPolicy", "Always")
    pending_init = pending_sidecar = failed_init = 0
    unknown = running = waiting = stopped = succeeded = restarting = 0
    for container in spec.get("initContainers") or ():
        status = statuses.get(container["name"])
        state = status["state"] if status else {}
        last = (status.get("lastState") or {}) if status else {}
        if is_sidecar(container):
            if status is None:
                unknown += 1
            elif "running" in state:
                pending_sidecar += not status.get("started")
                running += 1
            elif "terminated" in state:
                pass
            elif "waiting" in state:
                if "terminated" not in last:
                    pending_sidecar += 1
                    waiting += 1
            else:
                pending_sidecar += 1
                unknown += 1
        elif "terminated" in state:
            failed_init += _has_failed(container, pod, state["terminated"])
        elif "waiting" in state and "terminated" in last:
            failed_init += _has_failed(container, pod, last["terminated"])
        else:
            pending_init += 1
    for container in spec["containers"]:
        status = statuses.get(container["name"])
        state = status["state"] if status else {}
        if "running" in state:
            running += 1
        elif "terminated" in state:
            stopped += 1
            code = state["terminated"].get("exitCode", 0)
            succeeded += code == 0
            restarting += _has_own_policy(container) and restarts_after(container, pod, code)
        elif "waiting" in state:
            assert status is not None
            if "terminated" in (status.get("lastState") or {}):
                stopped += 1
                code = status["lastState"]["terminated"].get("exitCode", 0)
                restarting += _has_own_policy(container) and restarts_after(container, pod, code)
            else:
                waiting += 1
        else:
            unknown += 1
    if failed_init and policy == "Never":
        return "Failed"
    if pending_init or (pending_sidecar and not was_initialized) or waiting:
        return "Pending"
    if running and not unknown:
        return "Running"
    if not running and stopped and not unknown:
        if is_ended:
            return "Succeeded" if stopped == succeeded else "Failed"
        if policy == "Always" or restarting:
            return "Running"
        if stopped == succeeded:
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"
    return "Pending"


def _has_own_policy(container: Object) -> bool:
    return bool(container.get("restartPolicy") or container.get("restartPolicyRules"))


def _has_failed(container: Object, pod: Object, ended: Object) -> bool:
    code = ended.get("exitCode", 0)
    return code != 0 and not (_has_own_policy(container) and restarts_after(container, pod, code))


def _condition(kind: str, generation: int, status: str, reason: str = "", message: str = "") -> Object:
    built: Object = {
        "type": kind,
        "observedGeneration": generation,
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": None,
    }
    if reason:
        built["reason"] = reason
    if message:
        built["message"] = message
    return built


def _listed(names: list[str]) -> str:
    return f"[{' '.join(names)}]"


def containers_ready(pod: Object, statuses: Statuses, phase: str) -> Object:
    """Return the condition ContainersReady."""
    spec = pod["spec"]
    generation = pod["metadata"].get("generation", 0)
    unknown: list[str] = []
    unready: list[str] = []
    watched: Iterable[Any] = spec["containers"]
    sidecars = [container for container in spec.get("initContainers") or () if is_sidecar(container)]
    for container in [*sidecars, *watched]:
        status = statuses.get(container["name"])
        if status is None:
            unknown.append(container["name"])
        elif not status.get("ready"):
            unready.append(container["name"])
    if phase == "Succeeded" and not unknown:
        return _condition("ContainersReady", generation, "False", "PodCompleted")
    if phase == "Failed":
        return _condition("ContainersReady", generation, "False", "PodFailed")
    messages = []
    if unknown:
        messages.append(f"containers with unknown status: {_listed(unknown)}")
    if unready:
        messages.append(f"containers with unready status: {_listed(unready)}")
    if messages:
        return _condition("ContainersReady", generation, "False", "ContainersNotReady", ", ".join(messages))
    return _condition("ContainersReady", generation, "True")


def ready(pod: Object, conditions: Iterable[Object], all_ready: Object) -> Object:
    """Return the condition Ready, given ContainersReady and the pod's other conditions (readiness gates)."""
    generation = pod["metadata"].get("generation", 0)
    if all_ready["status"] != "True":
        return {**all_ready, "type": "Ready"}
    by_type = {condition["type"]: condition for condition in conditions}
    messages = []
    for gate in pod["spec"].get("readinessGates") or ():
        kind = gate["conditionType"]
        found = by_type.get(kind)
        if found is None:
            messages.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif found["status"] != "True":
            messages.append(f'the status of pod readiness gate "{kind}" is not "True", but {found["status"]}')
    if messages:
        return _condition("Ready", generation, "False", "ReadinessGatesNotReady", ", ".join(messages))
    return _condition("Ready", generation, "True")


def initialized(pod: Object, statuses: Statuses, phase: str) -> Object:
    """Return the condition Initialized."""
    spec = pod["spec"]
    generation = pod["metadata"].get("generation", 0)
    unknown: list[str] = []
    incomplete: list[str] = []
    for container in spec.get("initContainers") or ():
        status = statuses.get(container["name"])
        if status is None:
            unknown.append(container["name"])
        elif is_sidecar(container):
            if not status.get("started"):
                incomplete.append(container["name"])
        elif not status.get("ready"):
            incomplete.append(container["name"])
    if phase == "Succeeded" and not unknown:
        return _condition("Initialized", generation, "True", "PodCompleted")
    # Once a regular container has started, a restarting sidecar does not make the pod uninitialised again.
    for container in spec["containers"]:
        status = statuses.get(container["name"])
        if status is not None and (
            "waiting" not in status["state"] or "terminated" in (status.get("lastState") or {})
        ):
            return _condition("Initialized", generation, "True")
    messages = []
    if unknown:
        messages.append(f"containers with unknown status: {_listed(unknown)}")
    if incomplete:
        messages.append(f"containers with incomplete status: {_listed(incomplete)}")
    if messages:
        return _condition("Initialized", generation, "False", "ContainersNotInitialized", ", ".join(messages))
    return _condition("Initialized", generation, "True")


def ready_to_start(pod: Object, *, has_sandbox: bool, is_sandbox_ready: bool) -> Object:
    """Return the condition PodReadyToStartContainers."""
    generation = pod["metadata"].get("generation", 0)
    kind = "PodReadyToStartContainers"
    if not has_sandbox:
        return _condition(kind, generation, "False", "PodSandboxNotReady", "no pod sandbox exists")
    if not is_sandbox_ready:
        return _condition(kind, generation, "False", "PodSandboxNotReady", "pod sandbox is not ready")
    return _condition(kind, generation, "True")


def disrupted(pod: Object, message: str, before: Iterable[Object], now: str) -> Object:
    """Return the condition DisruptionTarget of a pod that its kubelet ended."""
    built = _condition(
        "DisruptionTarget", pod["metadata"].get("generation", 0), "True", "TerminationByKubelet", message
    )
    since = next(
        (each.get("lastTransitionTime") for each in before if each["type"] == "DisruptionTarget"), None
    )
    return {**built, "lastTransitionTime": since or now}


def scheduled(pod: Object) -> Object:
    """Return the condition PodScheduled: a pod that a kubelet sees is scheduled."""
    return _condition("PodScheduled", pod["metadata"].get("generation", 0), "True")


def with_times(conditions: list[Object], before: Iterable[Object], now: str) -> list[Object]:
    """Return conditions with their transition times: kept from `before` where the status is the same."""
    old = {condition["type"]: condition for condition in before}
    timed = []
    for condition in conditions:
        if condition.get("lastTransitionTime") is None and condition["type"] in OWNED:
            previous = old.get(condition["type"])
            same = previous is not None and previous["status"] == condition["status"]
            since = previous.get("lastTransitionTime") if same and previous is not None else None
            condition = {**condition, "lastTransitionTime": since or now}
        timed.append(condition)
    return timed


def merged(current: Object, generated: Object, *, may_run: bool) -> Object:
    """Return the status to write: what others wrote is kept, and no pod ends while containers may run.

    Source: pkg/kubelet/status mergePodStatus.
    """
    others = [each for each in current.get("conditions") or () if each["type"] not in OWNED]
    own = [each for each in generated.get("conditions") or () if each["type"] in OWNED]
    disruption = [each for each in generated.get("conditions") or () if each["type"] == "DisruptionTarget"]
    if disruption:
        others = [each for each in others if each["type"] != "DisruptionTarget"] + disruption
    status = {**generated}
    if own or others:
        status["conditions"] = [*others, *own]
    if may_run and is_terminal(generated.get("phase", "")) and not is_terminal(current.get("phase", "")):
        status["phase"] = current.get("phase", "Pending")
        for key in ("reason", "message"):
            status.pop(key, None)
            if key in current:
                status[key] = current[key]
    for key in ("nominatedNodeName", "resize", "resourceClaimStatuses"):
        if key in current and key not in status:
            status[key] = current[key]
    if "qosClass" in current:
        status["qosClass"] = current["qosClass"]
    return status
