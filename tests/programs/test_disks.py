"""What databases write lives on their volumes: it outlasts pods, and goes with emptyDirs and layers."""

import pytest

from env_core.scenarios.apps import base
from env_core.verify.data import read, records_kept, write, writes_outlast_pods
from env_core.verify.view import View

DATABASES = [("shop", 0, "postgres"), ("shop", 1, "redis"), ("pipeline", 0, "database")]
NEW = {"new-entry": "17"}


def pods_of(cluster, place):
    return [
        pod
        for pod in cluster.store.list("pods", place.namespace)
        if place.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]


def delete_pods(cluster, place):
    for pod in pods_of(cluster, place):
        cluster.client().delete("pods", place.namespace, pod["metadata"]["name"])
    cluster.advance(90_000)


def with_volume(cluster, place, volume):
    """Let the Redis of a shop have another volume than its claim's."""
    patch = {
        "spec": {
            "template": {"spec": {"volumes": [{"name": "data", "$retainKeys": ["name", *volume], **volume}]}}
        }
    }
    cluster.client().patch(
        "deployments.apps", place.namespace, place.name, patch, "application/strategic-merge-patch+json"
    )
    cluster.advance(90_000)


@pytest.mark.parametrize(("app", "number", "role"), DATABASES)
def test_records_outlast_pods(app, number, role):
    world = base(app, number)
    place, cluster = world.workloads[role], world.cluster.fork()
    assert place.records
    assert write(cluster, place.database, NEW) == ""
    delete_pods(cluster, place)
    view = View(cluster)
    assert records_kept(place.database, {**place.records, **NEW}).holds(view)
    assert writes_outlast_pods(place.database).holds(view)


def test_an_empty_directory_keeps_data_over_a_restart_and_loses_them_with_its_pod():
    world = base("shop", 0)
    place, cluster = world.workloads["redis"], world.cluster.fork()
    with_volume(cluster, place, {"emptyDir": {}})
    assert write(cluster, place.database, NEW) == ""
    pod = pods_of(cluster, place)[0]
    run = cluster.runtime.run(pod["metadata"]["uid"], place.container)
    cluster.runtime.end(run, cluster.now_ms, 137, "OOMKilled")
    cluster.loop.wake(cluster.now_ms, "kubelet", ("run", pod["metadata"]["uid"], place.container))
    cluster.advance(60_000)
    assert read(cluster, place.database, "new-entry") == "17"
    assert not writes_outlast_pods(place.database).holds(View(cluster))
    delete_pods(cluster, place)
    assert read(cluster, place.database, "new-entry") == ""
    assert "records are lost" in records_kept(place.database, place.records).fails(View(cluster))


def test_a_layer_is_lost_with_its_container():
    world = base("shop", 0)
    place, cluster = world.workloads["redis"], world.cluster.fork()
    mount = {"name": place.container, "volumeMounts": [{"mountPath": "/data", "$patch": "delete"}]}
    patch = {"spec": {"template": {"spec": {"containers": [mount]}}}}
    cluster.client().patch(
        "deployments.apps", place.namespace, place.name, patch, "application/strategic-merge-patch+json"
    )
    cluster.advance(90_000)
    assert write(cluster, place.database, NEW) == ""
    pod = pods_of(cluster, place)[0]
    run = cluster.runtime.run(pod["metadata"]["uid"], place.container)
    cluster.runtime.end(run, cluster.now_ms, 137, "OOMKilled")
    cluster.loop.wake(cluster.now_ms, "kubelet", ("run", pod["metadata"]["uid"], place.container))
    cluster.advance(60_000)
    assert pods_of(cluster, place)[0]["metadata"]["uid"] == pod["metadata"]["uid"]
    assert read(cluster, place.database, "new-entry") == ""


def test_forks_keep_their_own_data():
    world = base("shop", 0)
    place, cluster = world.workloads["postgres"], world.cluster.fork()
    other = cluster.fork()
    assert write(other, place.database, NEW) == ""
    assert read(other, place.database, "new-entry") == "17"
    assert read(cluster, place.database, "new-entry") == ""


def test_a_server_says_whether_it_found_a_database():
    world = base("shop", 0)
    place, cluster = world.workloads["postgres"], world.cluster.fork()

    def first_lines():
        pod = pods_of(cluster, place)[0]
        return [line.text for line in cluster.runtime.log_lines(pod["metadata"]["uid"], place.container, 0)][
            :6
        ]

    assert any("init process complete" in text for text in first_lines())
    delete_pods(cluster, place)
    assert any("appears to contain a database" in text for text in first_lines())
