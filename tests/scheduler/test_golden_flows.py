"""Why pods were left without a node, in every recorded flow, worked out again from the flow's objects."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.scheduler.world import World, node

FLOWS = Path(__file__).parents[1] / "golden" / "l2" / "flows"
RESOURCES = {
    "persistentvolumes": "persistentvolumes",
    "persistentvolumeclaims": "persistentvolumeclaims",
    "storageclasses": "storageclasses.storage.k8s.io",
    "services": "services",
    "poddisruptionbudgets": "poddisruptionbudgets.policy",
    "replicasets": "replicasets.apps",
}
DEFAULT_NODES = [node(f"node-{index}", "4", "8145396Ki") for index in range(3)]


def refused(pod: dict[str, Any]) -> str:
    """The message of a pod that found no node, "" for all others."""
    status = pod.get("status", {})
    if pod["spec"].get("nodeName") or status.get("nominatedNodeName"):
        return ""
    for entry in status.get("conditions", []):
        if entry["type"] == "PodScheduled" and entry.get("reason") == "Unschedulable":
            return entry["message"]
    return ""


def cases() -> Iterator[tuple[str, dict[str, Any], dict[str, Any], str]]:
    for path in sorted(FLOWS.glob("*.json.gz")):
        text = gzip.decompress(path.read_bytes())
        if b"Unschedulable" not in text:
            continue
        seen = set()
        for step in json.loads(text)["steps"]:
            state = step["state"]
            if not isinstance(state, dict):
                continue
            for pod in state.get("pods", []):
                message = refused(pod)
                key = (pod["metadata"]["name"], message)
                if message and key not in seen:
                    seen.add(key)
                    yield f"{path.name}/{step['n']}/{key[0]}", state, pod, message


def message_of(state: dict[str, Any], pod: dict[str, Any]) -> str:
    world = World(seed=3)
    subscriber, world.store.subscriber = world.store.subscriber, None
    for found in state.get("nodes") or DEFAULT_NODES:
        world.put("nodes", found)
    for plural, resource in RESOURCES.items():
        for obj in state.get(plural, []):
            world.put(resource, obj)
    for other in state["pods"]:
        if other is not pod:
            world.put("pods", other)
    world.store.subscriber = subscriber
    metadata = pod["metadata"]
    if world.store.get("namespaces", "", metadata["namespace"]) is None:
        world.put("namespaces", {"metadata": {"name": metadata["namespace"]}})
    world.put("pods", {**pod, "status": {**pod["status"], "conditions": []}})
    world.run(100)
    return refused(world.pod(metadata["name"], metadata["namespace"]))


def test_pods_without_a_node_say_why_as_recorded():
    failures, total = [], 0
    for name, state, pod, message in cases():
        total += 1
        found = message_of(state, pod)
        if found != message:
            failures.append(f"{name}:\n  {found}\n  {message}")
    assert total >= 49
    assert not failures, "\n".join(failures[:5])
