"""What a sync must do to a pod: which containers to stop and which to start.

Source: k8s.io/kubernetes pkg/kubelet/kuberuntime/kuberuntime_manager.go (computePodActions) and
kuberuntime_container.go (computeInitContainerActions), 1.37.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.node import probes, resizing
from env_core.node._host import Host
from env_core.node._records import ContainerRecord, PodRecord
from env_core.node.conditions import is_sidecar
from env_core.node.statuses import should_restart
from env_core.world import Object


class Stop(NamedTuple):
    """A container to stop: the text of its Killing event, and the probe that failed."""

    name: str
    message: str
    probe: str = ""


class Actions(NamedTuple):
    """What to do: stop everything, make a sandbox, stop some, start some (in order)."""

    stops_all: bool = False
    makes_sandbox: bool = False
    stops: tuple[Stop, ...] = ()
    starts: tuple[str, ...] = ()


def _policy(pod: Object) -> str:
    policy: str = pod["spec"].get("restartPolicy", "Always")
    return policy


def _has_succeeded(record: ContainerRecord) -> bool:
    instance = record.current
    return instance is not None and not instance.is_running and instance.exit_code == 0


def compute(host: Host, record: PodRecord, pod: Object) -> Actions:
    """Return what the next step of a pod's sync is."""
    spec = pod["spec"]
    sandbox = record.sandbox
    if sandbox is None or not sandbox.is_ready:
        return _fresh(record, pod)
    init = spec.get("initContainers") or ()
    starts: list[str] = []
    stops: list[Stop] = []
    if init:
        is_initialized, fails = _init(host, record, pod, starts, stops)
        if fails:
            return Actions(stops_all=True)
        if not is_initialized:
            return Actions(stops=tuple(stops), starts=tuple(starts))
    kept = 0
    regular: list[str] = []
    for container in spec["containers"]:
        name = container["name"]
        instance = record.container(name).current
        if instance is None or not instance.is_running:
            if should_restart(container, pod, record.container(name)):
                regular.append(name)
            continue
        must_restart = _policy(pod) != "Never"
        probe = ""
        if instance.specified_image != container["image"]:
            message = f"Container {name} definition changed"
            must_restart = True
        elif probes.result(host, record, name, probes.LIVENESS) == probes.FAILURE:
            message, probe = f"Container {name} failed liveness probe", probes.LIVENESS
        elif probes.result(host, record, name, probes.STARTUP) == probes.FAILURE:
            message, probe = f"Container {name} failed startup probe", probes.STARTUP
        elif resizing.restarts(record, container):
            # What must be started anew for its new size runs again whatever the policy says.
            stops.append(Stop(name, f"Container {name} resize requires restart"))
            regular.append(name)
            continue
        else:
            kept += 1
            continue
        if must_restart:
            message += ", will be restarted"
            regular.append(name)
        stops.append(Stop(name, message, probe))
    if not kept and not regular:
        return Actions(stops_all=True)
    for container in spec.get("ephemeralContainers") or ():
        if record.container(container["name"]).current is None:
            starts.insert(0, container["name"])
    return Actions(stops=tuple(stops), starts=(*starts, *regular))


def _fresh(record: PodRecord, pod: Object) -> Actions:
    """The pod needs a (new) sandbox."""
    spec = pod["spec"]
    sandbox = record.sandbox
    has_run = any(record.container(container["name"]).current for container in spec["containers"])
    if _policy(pod) == "Never" and sandbox is not None and has_run:
        return Actions(stops_all=True)
    starts = [
        container["name"]
        for container in spec["containers"]
        if not (_policy(pod) == "OnFailure" and _has_succeeded(record.container(container["name"])))
    ]
    if not starts:
        return Actions(stops_all=True)
    init = spec.get("initContainers") or ()
    if init:
        return Actions(stops_all=sandbox is not None, makes_sandbox=True, starts=(init[0]["name"],))
    return Actions(stops_all=sandbox is not None, makes_sandbox=True, starts=tuple(starts))


def _init(
    host: Host, record: PodRecord, pod: Object, starts: list[str], stops: list[Stop]
) -> tuple[bool, bool]:
    """Add what init containers need; return whether the pod is initialised, and whether it has failed for good."""
    spec = pod["spec"]
    init = spec["initContainers"]
    is_initialized = any(
        (instance := record.container(container["name"]).current) is not None and instance.is_running
        for container in spec["containers"]
    )
    is_past = is_initialized
    wanted: list[str] = []
    for index in range(len(init) - 1, -1, -1):
        container = init[index]
        name = container["name"]
        sidecar = is_sidecar(container)
        known = record.container(name)
        instance = None if known.is_purged else known.current
        if instance is None:
            if is_past and sidecar:
                wanted.append(name)
            continue
        if is_past and not sidecar:
            continue
        if instance.is_running:
            if sidecar:
                is_initialized = (
                    _running_sidecar(host, record, init, index, wanted, stops, is_past=is_past)
                    or is_initialized
                )
        elif sidecar:
            wanted.append(name)
        elif instance.exit_code != 0:
            if _policy(pod) == "Never" and not should_restart(container, pod, record.container(name)):
                return False, True
            wanted.append(name)
        elif index == len(init) - 1:
            is_initialized = True
        else:
            wanted.append(init[index + 1]["name"])
        is_past = True
    if not is_past:
        wanted.append(init[0]["name"])
    starts.extend(reversed(wanted))
    return is_initialized, False


def _running_sidecar(
    host: Host,
    record: PodRecord,
    init: list[Object],
    index: int,
    wanted: list[str],
    stops: list[Stop],
    *,
    is_past: bool,
) -> bool:
    """Look at a running sidecar; return whether it is the last one and has started."""
    container = init[index]
    name = container["name"]
    if container.get("startupProbe"):
        found = probes.result(host, record, name, probes.STARTUP)
        if found == probes.FAILURE:
            stops.append(Stop(name, f"Init container {name} failed startup probe", probes.STARTUP))
            wanted.append(name)
            return False
        if found != probes.SUCCESS:
            return False
    is_last = index == len(init) - 1
    if not is_last and not is_past:
        wanted.append(init[index + 1]["name"])
    if (
        container.get("livenessProbe")
        and probes.result(host, record, name, probes.LIVENESS) == probes.FAILURE
    ):
        stops.append(Stop(name, f"Init container {name} failed liveness probe", probes.LIVENESS))
        wanted.append(name)
    return is_last
