"""The eviction manager: which pods a kubelet ends when its node runs low, in which order, with which words.

Source: k8s.io/kubernetes pkg/kubelet/eviction (eviction_manager.go, helpers.go), 1.37; order, texts and times in
tests/golden/kubelet (mp-*, dp-*, soft-*, evict-*, gc-pressure, nodes.jsonl.gz). Rounds come every ten seconds while
there is something to look at; after an eviction the next one follows as soon as the pod is cleaned up.
No recording has pid.available; its order and words are those of rankPIDPressure, evictionMessage (no word of containers,
for nobody requests processes) and getThresholdMetInfo.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.node import node_status
from env_core.node._host import HANDLER, Host
from env_core.node._records import IDLE, SYNCING, NodeRecord, PodRecord
from env_core.node.thresholds import CONDITIONS, DEFAULT_HARD, PIDS, RESOURCES, Threshold, configured
from env_core.node.usage import VOLUME_STATS_MS, PodUse, binary, decimal, use_of
from env_core.programs import Run
from env_core.world import Object

ROUND_MS: Final = 10_000
CLEANED_MS: Final = 1_000
"""How often the manager looks whether the pod that it ended is cleaned up."""
HARD_GRACE_S: Final = 1
PROCESSES: Final = RESOURCES[PIDS]
CRITICAL_PRIORITY: Final = 2_000_000_000
_HARD: Final = configured(DEFAULT_HARD)


def wake(host: Host, node: NodeRecord, from_ms: int | None = None) -> None:
    """Ask for the next round of a node's eviction manager."""
    from_ms = host.now_ms if from_ms is None else from_ms
    host.wake(from_ms + (node.evict_ms - from_ms) % ROUND_MS, "evict", node.name)


def _left(node: NodeRecord, signal: str) -> tuple[int, int] | None:
    """What a signal says: what is left, and the capacity; None when there is plenty."""
    free = node.free
    if signal == "memory.available" and free.memory_bytes is not None:
        return free.memory_bytes, node.memory_bytes
    if signal in ("nodefs.available", "imagefs.available") and free.disk_bytes is not None:
        return free.disk_bytes, node.disk_bytes
    if signal in ("nodefs.inodesFree", "imagefs.inodesFree") and free.inodes is not None:
        return free.inodes, node.inodes
    if signal == PIDS and free.pids is not None:
        return free.pids, node.pids
    return None


@lru_cache(maxsize=64)
def _hard(pids: str) -> tuple[Threshold, ...]:
    return configured({**DEFAULT_HARD, PIDS: pids}) if pids else _HARD


def _thresholds(node: NodeRecord) -> list[tuple[Threshold, int]]:
    """All thresholds with their grace in milliseconds, in the order in which they are served."""
    settings = node.settings
    rows = [(each, 0) for each in _hard(settings.hard_pids)]
    if settings.soft_memory_bytes:
        soft = Threshold("memory.available", quantity=binary(settings.soft_memory_bytes))
        rows.append((soft, settings.soft_grace_ms))
    # Memory first; of those for disks, the node's own before that of the images.
    order = (
        "memory.available",
        "nodefs.available",
        "nodefs.inodesFree",
        "imagefs.available",
        "imagefs.inodesFree",
        PIDS,
    )
    return sorted(
        (row for row in rows if row[0].signal in order), key=lambda row: (order.index(row[0].signal), row[1])
    )


def _met(node: NodeRecord) -> list[tuple[Threshold, int, int, int]]:
    """Thresholds that are met: (threshold, grace, amount, what is left)."""
    found = []
    for threshold, grace_ms in _thresholds(node):
        seen = _left(node, threshold.signal)
        if seen is not None and seen[0] < threshold.amount(seen[1]):
            found.append((threshold, grace_ms, threshold.amount(seen[1]), seen[0]))
    return found


def round_(host: Host, node: NodeRecord) -> None:
    """Let a node's eviction manager look once."""
    now_ms = host.now_ms
    if now_ms < node.evicting_ms:
        host.wake(node.evicting_ms, "evict", node.name)
        return
    met = _met(node)
    since = dict(node.observed)
    observed = tuple((each[0].shown(), since.get(each[0].shown(), now_ms)) for each in met)
    pressures = dict(node.pressures) | {CONDITIONS[each[0].signal]: now_ms for each in met}
    kept = {
        kind: seen_ms
        for kind, seen_ms in pressures.items()
        if now_ms - seen_ms < node.settings.pressure_transition_ms
    }
    was = {kind for kind, _ in node.pressures}
    node = node._replace(observed=observed, pressures=tuple(sorted(kept.items())))
    host.nodes[node.name] = node
    if was != set(kept):
        node_status.wake(host, node)
    if met or kept:
        wake(host, node, now_ms + 1)
    if _evict_for_storage(host, node):
        return
    due = [each for each, (_, first_ms) in zip(met, observed, strict=True) if now_ms - first_ms >= each[1]]
    if not due:
        return
    threshold, grace_ms, amount, left = due[0]
    resource = RESOURCES[threshold.signal]
    node_status.event(
        host, node, "Warning", "EvictionThresholdMet", f"Attempting to reclaim {resource}", has_uid=False
    )
    _evict_first(host, node, resource, threshold, amount, left, is_soft=grace_ms > 0)


def _active(host: Host, node: NodeRecord) -> list[tuple[PodRecord, Object, PodUse]]:
    found = []
    for record in host.pods.values():
        if record.node != node.name or record.worker != SYNCING or record.is_killed or record.is_gone:
            continue
        pod = host.pod(record)
        if pod is not None and "deletionTimestamp" not in pod["metadata"]:
            found.append((record, pod, use_of(host, record, pod)))
    return found


def _rank(row: tuple[PodRecord, Object, PodUse], resource: str) -> tuple[int, int, int, int, str]:
    """Sort first those over their request, then by priority, then by how much they are over."""
    record, pod, use = row
    if resource == PROCESSES:
        # Nobody requests processes: no pod is over its own.
        return (0, int(pod["spec"].get("priority") or 0), -use.processes, record.seen_ms, record.uid)
    over = (use.memory if resource == "memory" else use.storage) - (
        use.memory_request if resource == "memory" else use.storage_request
    )
    return (0 if over > 0 else 1, int(pod["spec"].get("priority") or 0), -over, record.seen_ms, record.uid)


def _evict_first(
    host: Host,
    node: NodeRecord,
    resource: str,
    threshold: Threshold,
    amount: int,
    left: int,
    *,
    is_soft: bool,
) -> None:
    for record, pod, use in sorted(_active(host, node), key=lambda row: _rank(row, resource)):
        if is_critical(pod):
            continue
        grace_s = node.settings.soft_pod_grace_s if is_soft else HARD_GRACE_S
        is_counted = resource == PROCESSES
        shown = threshold.quantity or (binary(amount) if is_counted else str(amount))
        available = decimal(left) if is_counted else binary(left)
        text = (
            f"The node was low on resource: {resource}. Threshold quantity: {shown}, available: {available}. "
        )
        text += "" if is_counted else use.offenders(resource)
        evict(host, node, record, pod, grace_s, text, disruption=text)
        return


def is_critical(pod: Object) -> bool:
    """Whether a pod is never evicted: static ones, and those of the system's priorities."""
    annotations = pod["metadata"].get("annotations") or {}
    source = annotations.get("kubernetes.io/config.source", "api")
    return source != "api" or int(pod["spec"].get("priority") or 0) >= CRITICAL_PRIORITY


def evict(
    host: Host,
    node: NodeRecord,
    record: PodRecord,
    pod: Object,
    grace_s: int,
    text: str,
    *,
    disruption: str = "",
    reason: str = "Evicted",
    kind: str = "Evicted",
) -> None:
    """End a pod for the node's sake. `kind` is the event's reason, `reason` the pod's."""
    host.event(record, pod, "Warning", kind, text)
    killed = record._replace(
        is_killed=True,
        disruption=disruption,
        grace_seconds=grace_s,
        reason=reason,
        reason_message=text,
    )
    host.put(killed)
    host.wake(host.now_ms if record.stage == IDLE else host.now_ms + 1, "sync", record.uid)
    # Killing is waited for, then the pod must be cleaned up.
    host.nodes[node.name] = host.nodes[node.name]._replace(evicting_ms=host.now_ms + CLEANED_MS)
    host.wake(host.now_ms + CLEANED_MS, "evict", node.name)


def _evict_for_storage(host: Host, node: NodeRecord) -> bool:
    """End the pods that use more local storage than their limits allow; whether there was one."""
    found = False
    for record, pod, use in _active(host, node):
        text = use.over_limit
        if text and not is_critical(pod):
            evict(host, node, record, pod, HARD_GRACE_S, text)
            found = True
    return found


def expect(host: Host, pod: Object, run: Run) -> None:
    """Ask for a round when a container that just started may have written more than its pod's limits allow."""
    spec = pod["spec"]
    has_limit = any((volume.get("emptyDir") or {}).get("sizeLimit") for volume in spec.get("volumes") or ())
    has_limit = has_limit or any(
        "ephemeral-storage" in ((container.get("resources") or {}).get("limits") or {})
        for container in spec["containers"]
    )
    node = host.node(spec.get("nodeName", ""))
    if node is None or not has_limit:
        return
    starts_ms = {host.now_ms + 1}
    for each in run.launch.written:
        starts_ms |= {host.now_ms + each.after_ms + 1, host.now_ms + each.after_ms + VOLUME_STATS_MS + 1}
    for from_ms in sorted(starts_ms):
        at_ms = from_ms + (node.evict_ms - from_ms) % ROUND_MS
        host.loop.schedule(at_ms, HANDLER, ("evict", node.name, run.container_id))
