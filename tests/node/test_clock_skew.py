"""Nodes whose clocks are off: which stamps move, which do not, and what the control plane makes of it."""

from __future__ import annotations

import pytest

from env_core.apiserver.request import ExecOptions, LogOptions
from env_core.cluster import Cluster
from env_core.programs import Line
from env_core.sim.timefmt import parse_ms
from tests.node.lab import CREATED_MS, Lab
from tests.node.test_node_causes import CONFIG, add, condition_of, status_of

HOUR_MS = 3_600_000
LEASES = "leases.coordination.k8s.io"


@pytest.fixture
def lab() -> Lab:
    world = Lab(CREATED_MS)
    world.join("node-1", CONFIG)
    world.join("node-2", CONFIG)
    world.advance(12_000)
    return world


def renewed_ms(lab: Lab, node: str) -> int:
    return parse_ms(lab.admin.get(LEASES, "kube-node-lease", node)["spec"]["renewTime"])


def heartbeat_ms(lab: Lab, node: str) -> int:
    shown = lab.admin.get("nodes", "", node)
    return parse_ms(
        next(each for each in shown["status"]["conditions"] if each["type"] == "Ready")["lastHeartbeatTime"]
    )


def readiness(lab: Lab, node: str) -> list[tuple[int, str]]:
    return [
        (
            at_ms,
            next(each["status"] for each in change.object["status"]["conditions"] if each["type"] == "Ready"),
        )
        for at_ms, change in lab.changes
        if change.ref.resource == "nodes" and change.ref.name == node
    ]


@pytest.mark.parametrize("ahead_ms", [-HOUR_MS, HOUR_MS])
def test_what_the_kubelet_stamps_follows_its_clock_and_nothing_else(lab, ahead_ms):
    lab.kubelets.set_clock("node-1", ahead_ms)
    lab.advance(1_000)
    before_ms = lab.now_ms
    for name, node in (("off", "node-1"), ("right", "node-2")):
        add(lab, name, node=node)
    lab.advance(5_000)
    for name, shift_ms in (("off", ahead_ms), ("right", 0)):
        low, high = before_ms + shift_ms - 1_000, lab.now_ms + shift_ms
        pod = lab.store.get("pods", "default", name)
        status = pod["status"]
        assert low <= parse_ms(status["startTime"]) <= high
        assert low <= parse_ms(status["containerStatuses"][0]["state"]["running"]["startedAt"]) <= high
        ready = next(each for each in status["conditions"] if each["type"] == "Ready")
        assert low <= parse_ms(ready["lastTransitionTime"]) <= high
        # The API server's own stamp.
        assert before_ms - 1_000 <= parse_ms(pod["metadata"]["creationTimestamp"]) <= lab.now_ms
        events = [
            each
            for each in lab.store.list("events", "default")
            if each["involvedObject"]["name"] == name and each["source"].get("component") == "kubelet"
        ]
        assert {each["reason"] for each in events} >= {"Created", "Started"}
        for each in events:
            assert low <= parse_ms(each["lastTimestamp"]) <= high
            assert before_ms - 1_000 <= parse_ms(each["metadata"]["creationTimestamp"]) <= lab.now_ms


def test_what_was_stamped_before_the_clock_was_set_keeps_its_stamp(lab):
    add(lab, "web")
    lab.advance(5_000)
    uid = lab.store.get("pods", "default", "web")["metadata"]["uid"]
    began = status_of(lab, "web")["containerStatuses"][0]["state"]["running"]["startedAt"]
    lab.kubelets.set_clock("node-1", HOUR_MS)
    run = lab.runtime.run(uid, "app")
    lab.runtime.end(run, lab.now_ms + 2_000, 1, "Error")
    lab.loop.wake(lab.now_ms + 2_000, "kubelet", ("run", uid, "app"))
    lab.advance(6_000)
    last = status_of(lab, "web")["containerStatuses"][0]["lastState"]["terminated"]
    assert last["startedAt"] == began
    assert parse_ms(last["finishedAt"]) - parse_ms(began) > HOUR_MS


def test_lines_of_logs_show_the_nodes_clock_and_since_goes_by_it(lab):
    add(lab, "web")
    lab.advance(5_000)
    run = lab.runtime.run(lab.store.get("pods", "default", "web")["metadata"]["uid"], "app")
    lab.runtime.log(run, (Line(lab.now_ms, "before"),))
    lab.advance(60_000)
    lab.kubelets.set_clock("node-1", HOUR_MS)
    lab.advance(1_000)
    lab.runtime.log(run, (Line(lab.now_ms, "after"),))
    lines = lab.admin.logs("default", "web", LogOptions(timestamps=True)).splitlines()
    moments = {line.partition(" ")[2]: parse_ms(line.partition(" ")[0]) for line in lines}
    assert moments["after"] - moments["before"] == HOUR_MS + 61_000
    # The kubelet counts back from its own time, so the old line is more than an hour old to it.
    assert lab.admin.logs("default", "web", LogOptions(since_seconds=3_000)).splitlines() == ["after"]


@pytest.mark.parametrize("ahead_ms", [HOUR_MS, -40_000])
def test_a_clock_that_is_off_makes_no_node_silent(lab, ahead_ms):
    lab.is_watching = True
    lab.kubelets.set_clock("node-1", ahead_ms)
    lab.advance(900_000)
    assert condition_of(lab, "node-1", "Ready")["status"] == "True"
    assert [row for row in readiness(lab, "node-1") if row[1] != "True"] == []
    assert abs(renewed_ms(lab, "node-1") - lab.now_ms - ahead_ms) <= 10_000
    assert abs(renewed_ms(lab, "node-2") - lab.now_ms) <= 10_000
    assert abs(heartbeat_ms(lab, "node-1") - lab.now_ms - ahead_ms) <= 300_000


def test_a_clock_set_far_back_makes_one_gap_until_the_kubelet_reports(lab):
    add(lab, "web")
    lab.advance(20_000)
    lab.is_watching = True
    began_ms = lab.now_ms
    lab.kubelets.set_clock("node-1", -HOUR_MS)
    lab.advance(900_000)
    changes = readiness(lab, "node-1")
    silent = [at_ms for at_ms, status in changes if status == "Unknown"]
    # Renewals earlier than the one seen before count for nothing: after the grace period the node is taken for silent.
    assert 50_000 <= silent[0] - began_ms <= 66_000
    back = next(at_ms for at_ms, status in changes if status == "True" and at_ms > silent[0])
    assert back - silent[0] <= 10_100
    assert all(status == "True" for at_ms, status in changes if at_ms > back)
    lab.advance(60_000)
    ready = next(each for each in status_of(lab, "web")["conditions"] if each["type"] == "Ready")
    assert ready["status"] == "True"
    assert abs(renewed_ms(lab, "node-1") - (lab.now_ms - HOUR_MS)) <= 10_000


def test_a_kubelet_that_stops_is_found_out_in_the_same_time_whatever_its_clock_shows(lab):
    lab.kubelets.set_clock("node-1", HOUR_MS)
    lab.advance(120_000)
    lab.is_watching = True
    stopped_ms = lab.now_ms
    lab.kubelets.stop_kubelet("node-1")
    lab.advance(120_000)
    silent = [at_ms for at_ms, status in readiness(lab, "node-1") if status == "Unknown"]
    assert 40_000 <= silent[0] - stopped_ms <= 66_000
    lab.kubelets.start_node("node-1")
    lab.advance(12_000)
    assert condition_of(lab, "node-1", "Ready")["status"] == "True"


def test_an_active_deadline_goes_by_the_nodes_clock(lab):
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "batch"},
            "spec": {
                "nodeName": "node-1",
                "activeDeadlineSeconds": 600,
                "containers": [{"name": "app", "image": "registry.example.com/present/app:1.0"}],
            },
        }
    )
    lab.advance(5_000)
    lab.kubelets.set_clock("node-1", HOUR_MS)
    lab.kubelets.stop_kubelet("node-1")
    lab.kubelets.start_node("node-1")
    lab.advance(5_000)
    assert status_of(lab, "batch")["reason"] == "DeadlineExceeded"


def test_a_clock_that_is_put_right_again_leaves_nothing_behind(lab):
    lab.kubelets.set_clock("node-1", HOUR_MS)
    lab.advance(30_000)
    lab.kubelets.set_clock("node-1", 0)
    lab.advance(400_000)
    assert condition_of(lab, "node-1", "Ready")["status"] == "True"
    add(lab, "web")
    lab.advance(3_000)
    assert abs(parse_ms(status_of(lab, "web")["startTime"]) - lab.now_ms) <= 4_000


def test_no_clock_is_off_by_more_than_twenty_years(lab):
    with pytest.raises(ValueError, match="ms ahead"):
        lab.kubelets.set_clock("node-1", 10**15)
    with pytest.raises(KeyError):
        lab.kubelets.set_clock("nobody", 1)


def test_a_fork_has_the_clocks_of_its_origin():
    cluster = Cluster(seed=1)
    cluster.boot()
    cluster.kubelets.join("node-1", cpu="4", memory="8Gi")
    cluster.kubelets.set_clock("node-1", HOUR_MS)
    fork = cluster.fork()
    fork.advance(15_000)
    lease = fork.client().get(LEASES, "kube-node-lease", "node-1")
    assert parse_ms(lease["spec"]["renewTime"]) > fork.now_ms + HOUR_MS - 11_000


def test_commands_in_a_container_see_the_nodes_clock():
    cluster = Cluster(seed=1)
    cluster.boot()
    cluster.kubelets.join("node-1", cpu="4", memory="8Gi")
    cluster.advance(1_000)
    cluster.client().create(
        "pods",
        "default",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "box"},
            "spec": {
                "nodeName": "node-1",
                "containers": [{"name": "box", "image": "busybox:1.36", "command": ["sleep", "100000"]}],
            },
        },
    )
    cluster.advance(30_000)
    cluster.kubelets.set_clock("node-1", -HOUR_MS)

    def asked(line: str) -> str:
        return cluster.client().exec("default", "box", ExecOptions(command=["sh", "-c", line])).stdout.strip()

    before_ms = cluster.now_ms
    assert int(asked("date +%s")) == (before_ms - HOUR_MS) // 1_000
    # Waits are as long as ever, also in the background.
    assert int(asked("sleep 3 & wait; date +%s")) - (before_ms - HOUR_MS) // 1_000 in (3, 4)
    assert cluster.now_ms - before_ms < 6_000
