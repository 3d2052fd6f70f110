"""StatefulSets keep their order, their names and their storage, and are never further down than they may be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.controllers.town import Town, is_ready

RESOURCE = "statefulsets.apps"
NEW_IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "by-hand",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


@pytest.fixture
def town():
    return Town()


class Log:
    """When pods came and went, in order."""

    def __init__(self, town):
        self.rows = []
        town.world.listeners.append(self._on_write)

    def _on_write(self, event):
        if event.ref.resource != "pods":
            return
        is_going = "deletionTimestamp" in event.object["metadata"]
        row = {"ADDED": "made", "DELETED": "gone"}.get(event.type, "going" if is_going else "")
        if event.type == "MODIFIED" and is_ready(event.object):
            row = "ready"
        if row and (row, event.ref.name) not in self.rows[-3:]:
            self.rows.append((row, event.ref.name))


def test_pods_come_one_by_one_and_go_in_reverse(town):
    log = Log(town)
    town.workload(RESOURCE, "db", replicas=3)
    town.world.advance(30_000)
    assert log.rows == [(what, f"db-{number}") for number in range(3) for what in ("made", "ready")]
    log.rows.clear()
    town.world.api.patch(RESOURCE, "default", "db", {"spec": {"replicas": 0}})
    town.world.advance(60_000)
    assert [name for what, name in log.rows if what == "going"] == ["db-2", "db-1", "db-0"]
    order = [row for row in log.rows if row[0] in ("going", "gone")]
    assert order == [(what, f"db-{number}") for number in (2, 1, 0) for what in ("going", "gone")]


def test_parallel_pods_do_not_wait_for_each_other(town):
    log = Log(town)
    town.workload(
        RESOURCE, "db", replicas=4, podManagementPolicy="Parallel", annotations={"sim/ready": "false"}
    )
    town.world.advance(1_000)
    assert sorted(name for what, name in log.rows if what == "made") == ["db-0", "db-1", "db-2", "db-3"]


def test_a_pod_that_is_not_ready_holds_up_the_next(town):
    town.workload(RESOURCE, "db", replicas=3, annotations={"sim/ready": "false"})
    town.world.advance(600_000)
    assert [pod["metadata"]["name"] for pod in town.pods()] == ["db-0"]


@pytest.mark.parametrize(("partition", "updated"), [(0, [0, 1, 2, 3]), (2, [2, 3]), (4, [])])
def test_pods_below_the_partition_keep_their_template(town, partition, updated):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    town.workload(RESOURCE, "db", replicas=4, updateStrategy=strategy)
    town.world.advance(30_000)
    town.world.api.patch(RESOURCE, "default", "db", NEW_IMAGE)
    town.world.advance(300_000)
    found = [pod["spec"]["containers"][0]["image"] for pod in town.pods()]
    assert found == ["nginx:1.28" if number in updated else "nginx:1.27" for number in range(4)]
    status = town.get(RESOURCE, "db")["status"]
    assert status.get("updatedReplicas", 0) == len(updated)
    assert (status["currentRevision"] == status["updateRevision"]) == (partition == 0)


def test_a_deleted_pod_below_the_partition_comes_back_with_the_old_template(town):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    town.workload(RESOURCE, "db", replicas=3, updateStrategy=strategy)
    town.world.advance(30_000)
    town.world.api.patch(RESOURCE, "default", "db", NEW_IMAGE)
    town.world.advance(100_000)
    town.world.api.delete("pods", "default", "db-0")
    town.world.advance(100_000)
    assert [pod["spec"]["containers"][0]["image"][-4:] for pod in town.pods()] == ["1.27", "1.27", "1.28"]


def test_each_pod_gets_the_claims_of_its_number_and_finds_them_again(town):
    town.workload(RESOURCE, "db", replicas=2, podManagementPolicy="Parallel", volumeClaimTemplates=[CLAIM])
    for number in range(2):
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "by-hand",
            "hostPath": {"path": f"/mnt/{number}"},
        }
        town.make("persistentvolumes", "v1", "PersistentVolume", f"disk-{number}", spec, namespace="")
    town.world.advance(60_000)
    claims = town.world.store.list("persistentvolumeclaims", "default")
    assert [(each["metadata"]["name"], each["status"]["phase"]) for each in claims] == [
        ("data-db-0", "Bound"),
        ("data-db-1", "Bound"),
    ]
    assert all(map(is_ready, town.pods()))
    volumes = [each["spec"]["volumeName"] for each in claims]
    town.world.api.delete(RESOURCE, "default", "db")
    town.world.advance(60_000)
    assert town.pods() == []
    town.workload(RESOURCE, "db", replicas=2, volumeClaimTemplates=[CLAIM])
    town.world.advance(60_000)
    assert all(map(is_ready, town.pods()))
    kept = town.world.store.list("persistentvolumeclaims", "default")
    assert [each["spec"]["volumeName"] for each in kept] == volumes


@pytest.mark.parametrize("scaled", ["Retain", "Delete"])
def test_claims_of_pods_that_are_scaled_away_follow_the_retention_policy(town, scaled):
    town.workload(
        RESOURCE,
        "db",
        replicas=2,
        podManagementPolicy="Parallel",
        volumeClaimTemplates=[CLAIM],
        persistentVolumeClaimRetentionPolicy={"whenScaled": scaled, "whenDeleted": "Retain"},
    )
    town.world.advance(1_000)
    town.world.api.patch(RESOURCE, "default", "db", {"spec": {"replicas": 1}})
    town.world.advance(60_000)
    names = [each["metadata"]["name"] for each in town.world.store.list("persistentvolumeclaims", "default")]
    assert names == (["data-db-0", "data-db-1"] if scaled == "Retain" else ["data-db-0"])


def test_history_is_as_long_as_it_may_be(town):
    town.workload(RESOURCE, "db", replicas=1, revisionHistoryLimit=2)
    town.world.advance(10_000)
    for number in range(5):
        image = {"name": "c", "image": f"nginx:{number}"}
        town.world.api.patch(
            RESOURCE, "default", "db", {"spec": {"template": {"spec": {"containers": [image]}}}}
        )
        town.world.advance(20_000)
    numbers = [each["revision"] for each in town.world.store.list("controllerrevisions.apps", "default")]
    assert sorted(numbers) == [4, 5, 6]


@settings(max_examples=15, deadline=None)
@given(
    replicas=st.integers(1, 5),
    share=st.one_of(st.integers(1, 4), st.sampled_from(["25%", "50%", "100%"])),
    policy=st.sampled_from(["OrderedReady", "Parallel"]),
    wait_s=st.integers(0, 5),
)
def test_an_update_takes_no_more_pods_than_it_may(replicas, share, policy, wait_s):
    town = Town()
    town.workload(
        RESOURCE,
        "db",
        replicas=replicas,
        podManagementPolicy=policy,
        minReadySeconds=wait_s,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": share}},
    )
    town.world.advance(120_000)
    assert sum(map(is_ready, town.pods())) == replicas
    allowed = share if isinstance(share, int) else max(1, replicas * int(share.rstrip("%")) // 100)
    low = []
    town.world.listeners.append(lambda _event: low.append(sum(map(is_ready, town.pods()))))
    town.world.api.patch(RESOURCE, "default", "db", NEW_IMAGE)
    town.world.advance(300_000)
    assert min(low) >= replicas - allowed
    assert {pod["spec"]["containers"][0]["image"] for pod in town.pods()} == {"nginx:1.28"}
    assert town.world.failures() == {}
