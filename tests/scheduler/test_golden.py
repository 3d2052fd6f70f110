"""Replays of recorded scheduling decisions (the real 1.37 scheduler, default profile)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from env_core.objects.node_matching import tolerates, untolerated, wants_node
from tests.scheduler.world import World

GOLDEN = Path(__file__).parents[1] / "golden"
PLURALS = {
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PersistentVolume": "persistentvolumes",
    "StorageClass": "storageclasses.storage.k8s.io",
    "Service": "services",
    "ReplicaSet": "replicasets.apps",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
    "Namespace": "namespaces",
}


def records(topic: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / "l0" / f"{topic}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outcome_of(record: dict[str, Any]) -> dict[str, Any]:
    world = World(seed=3)
    subscriber, world.store.subscriber = world.store.subscriber, None
    for node in record["nodes"]:
        world.put("nodes", node)
    for other in record["others"]:
        kind = other.get("kind") or ("ReplicaSet" if "template" in other.get("spec", {}) else "")
        world.put(PLURALS[kind], other)
    for pod in record["pods"]:
        world.put("pods", pod)
    world.store.subscriber = subscriber
    world.put("pods", record["pod"])
    world.run(500)
    name = record["pod"]["metadata"]["name"]
    pod = world.pod(name)
    mine = [e for e in world.events() if e["involvedObject"]["name"] == name]
    event = None
    if mine:
        event = {
            "action": mine[0]["action"],
            "message": mine[0]["message"],
            "reason": mine[0]["reason"],
            "type": mine[0]["type"],
        }
    keys = ("message", "reason", "status", "type")
    conditions = [
        {key: entry[key] for key in keys if key in entry}
        for entry in pod["status"].get("conditions", [])
        if entry["status"] == "False"
    ]
    victims = [
        "|".join((e["type"], e["reason"], e["action"], e["message"]))
        for e in world.events()
        if e["involvedObject"]["name"] != name
    ]
    return {
        "event": event,
        "conditions": conditions,
        "nominatedNodeName": pod["status"].get("nominatedNodeName", ""),
        "victimEvents": victims,
    }


def test_pods_are_placed_or_refused_as_recorded():
    matched, failures, total = 0, [], 0
    for record in records("scheduling"):
        if record.get("tie"):
            continue
        total += 1
        outcome = outcome_of(record)
        wanted = {
            "event": record["event"],
            "conditions": record["conditions"],
            "nominatedNodeName": record["nominatedNodeName"],
            "victimEvents": record.get("victimEvents") or [],
        }
        if outcome == wanted:
            matched += 1
        else:
            failures.append(f"{record['id']}:\n  {outcome}\n  {wanted}")
    assert matched == total >= 47, f"{matched}/{total}\n" + "\n".join(failures[:6])


def test_taints_and_node_affinity_match_as_recorded():
    matched, failures, total = 0, [], 0
    for record in records("taints_affinity"):
        total += 1
        if record["kind"] == "taints":
            blocking = [t for t in record["taints"] if t["effect"] != "PreferNoSchedule"]
            found: Any = [
                [[tolerates(entry, taint) for entry in record["tolerations"]] for taint in record["taints"]],
                untolerated(blocking, record["tolerations"]),
            ]
            wanted: Any = [record["tolerates"], record["untolerated"]]
        else:
            metadata = record["node"]["metadata"]
            found = wants_node(record["spec"], metadata["name"], metadata.get("labels", {}))
            wanted = record["match"]
        if found == wanted:
            matched += 1
        else:
            failures.append(f"{record['id']}: {found} != {wanted}")
    assert matched == total >= 107, f"{matched}/{total}\n" + "\n".join(failures[:6])
