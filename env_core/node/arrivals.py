"""A pod comes to a node: it is taken in or refused; and what of its later changes concerns the node."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.node import admission, conditions, volumes
from env_core.node._host import Host
from env_core.node._records import FINISHED, PodRecord
from env_core.world import Object


def add(host: Host, pod: Object) -> PodRecord | None:
    """Take in a pod that was bound to a node of ours; returns its record, or None when the node refused it."""
    metadata = pod["metadata"]
    node = host.node(pod["spec"]["nodeName"])
    assert node is not None, "only pods of our nodes are added"
    wanted = admission.requests_of(pod)
    record = PodRecord(
        uid=metadata["uid"],
        namespace=metadata["namespace"],
        name=metadata["name"],
        node=node.name,
        seen_ms=host.now_ms,
        use=(wanted.cpu_millis, wanted.memory_bytes),
    )
    if conditions.is_terminal((pod.get("status") or {}).get("phase", "")):
        return host.put(record._replace(worker=FINISHED, use=(0, 0)))
    refused = admission.refusal(host, record, pod, node, wanted)
    if refused is not None:
        _reject(host, record, pod, refused)
        return None
    used = node.used
    host.nodes[node.name] = node._replace(
        used=(used[0] + wanted.cpu_millis, used[1] + wanted.memory_bytes, used[2] + 1)
    )
    for source in volumes.sources(pod):
        key = (source[0], record.namespace, source[1])
        users: tuple[str, ...] = host.mounts.get(key) or ()
        if record.uid not in users:
            host.mounts[key] = (*users, record.uid)
    return host.put(record)


def _reject(host: Host, record: PodRecord, pod: Object, refused: admission.Refusal) -> None:
    host.event(record, pod, "Warning", refused.reason, refused.message)
    status: Object = {
        "observedGeneration": pod["metadata"].get("generation", 0),
        "phase": "Failed",
        "message": f"Pod was rejected: {refused.message}",
        "reason": refused.reason,
        "startTime": host.stamp(record.node),
    }
    qos = (pod.get("status") or {}).get("qosClass")
    if qos:
        status["qosClass"] = qos
    host.put(record._replace(worker=FINISHED, use=(0, 0), status=status))
    try:
        host.component(record.node).api.update_status("pods", record.namespace, {**pod, "status": status})
    except StatusError as error:
        if error.code not in (403, 404, 409):
            raise


def concerns(old: Object, new: Object) -> bool:
    """Whether a pod's change is one that its kubelet acts on: spec, deletion, conditions of readiness gates."""
    before, after = old["metadata"], new["metadata"]
    if after.get("generation") != before.get("generation"):
        return True
    if after.get("deletionTimestamp") != before.get("deletionTimestamp"):
        return True
    if new["spec"] is not old["spec"] and new["spec"] != old["spec"]:
        return True
    return bool(new["spec"].get("readinessGates")) and old.get("status") != new.get("status")
