"""Recorded writing commands, byte for byte: over a fixed cluster, over recorded states, and step by step."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

from env_core.apiserver.request import Identity
from env_core.kubectl.command import run
from env_core.kubectl.verbs.drain._pods import DrainRules, plan_drain
from env_core.sim.timefmt import parse_ms
from env_core.world import Object
from tests.kubectl.golden_world import (
    GOLDEN,
    MemoryFiles,
    State,
    TinyApi,
    context,
    normalized,
    read_json,
    read_lines,
    registry,
    states,
)
from tests.kubectl.test_golden_commands import GROUPS, NOW_MS
from tests.kubectl.written_world import ADMIN, VERBS, recorded, replay, world_of

DEVELOPER = Identity("dev", ("dev-team", "system:authenticated"), "4")


def test_commands_print_what_the_real_code_printed() -> None:
    data = read_json("l0/kubectl_commands_data.json")
    api = TinyApi(registry(groups=GROUPS), data["objects"])
    matched, missed = 0, []
    for record in read_lines("l0/kubectl_commands.jsonl"):
        if not record["args"] or record["args"][0] not in VERBS:
            continue
        ctx = context(api, NOW_MS, "default", files=data["files"], stdin=record.get("stdin") or "")
        ctx.files = MemoryFiles(dict(data["files"]), root=".")
        result = normalized(run(list(record["args"]), ctx))
        if result == (record["exitCode"], record["stdout"], record["stderr"]):
            matched += 1
        else:
            missed.append(f"{record['args']}\n{result}")
    # Missed: prose of a group's help, and a deprecation that the recorder's process had on standard output.
    assert matched >= 210, "\n".join(missed)


def test_drain_chooses_pods_as_the_real_code_does() -> None:
    for record in read_lines("l0/drain_filters.jsonl"):
        pods = sorted(record["pods"], key=lambda pod: (pod["metadata"]["namespace"], pod["metadata"]["name"]))
        rules = DrainRules(
            force=record["force"],
            ignores_daemon_sets=record["ignoreDaemonsets"],
            deletes_empty_dir_data=record["deleteEmptyDirData"],
        )
        plan = plan_drain(pods, rules, _daemon_set)
        chosen = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in plan.pods]
        assert plan.errors == (record["errors"] or []), record["id"]
        assert plan.warnings == record["warnings"], record["id"]
        # The whole list is not deleted when there are errors; the recorder lists what would be.
        assert chosen == (record["toDelete"] or []), record["id"]


def _daemon_set(_namespace: str, name: str) -> str:
    return f'daemonsets.apps "{name}" not found' if name == "vanished" else ""


# What is left differs in what the worlds do not have: custom resources, pods of other namespaces, prose of help
# texts, completion scripts, the script kubelet's own answers to attach.
STATE_FLOORS = {
    "create": 97, "delete": 36, "set": 33, "patch": 30, "run": 22, "scale": 21, "label": 14, "expose": 12,
    "port-forward": 11, "apply": 10, "autoscale": 9, "cp": 9, "taint": 8, "debug": 7, "annotate": 6, "attach": 5,
    "cordon": 3, "diff": 3, "edit": 3, "uncordon": 3, "completion": 2, "drain": 2, "replace": 2, "certificate": 1,
    "proxy": 1,
}  # fmt: skip


def test_commands_over_recorded_states_print_what_the_real_binary_printed() -> None:
    matched: Counter[str] = Counter()
    missed: list[str] = []
    for name in states():
        state = State(name)
        namespace = state.record["namespace"]
        objects = [obj for obj in state.objects if obj["kind"] != "Event"]
        world = None
        for case, moments in state.cases():
            verb = case["argv"][0]
            if verb not in VERBS:
                continue
            world = world or world_of(objects, namespace, moments[0])
            result = replay(world.fork(moments[0]), namespace, case)
            if result == recorded(case):
                matched[verb] += 1
            else:
                missed.append(f"{case['id']} {case['argv']}\n{result}")
    _check_floors(matched, STATE_FLOORS, missed)


# What is left: server-side apply, custom resources, webhooks, admission warnings, random orders and names.
FLOW_FLOORS = {
    "apply": 268, "create": 84, "patch": 74, "delete": 66, "set": 50, "label": 30, "run": 20, "scale": 20, "drain": 17,
    "taint": 13, "debug": 11, "expose": 10, "autoscale": 8, "cordon": 7, "annotate": 6, "uncordon": 6, "replace": 4,
    "diff": 2, "attach": 1, "certificate": 1, "cp": 1, "edit": 1, "port-forward": 1,
}  # fmt: skip


def test_steps_of_flows_print_what_the_real_binary_printed() -> None:
    matched: Counter[str] = Counter()
    missed: list[str] = []
    for path in sorted(GOLDEN.glob("l2/flows/*.json.gz")):
        flow = json.loads(gzip.decompress(path.read_bytes()))
        _replay_flow(flow, matched, missed)
    _check_floors(matched, FLOW_FLOORS, missed)


def _replay_flow(flow: dict[str, Any], matched: Counter[str], missed: list[str]) -> None:
    state: dict[str, list[Object]] = {}
    for step in flow["steps"]:
        if step["type"] == "kubectl" and step["argv"][0] in VERBS:
            objects = [obj for rows in state.values() for obj in rows if obj["kind"] != "Event"]
            world = world_of(
                [*_nodes(state), *objects], flow["namespace"], parse_ms(flow["start"]) + step["t_ms"]
            )
            result = replay(world, flow["namespace"], step, DEVELOPER if step.get("user") else ADMIN)
            if result == recorded(step):
                matched[step["argv"][0]] += 1
            else:
                missed.append(f"{flow['id']} {step['n']} {step['argv']}\n{result}")
        if step.get("state") not in (None, "same"):
            state = step["state"]


def _nodes(state: dict[str, list[Object]]) -> list[Object]:
    """Return the nodes that a flow's state leaves out."""
    if "nodes" in state:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{index}", "uid": f"node-{index}"},
            "spec": {},
            "status": {},
        }
        for index in range(3)
    ]


def _check_floors(matched: Counter[str], floors: dict[str, int], missed: list[str]) -> None:
    short = {verb: (matched[verb], floor) for verb, floor in floors.items() if matched[verb] < floor}
    assert not short, f"{short}\n" + "\n".join(missed[:20])
