"""What pods use of their node's memory and disk, against what they asked for and may use.

Source: k8s.io/kubernetes pkg/kubelet/eviction/helpers.go (podMemoryUsage, podLocalEphemeralStorageUsage,
evictionMessage) and eviction_manager.go (localStorageEviction), 1.37; texts in tests/golden/kubelet (evict-*, mp-*, dp-*);
that of a container over its own limit is a constant in tests/golden/l0 (containerEphemeralStorageMessageFmt).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.node._host import Host
from env_core.node._records import PodRecord
from env_core.objects import quantity
from env_core.programs import Run
from env_core.world import Object

VOLUME_STATS_MS: Final = 48_000
"""How long it takes until what is in a volume shows: its size is counted now and then (evict-emptydir-limit)."""


def binary(amount: int) -> str:
    """Return an amount as a quantity of Ki, Mi, Gi."""
    return str(quantity.from_units(amount, quantity.Format.BINARY_SI))


def decimal(amount: int) -> str:
    """Return an amount as a quantity of k, M, G."""
    return str(quantity.from_units(amount, quantity.Format.DECIMAL_SI))


class ContainerUse(NamedTuple):
    """What one container uses and asked for, in bytes."""

    name: str
    memory: int
    storage: int
    memory_request: int
    storage_request: int
    processes: int = 0


class PodUse(NamedTuple):
    """What a pod uses. `over_limit` says by which of its limits of local storage it must go, "" by none."""

    containers: tuple[ContainerUse, ...]
    volumes: int = 0
    over_limit: str = ""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""
        return sum(each.memory for each in self.containers)

    @property
    def memory_request(self) -> int:
        """Bytes of memory asked for."""
        return sum(each.memory_request for each in self.containers)

    @property
    def processes(self) -> int:
        """How many processes run in its containers."""
        return sum(each.processes for each in self.containers)

    @property
    def storage(self) -> int:
        """Bytes of local storage in use: writable layers and emptyDir volumes."""
        return sum(each.storage for each in self.containers) + self.volumes

    @property
    def storage_request(self) -> int:
        """Bytes of local storage asked for."""
        return sum(each.storage_request for each in self.containers)

    def offenders(self, resource: str) -> str:
        """Return the part of an eviction's message that names the containers over their requests."""
        text = ""
        for each in self.containers:
            used, asked = (
                (each.memory, each.memory_request)
                if resource == "memory"
                else (each.storage, each.storage_request)
            )
            if used > asked:
                text += (
                    f"Container {each.name} was using {binary(used)}, request is {binary(asked)}, "
                    f"has larger consumption of {resource}. "
                )
        return text


def _amount(container: Object, side: str, name: str) -> int:
    value = ((container.get("resources") or {}).get(side) or {}).get(name)
    return quantity.to_bytes(str(value)) if value is not None else 0


def _mounted(container: Object, volumes: dict[str, str]) -> dict[str, str]:
    """Mount paths of a container's emptyDir volumes, with the volume's name."""
    return {
        mount["mountPath"].rstrip("/"): mount["name"]
        for mount in container.get("volumeMounts") or ()
        if mount["name"] in volumes
    }


def _written(run: Run, now_ms: int, mounts: dict[str, str]) -> tuple[int, dict[str, int]]:
    """Bytes that a run has written so far: to its own layer, and by volume."""
    layer, volumes = run.launch.disk_bytes, dict[str, int]()
    for each in run.launch.written:
        age_ms = now_ms - run.container.started_ms - each.after_ms
        volume = next((name for path, name in mounts.items() if f"{each.path}/".startswith(f"{path}/")), None)
        if volume is None:
            layer += each.size_bytes if age_ms >= 0 else 0
        elif age_ms >= VOLUME_STATS_MS:
            volumes[volume] = volumes.get(volume, 0) + each.size_bytes
    return layer, volumes


def use_of(host: Host, record: PodRecord, pod: Object) -> PodUse:
    """Return what a pod uses now."""
    spec = pod["spec"]
    now_ms = host.now_ms
    empty = {
        volume["name"]: str((volume["emptyDir"] or {}).get("sizeLimit") or "")
        for volume in spec.get("volumes") or ()
        if "emptyDir" in volume and (volume["emptyDir"] or {}).get("medium") != "Memory"
    }
    rows, filled = [], dict[str, int]()
    over = ""
    for container in spec["containers"]:
        run = host.runtime.run(record.uid, container["name"])
        layer = memory = processes = 0
        if run is not None and run.is_running(now_ms):
            layer, volumes = _written(run, now_ms, _mounted(container, empty))
            memory, processes = run.launch.memory_bytes, run.launch.processes
            for name, size in volumes.items():
                filled[name] = filled.get(name, 0) + size
        rows.append(
            ContainerUse(
                container["name"],
                memory,
                layer,
                _amount(container, "requests", "memory"),
                _amount(container, "requests", "ephemeral-storage"),
                processes,
            )
        )
        limit = _amount(container, "limits", "ephemeral-storage")
        if limit and layer > limit and not over:
            over = f'Container {container["name"]} exceeded its local ephemeral storage limit "{binary(limit)}". '
    for name, text in empty.items():
        if text and filled.get(name, 0) > quantity.to_bytes(text):
            return PodUse(
                tuple(rows),
                sum(filled.values()),
                f'Usage of EmptyDir volume "{name}" exceeds the limit "{text}". ',
            )
    total = sum(_amount(container, "limits", "ephemeral-storage") for container in spec["containers"])
    if total and sum(row.storage for row in rows) + sum(filled.values()) > total:
        over = f"Pod ephemeral local storage usage exceeds the total limit of containers {binary(total)}. "
    return PodUse(tuple(rows), sum(filled.values()), over)
