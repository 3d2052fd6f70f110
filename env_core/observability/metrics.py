"""Resource metrics of pods and nodes, as a metrics server would report them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.apiserver.store import Store
from env_core.dataplane.network import Network
from env_core.dataplane.serving import WINDOW_MS
from env_core.programs import Run, Runtime
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

API_VERSION: Final = "metrics.k8s.io/v1beta1"
WARMUP_MS: Final = 15_000
"""A pod has no metrics before its second sample."""
_STARTING_CPU_MILLIS: Final = 60
NODE_CPU_MILLIS: Final = 85
NODE_MEMORY_BYTES: Final = 640 << 20
"""What a node's system and kubelet use by themselves."""


def pod_and_node_metrics(
    resource: str, namespace: str, matches: Callable[[Object], bool] | None = None, *, store: Store, runtime: Runtime,
    network: Network, now_ms: int,
) -> list[Object]:  # fmt: skip
    """Return the metrics.k8s.io objects of `resource` ("pods" or "nodes"), of those that match, sorted by namespace and name.

    CPU in nanocores and memory in KiB, as metrics-server writes them. Pods that started less than 15 s ago are
    missing, as are nodes that are not ready.
    """
    measured = [obj for obj in store.list(resource, namespace) if matches is None or matches(obj)]
    if resource == "pods":
        found = [_pod(pod, runtime, network, now_ms) for pod in measured]
        return [each for each in found if each is not None]
    return [_node(node, store, runtime, network, now_ms) for node in measured if _is_ready(node)]


def _is_ready(node: Object) -> bool:
    for condition in (node.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready":
            return bool(condition.get("status") == "True")
    return True


def _wobble(run: Run, now_ms: int, span: int) -> int:
    """Return a small number that differs between containers and windows, the same whenever it is asked for."""
    window = now_ms // WINDOW_MS
    seed = sum(map(ord, run.container.pod_uid)) + sum(map(ord, run.container.name)) + window * 7919
    return seed * 2_654_435_761 % 4_294_967_296 * span // 4_294_967_296


def usage_of(run: Run, network: Network, now_ms: int) -> tuple[int, int]:
    """Return a running container's CPU use in nanocores and its memory in bytes.

    CPU is the resting use and what requests used over the last window, within the limit; memory is the resting
    use and part of the requests' peak, as an allocator gives back little at once.
    """
    container, launch = run.container, run.launch
    usage = network.usage(run)
    millis = launch.cpu_millis + usage.recent_cpu_millis(now_ms)
    if now_ms - container.started_ms < 2 * WINDOW_MS and launch.cpu_millis:
        millis += _STARTING_CPU_MILLIS // 4
    nanocores = millis * 1_000_000 + _wobble(run, now_ms, 400_000) if millis else _wobble(run, now_ms, 20_000)
    if container.cpu_limit_millis is not None:
        nanocores = min(nanocores, container.cpu_limit_millis * 1_000_000)
    memory = (
        run.resting_bytes(now_ms)
        + usage.memory_bytes // 4
        + usage.kept_bytes
        + _wobble(run, now_ms, 256 << 10)
    )
    if container.memory_limit_bytes is not None:
        memory = min(memory, container.memory_limit_bytes)
    return nanocores, memory


def _running(pod: Object, runtime: Runtime, now_ms: int) -> list[Run]:
    uid = pod["metadata"]["uid"]
    found: list[Run] = []
    spec = pod["spec"]
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    for container in (*sidecars, *spec["containers"]):
        run = runtime.run(uid, container["name"])
        if run is not None and run.is_running(now_ms):
            found.append(run)
    return found


def _pod(pod: Object, runtime: Runtime, network: Network, now_ms: int) -> Object | None:
    started = (pod.get("status") or {}).get("startTime")
    if started and now_ms - parse_ms(started) < WARMUP_MS:
        return None
    runs = [run for run in _running(pod, runtime, now_ms) if now_ms - run.container.started_ms >= WARMUP_MS]
    if not runs:
        return None
    metadata = pod["metadata"]
    at_ms = now_ms // WINDOW_MS * WINDOW_MS
    containers = []
    for run in sorted(runs, key=lambda run: run.container.name):
        nanocores, memory = usage_of(run, network, now_ms)
        containers.append({"name": run.container.name, "usage": _texts(nanocores, memory)})
    found: Object = {
        "apiVersion": API_VERSION,
        "kind": "PodMetrics",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "creationTimestamp": rfc3339(now_ms),
            **({"labels": metadata["labels"]} if metadata.get("labels") else {}),
        },
        "timestamp": rfc3339(at_ms),
        "window": "15s",
        "containers": containers,
    }
    return found


def _texts(nanocores: int, memory_bytes: int) -> dict[str, str]:
    return {"cpu": f"{nanocores}n" if nanocores else "0", "memory": f"{memory_bytes >> 10}Ki"}


def _node(node: Object, store: Store, runtime: Runtime, network: Network, now_ms: int) -> Object:
    name = node["metadata"]["name"]
    nanocores, memory = NODE_CPU_MILLIS * 1_000_000, NODE_MEMORY_BYTES
    for pod in store.indexed("node", name):
        for run in _running(pod, runtime, now_ms):
            more_cpu, more_memory = usage_of(run, network, now_ms)
            nanocores += more_cpu
            memory += more_memory
    labels = node["metadata"].get("labels")
    found: Object = {
        "apiVersion": API_VERSION,
        "kind": "NodeMetrics",
        "metadata": {
            "name": name,
            "creationTimestamp": rfc3339(now_ms),
            **({"labels": labels} if labels else {}),
        },
        "timestamp": rfc3339(now_ms // WINDOW_MS * WINDOW_MS),
        "window": "15s",
        "usage": _texts(nanocores, memory),
    }
    return found
