"""DaemonSets have one pod on each node that fits, whatever becomes of the nodes, and are replaced as allowed."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.controllers.town import Town, is_ready

RESOURCE = "daemonsets.apps"
NEW_IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}


@pytest.fixture
def town():
    return Town()


def placed(town, app="agent"):
    return sorted(pod["spec"].get("nodeName", "") for pod in town.pods(app=app) if is_ready(pod))


def test_nodes_that_come_get_a_pod_and_those_that_go_lose_it(town):
    town.workload(RESOURCE, "agent")
    town.world.advance(10_000)
    assert placed(town) == ["node-0", "node-1", "node-2"]
    town.kubelet.add_node("node-3")
    town.world.advance(10_000)
    assert placed(town) == ["node-0", "node-1", "node-2", "node-3"]
    town.world.api.delete("nodes", "", "node-3")
    town.world.advance(100_000)
    assert placed(town) == ["node-0", "node-1", "node-2"]
    assert town.get(RESOURCE, "agent")["status"]["desiredNumberScheduled"] == 3


def test_it_goes_where_its_selector_says(town):
    town.workload(RESOURCE, "agent", pod={"nodeSelector": {"disk": "ssd"}})
    town.world.advance(10_000)
    assert placed(town) == []
    town.world.api.patch("nodes", "", "node-1", {"metadata": {"labels": {"disk": "ssd"}}})
    town.world.advance(10_000)
    assert placed(town) == ["node-1"]
    town.world.api.patch("nodes", "", "node-1", {"metadata": {"labels": {"disk": None}}})
    town.world.advance(60_000)
    assert town.pods() == []


@pytest.mark.parametrize(
    ("taint", "left"),
    [
        ({"key": "maint", "effect": "NoSchedule"}, ["node-0", "node-1", "node-2"]),
        ({"key": "maint", "effect": "NoExecute"}, ["node-0", "node-2"]),
        ({"key": "maint", "effect": "PreferNoSchedule"}, ["node-0", "node-1", "node-2"]),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, ["node-0", "node-1", "node-2"]),
    ],
)
def test_taints_drive_pods_out_only_when_they_say_so(town, taint, left):
    town.workload(RESOURCE, "agent")
    town.world.advance(10_000)
    town.world.api.patch("nodes", "", "node-1", {"spec": {"taints": [taint]}})
    town.world.advance(60_000)
    assert placed(town) == left


def test_a_cordoned_node_gets_its_pod_all_the_same(town):
    town.world.api.patch("nodes", "", "node-1", {"spec": {"unschedulable": True}})
    town.world.advance(1_000)
    town.workload(RESOURCE, "agent")
    town.world.advance(10_000)
    assert placed(town) == ["node-0", "node-1", "node-2"]


def test_on_delete_waits_for_users(town):
    town.workload(RESOURCE, "agent", updateStrategy={"type": "OnDelete"})
    town.world.advance(10_000)
    town.world.api.patch(RESOURCE, "default", "agent", NEW_IMAGE)
    town.world.advance(100_000)
    assert {pod["spec"]["containers"][0]["image"] for pod in town.pods()} == {"nginx:1.27"}
    for pod in town.pods():
        town.world.api.delete("pods", "default", pod["metadata"]["name"])
    town.world.advance(60_000)
    assert {pod["spec"]["containers"][0]["image"] for pod in town.pods()} == {"nginx:1.28"}


def test_what_was_undone_gets_its_old_revision_back_with_a_new_number(town):
    town.workload(RESOURCE, "agent")
    town.world.advance(10_000)
    (first,) = town.world.store.list("controllerrevisions.apps", "default")
    town.world.api.patch(RESOURCE, "default", "agent", NEW_IMAGE)
    town.world.advance(60_000)
    old = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}}}
    town.world.api.patch(RESOURCE, "default", "agent", old)
    town.world.advance(60_000)
    revisions = {
        each["metadata"]["name"]: each["revision"]
        for each in town.world.store.list("controllerrevisions.apps", "default")
    }
    assert sorted(revisions.values()) == [2, 3]
    assert revisions[first["metadata"]["name"]] == 3


def test_failed_pods_are_replaced_ever_later(town):
    town.workload(RESOURCE, "agent", pod={"nodeSelector": {"kubernetes.io/hostname": "node-1"}})
    town.world.advance(10_000)
    gone_ms = []

    def look(event):
        if event.ref.resource == "pods" and event.type == "DELETED":
            gone_ms.append(town.world.now_ms)

    town.world.listeners.append(look)
    for count in range(5):
        (pod,) = town.pods()
        status = {**pod["status"], "phase": "Failed"}
        town.world.api.update_status("pods", "default", {**pod, "status": status})
        town.world.advance(2**count * 1_000 + 500)
    assert [(after - before) // 1_000 for before, after in pairwise(gone_ms)] == [1, 2, 4, 8]
    assert ("Warning", "FailedDaemonPod") in [row[:2] for row in town.events("agent")]


@settings(max_examples=15, deadline=None)
@given(
    nodes=st.integers(1, 5),
    share=st.one_of(st.integers(1, 3), st.sampled_from(["25%", "50%"])),
    is_surge=st.booleans(),
    wait_s=st.integers(0, 5),
)
def test_an_update_takes_no_more_nodes_than_it_may(nodes, share, is_surge, wait_s):
    town = Town(nodes)
    rolling = {"maxSurge": share, "maxUnavailable": 0} if is_surge else {"maxUnavailable": share}
    town.workload(
        RESOURCE,
        "agent",
        minReadySeconds=wait_s,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling},
    )
    town.world.advance(60_000)
    assert placed(town) == town.nodes
    allowed = share if isinstance(share, int) else -(-nodes * int(share.rstrip("%")) // 100)
    served, crowds = [], []

    def look(_event):
        served.append(len(set(placed(town))))
        kept = [
            pod["spec"].get("nodeName") for pod in town.pods() if "deletionTimestamp" not in pod["metadata"]
        ]
        crowds.append(len(kept))

    town.world.listeners.append(look)
    town.world.api.patch(RESOURCE, "default", "agent", NEW_IMAGE)
    town.world.advance(300_000)
    assert min(served) >= nodes - (0 if is_surge else allowed)
    assert max(crowds) <= nodes + (allowed if is_surge else 0)
    assert {pod["spec"]["containers"][0]["image"] for pod in town.pods()} == {"nginx:1.28"}
    assert placed(town) == town.nodes
    assert town.world.failures() == {}
