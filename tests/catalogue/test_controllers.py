"""Every controller is level-triggered: it settles, survives what vanishes, rests when nothing happens, and converges."""

import pytest

from env_core import controllers as package
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import registry
from env_core.controllers import Controller
from env_core.controllers._model import CUSTOM_RESOURCES
from env_core.discovery import discover
from tests.catalogue import worlds

CONTROLLERS = discover(package, "CONTROLLER", Controller)
IDLE_MS = 3_600_000
IDLE_ENTRIES_MAX = 200
CONVERGED_MS = 120_000

every_controller = pytest.mark.parametrize(
    "controller", CONTROLLERS.values(), ids=lambda controller: controller.name
)


def keys_of(cluster, controller):
    """Return every key that the world's objects lead the controller to, sorted."""
    component = cluster._component_of(controller)
    found = set()
    for resource, _delay_ms, mapper in controller.routes():
        for obj in cluster.store.list(resource):
            found.update(mapper(obj, component))
    return sorted(found)


@every_controller
def test_declarations_are_complete(controller):
    assert controller.name
    assert controller.source.strip()
    assert controller.watches
    for resource, delay_ms, mapper in controller.routes():
        assert delay_ms >= 0
        assert callable(mapper)
        if resource == CUSTOM_RESOURCES:
            continue
        kind = registry().by_resource(resource)
        assert kind is not None, resource
        assert kind.resource == resource, f"{resource} must be group-qualified"


def test_names_are_unique():
    names = [controller.name for controller in CONTROLLERS.values()]
    assert sorted(set(names)) == sorted(names)


@every_controller
def test_a_second_reconcile_writes_nothing(controller):
    cluster = worlds.healthy()
    component = cluster._component_of(controller)
    keys = keys_of(cluster, controller)
    for _ in range(2):
        revision = cluster.store.revision
        for key in keys:
            controller.reconcile(component, key)
            assert cluster.store.revision == revision, (key, cluster.store.events_since(revision))


@every_controller
def test_it_survives_what_vanishes(controller):
    cluster = worlds.healthy()
    component = cluster._component_of(controller)
    revision = cluster.store.revision
    for resource, _delay_ms, mapper in controller.routes():
        for obj in cluster.store.list(resource):
            metadata = {**obj["metadata"], "name": "never-was", "uid": "00000000-0000-4000-8000-000000000000"}
            for key in mapper({**obj, "metadata": metadata}, component):
                if "never-was" in key.name:
                    controller.reconcile(component, key)
    assert cluster.store.revision == revision
    for key in keys_of(cluster, controller):
        fork = cluster.fork()
        for resource, _delay_ms, _mapper in controller.routes():
            kind = registry().by_resource(resource)
            namespace = key.namespace if kind.is_namespaced else ""
            if fork.store.get(resource, namespace, key.name) is None:
                continue
            try:
                fork.client().call(
                    "delete",
                    resource,
                    namespace,
                    key.name,
                    options=Options(grace_period_seconds=0, propagation_policy="Orphan"),
                )
            except StatusError as error:
                assert error.code in (403, 405), error.message  # noqa: PT017
        controller.reconcile(fork._component_of(controller), key)
        fork.advance(5_000)


def test_a_healthy_world_rests():
    cluster = worlds.healthy()
    before = cluster.loop.handled
    revision = cluster.store.revision
    cluster.advance(IDLE_MS)
    assert cluster.loop.handled - before < IDLE_ENTRIES_MAX
    assert cluster.store.revision == revision


def test_an_empty_world_rests():
    cluster = worlds.booted()
    cluster.advance(60_000)
    before = cluster.loop.handled
    cluster.advance(IDLE_MS)
    assert cluster.loop.handled - before < IDLE_ENTRIES_MAX


# Workloads: kinds with a scale and a pod template whose controller is here.

WORKLOADS = [
    (kind, controller)
    for controller in CONTROLLERS.values()
    for resource, _mapper in controller.watches[:1]
    if (kind := registry().by_resource(resource)) is not None and kind.scale is not None
]
every_workload = pytest.mark.parametrize(
    ("kind", "controller"),
    WORKLOADS,
    ids=[f"{controller.name}-{kind.kind}" for kind, controller in WORKLOADS],
)


def test_the_workloads_are_there():
    assert {"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"} <= {
        kind.kind for kind, _ in WORKLOADS
    }


def workload(kind, replicas=3):
    labels = {"app": "probe"}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "probe", "namespace": worlds.NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": labels if kind.kind == "ReplicationController" else {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "pause", "image": "registry.k8s.io/pause:3.10"}]},
            },
        },
    }


def pods(cluster):
    return [
        pod
        for pod in cluster.store.list("pods", worlds.NAMESPACE)
        if "deletionTimestamp" not in pod["metadata"]
    ]


def is_ready(pod):
    return any(
        row["type"] == "Ready" and row["status"] == "True" for row in pod["status"].get("conditions", ())
    )


def settled(kind):
    cluster = worlds.booted()
    cluster.client().create(kind.resource, worlds.NAMESPACE, workload(kind))
    cluster.advance(CONVERGED_MS)
    assert [is_ready(pod) for pod in pods(cluster)] == [True] * 3, [pod["status"] for pod in pods(cluster)]
    return cluster


@every_workload
def test_it_converges_from_too_few_pods(kind, controller):
    cluster = settled(kind)
    for pod in pods(cluster)[:2]:
        cluster.client().delete("pods", worlds.NAMESPACE, pod["metadata"]["name"])
    cluster.advance(CONVERGED_MS)
    assert [is_ready(pod) for pod in pods(cluster)] == [True] * 3
    assert len(cluster.store.list("pods", worlds.NAMESPACE)) == 3


@every_workload
def test_it_converges_from_too_many_pods(kind, controller):
    cluster = settled(kind)
    one = pods(cluster)[0]
    for number in range(3, 5):  # names that go on where a StatefulSet's end: it takes no others
        extra = worlds.bare(one)
        metadata = {**extra["metadata"], "name": f"probe-{number}"}
        metadata = {key: value for key, value in metadata.items() if key != "generateName"}
        spec = {key: value for key, value in extra["spec"].items() if key != "nodeName"}
        cluster.client().create("pods", worlds.NAMESPACE, {**extra, "metadata": metadata, "spec": spec})
    cluster.advance(CONVERGED_MS)
    assert len(cluster.store.list("pods", worlds.NAMESPACE)) == 3
    live = cluster.store.get(kind.resource, worlds.NAMESPACE, "probe")
    assert (live["status"]["replicas"], live["status"]["readyReplicas"]) == (3, 3)


@every_workload
def test_it_follows_its_number(kind, controller):
    cluster = settled(kind)
    api = cluster.client()
    for wanted in (5, 1, 0):
        api.patch(kind.resource, worlds.NAMESPACE, "probe", {"spec": {"replicas": wanted}})
        cluster.advance(CONVERGED_MS)
        assert [is_ready(pod) for pod in pods(cluster)] == [True] * wanted
    api.delete(kind.resource, worlds.NAMESPACE, "probe")
    cluster.advance(CONVERGED_MS)
    assert cluster.store.list("pods", worlds.NAMESPACE) == []
    before = cluster.loop.handled
    cluster.advance(IDLE_MS)
    assert cluster.loop.handled - before < IDLE_ENTRIES_MAX
