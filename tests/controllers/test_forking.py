"""What controllers remember between reconciles goes with a fork, and two forks go the same way."""

import itertools

from env_core.sim.timefmt import parse_ms
from tests.catalogue import worlds
from tests.controllers.town import template

FAILING = {
    "restartPolicy": "Never",
    "containers": [{"name": "c", "image": "busybox:1.36", "command": ["false"]}],
}


def create(cluster, resource, api_version, kind, name, spec):
    body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    cluster.client().create(resource, worlds.NAMESPACE, body)


def put_to_work():
    cluster = worlds.booted()
    for resource, kind in (("statefulsets.apps", "StatefulSet"), ("daemonsets.apps", "DaemonSet")):
        labels = {"app": kind.lower()}
        spec = {"selector": {"matchLabels": labels}, "template": template(labels), "minReadySeconds": 3}
        create(cluster, resource, "apps/v1", kind, kind.lower(), spec)
    job = {"template": template({}, pod=FAILING), "backoffLimit": 4}
    create(cluster, "jobs.batch", "batch/v1", "Job", "fails", job)
    cron = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
    create(cluster, "cronjobs.batch", "batch/v1", "CronJob", "tick", cron)
    return cluster


def outcome(cluster):
    return {
        (str(ref), obj["metadata"]["resourceVersion"], obj["metadata"]["uid"])
        for ref, obj in cluster.store.everything()
    }


def test_forks_go_the_same_way_as_what_they_were_forked_from():
    cluster = put_to_work()
    cluster.advance(25_000)
    forks = [cluster.fork(), cluster.fork()]
    for each in (*forks, cluster):
        each.advance(200_000)
    assert outcome(forks[0]) == outcome(forks[1]) == outcome(cluster)
    assert forks[0].digest() == cluster.digest()


def test_a_fork_leaves_the_other_alone():
    cluster = put_to_work()
    cluster.advance(25_000)
    before = outcome(cluster)
    cluster.fork().advance(200_000)
    assert outcome(cluster) == before


def test_a_back_off_that_began_before_the_fork_goes_on_in_it():
    cluster = put_to_work()
    cluster.advance(25_000)
    fork = cluster.fork()
    fork.advance(300_000)
    made = sorted(
        parse_ms(pod["metadata"]["creationTimestamp"])
        for pod in fork.store.list("pods", worlds.NAMESPACE)
        if pod["metadata"]["name"].startswith("fails-")
    )
    waits_s = [(after - before) // 1_000 for before, after in itertools.pairwise(made)]
    assert len(made) == 5, [pod["status"] for pod in fork.store.list("pods", worlds.NAMESPACE)]
    assert waits_s == sorted(waits_s)
    assert waits_s[-1] >= 80
