"""The platform's guards and its delivery: what they refuse, and what they bring back."""

import pytest

from env_core.apiserver.errors import StatusError
from env_core.scenarios.apps import base

POD = {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "600"]}]}


@pytest.fixture
def world():
    return base("tenants", 0)


def replicas(cluster, workload):
    return cluster.store.get("deployments.apps", workload.namespace, workload.name)["spec"]["replicas"]


def scaled(cluster, workload, count):
    cluster.client().patch("deployments", workload.namespace, workload.name, {"spec": {"replicas": count}})


def source_of(workload):
    namespace, _, name = workload.source.partition("/")
    return namespace, name


def test_the_webhook_refuses_the_nodes_network_and_nothing_else(world):
    cluster = world.cluster.fork()
    client, namespace = cluster.client(), world.namespaces[0]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": namespace},
        "spec": POD,
    }
    client.create("pods", namespace, pod)
    pod = {**pod, "metadata": {"name": "guest", "namespace": namespace}, "spec": {**POD, "hostNetwork": True}}
    with pytest.raises(StatusError, match="tenants may not use the network of the node"):
        client.create("pods", namespace, pod)


def test_without_the_webhooks_server_no_pod_of_a_tenant_is_made(world):
    cluster = world.cluster.fork()
    scaled(cluster, world.workloads["guardrails"], 0)
    cluster.advance(60_000)
    portal = world.workloads["portal-0"]
    scaled(cluster, portal, 4)
    cluster.advance(60_000)
    status = cluster.store.get("deployments.apps", portal.namespace, portal.name)["status"]
    assert status["replicas"] == 2
    failed = next(each for each in status["conditions"] if each["type"] == "ReplicaFailure")
    assert 'no endpoints available for service "guardrails"' in failed["message"]


def test_the_policy_refuses_deployments_that_are_part_of_nothing(world):
    cluster = world.cluster.fork()
    portal = world.workloads["portal-0"]
    with pytest.raises(StatusError, match="every Deployment of a tenant says what it is part of"):
        cluster.client().patch(
            "deployments",
            portal.namespace,
            portal.name,
            {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}},
        )


def test_what_is_changed_by_hand_is_brought_back_within_a_minute_or_so(world):
    cluster = world.cluster.fork()
    workload = world.managed["bulletin-0"]
    scaled(cluster, workload, 5)
    cluster.advance(65_000)
    assert replicas(cluster, workload) == workload.replicas
    reasons = [event["reason"] for event in cluster.store.list("events", source_of(workload)[0])]
    assert "Synced" in reasons


def test_a_change_of_the_source_is_what_lasts(world):
    cluster = world.cluster.fork()
    workload = world.managed["bulletin-0"]
    namespace, name = source_of(workload)
    text = cluster.store.get("configmaps", namespace, name)["data"]["bulletin.yaml"]
    changed = text.replace("replicas: 2", "replicas: 3")
    cluster.client().patch("configmaps", namespace, name, {"data": {"bulletin.yaml": changed}})
    cluster.advance(300_000)
    assert replicas(cluster, workload) == 3


@pytest.mark.parametrize("pause", ["annotation", "agent"])
def test_a_paused_source_lets_changes_stand_for_as_long(world, pause):
    cluster = world.cluster.fork()
    workload = world.managed["bulletin-0"]
    namespace, name = source_of(workload)
    notes = {"metadata": {"annotations": {"sync.example.com/suspend": "true"}}}
    if pause == "annotation":
        cluster.client().patch("configmaps", namespace, name, notes)
    else:
        cluster.client().patch("deployments", namespace, "config-sync", {"spec": {"replicas": 0}})
        cluster.advance(5_000)
    scaled(cluster, workload, 5)
    cluster.advance(200_000)
    assert replicas(cluster, workload) == 5
    if pause == "annotation":
        notes["metadata"]["annotations"]["sync.example.com/suspend"] = None
        cluster.client().patch("configmaps", namespace, name, notes)
    else:
        cluster.client().patch("deployments", namespace, "config-sync", {"spec": {"replicas": 1}})
    cluster.advance(130_000)
    assert replicas(cluster, workload) == workload.replicas


def test_the_agent_does_what_its_account_may_and_says_what_it_may_not(world):
    cluster = world.cluster.fork()
    workload = world.managed["bulletin-0"]
    platform, _ = source_of(workload)
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list", "watch"]}]
    cluster.client().patch(
        "roles.rbac.authorization.k8s.io", workload.namespace, "config-sync", {"rules": rules}
    )
    scaled(cluster, workload, 5)
    cluster.advance(130_000)
    assert replicas(cluster, workload) == 5
    failed = [event for event in cluster.store.list("events", platform) if event["reason"] == "SyncFailed"]
    user = f"system:serviceaccount:{platform}:config-sync"
    why = f'User "{user}" cannot patch resource "deployments" in API group "apps" in the namespace "{workload.namespace}"'
    assert failed
    assert all(why in event["message"] for event in failed)


def test_a_source_that_is_no_yaml_applies_nothing(world):
    cluster = world.cluster.fork()
    workload = world.managed["bulletin-0"]
    namespace, name = source_of(workload)
    cluster.client().patch("configmaps", namespace, name, {"data": {"bulletin.yaml": "a: [b"}})
    scaled(cluster, workload, 5)
    cluster.advance(130_000)
    assert replicas(cluster, workload) == 5


def test_managed_workloads_are_what_is_declared(world):
    for role, workload in world.managed.items():
        assert role == workload.role
        found = world.cluster.store.get(workload.resource, workload.namespace, workload.name)
        assert found["spec"]["template"]["spec"]["containers"][0]["image"] == workload.image
        assert found["status"]["readyReplicas"] == workload.replicas
        assert world.cluster.store.get("configmaps", *source_of(workload)) is not None
