import pytest

from env_core.apiserver.request import Options
from env_core.controllers import Key
from tests.controllers.town import Town
from tests.controllers.world import controllers


@pytest.fixture
def town():
    return Town()


def test_a_healthy_cluster_asks_for_no_more_time(town):
    town.deploy()
    town.serve()
    # The progress deadline of the rollout is the last thing that is waited for.
    town.world.advance(700_000)
    assert town.world.failures() == {}
    assert town.world.loop.next_ms() is None


def test_a_second_reconcile_writes_nothing(town):
    town.deploy()
    town.serve()
    budget = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2}
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": budget,
    }
    town.world.api.create("poddisruptionbudgets.policy", "default", body)
    town.world.advance(30_000)
    revision = town.world.store.revision
    for controller in controllers().values():
        for key in town.keys_of(controller):
            controller.reconcile(town.world.component(controller), key)
    assert town.world.store.revision == revision


@pytest.mark.parametrize("name", sorted(controllers()))
def test_every_controller_survives_its_object_vanishing(town, name):
    controller = controllers()[name]
    other = {"garbage-collector": "pods/gone/no-such-uid", "cert-manager": "Certificate/gone"}
    key = Key("default", other.get(name, "gone"))
    revision = town.world.store.revision
    assert controller.reconcile(town.world.component(controller), key) is None
    assert town.world.store.revision == revision


def test_every_controller_acts_as_a_known_account(town):
    accounts = {
        subject["name"]
        for binding in town.world.store.list("clusterrolebindings.rbac.authorization.k8s.io")
        for subject in binding.get("subjects") or ()
        if subject["kind"] == "ServiceAccount"
    }
    wanted = {each.actor().name.rpartition(":")[2] for each in controllers().values() if not each.user}
    assert wanted - accounts == set()


def test_a_silent_node_is_unreachable_after_50_s_and_loses_its_pods_after_5_min(town):
    town.deploy(replicas=3)
    town.world.advance(10_000)
    victim = town.pods()[0]["spec"]["nodeName"]
    town.kubelet.act("default", {"action": "node_down", "node": victim})
    town.world.advance(44_000)
    assert "taints" not in town.get("nodes", victim, "")["spec"]
    town.world.advance(12_000)
    effects = [(taint["key"], taint["effect"]) for taint in town.get("nodes", victim, "")["spec"]["taints"]]
    assert effects == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    assert not any("deletionTimestamp" in pod["metadata"] for pod in town.pods())
    town.world.advance(301_000)
    gone = [pod for pod in town.pods() if "deletionTimestamp" in pod["metadata"]]
    assert {pod["spec"]["nodeName"] for pod in gone} == {victim}
    assert len(town.pods()) == 3 + len(gone)


def test_a_node_that_returns_in_time_keeps_its_pods(town):
    town.deploy(replicas=3)
    town.world.advance(10_000)
    victim = town.pods()[0]["spec"]["nodeName"]
    before = [pod["metadata"]["uid"] for pod in town.pods()]
    town.kubelet.act("default", {"action": "node_down", "node": victim})
    town.world.advance(100_000)
    town.kubelet.act("default", {"action": "node_up", "node": victim})
    town.world.advance(400_000)
    assert not town.get("nodes", victim, "")["spec"].get("taints")
    assert [pod["metadata"]["uid"] for pod in town.pods()] == before
    messages = [event["message"] for event in town.world.store.list("events", "default")]
    assert any(text.startswith("Cancelling deletion of Pod default/web-") for text in messages)


def test_no_pod_is_driven_out_when_every_node_falls_silent(town):
    town.deploy(replicas=3)
    town.world.advance(10_000)
    for name in town.nodes:
        town.kubelet.act("default", {"action": "node_down", "node": name})
    town.world.advance(600_000)
    assert not any("deletionTimestamp" in pod["metadata"] for pod in town.pods())
    effects = {t["effect"] for name in town.nodes for t in town.get("nodes", name, "")["spec"]["taints"]}
    assert effects == {"NoSchedule"}


def test_pods_of_a_deleted_node_are_collected(town):
    town.deploy(replicas=3)
    town.world.advance(10_000)
    victim = town.pods()[0]["spec"]["nodeName"]
    town.kubelet.act("default", {"action": "node_down", "node": victim})
    town.world.api.delete("nodes", "", victim)
    town.world.advance(90_000)
    assert victim not in {pod["spec"]["nodeName"] for pod in town.pods()}
    assert len(town.pods()) == 3


def test_every_namespace_gets_its_default_account_and_certificate(town):
    town.world.api.create(
        "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    )
    town.world.advance(100)
    assert town.get("serviceaccounts", "default", "shop") is not None
    assert "BEGIN CERTIFICATE" in town.get("configmaps", "kube-root-ca.crt", "shop")["data"]["ca.crt"]
    town.world.api.delete("configmaps", "shop", "kube-root-ca.crt")
    town.world.advance(100)
    assert town.get("configmaps", "kube-root-ca.crt", "shop") is not None


def test_a_deleted_namespace_is_emptied_pods_first(town):
    town.world.api.create(
        "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    )
    town.world.advance(100)
    town.deploy(namespace="shop")
    town.serve(namespace="shop")
    town.world.advance(10_000)
    town.world.api.delete("namespaces", "", "shop")
    town.world.advance(5_300)
    assert all("deletionTimestamp" in pod["metadata"] for pod in town.pods("shop"))
    assert town.get("deployments.apps", "web", "shop") is not None
    town.world.advance(40_000)
    left = [resource for resource in town.world.store.resources() if town.world.store.count(resource, "shop")]
    assert left == []
    assert town.get("namespaces", "shop", "") is None


def test_cascades_follow_their_policy(town):
    town.deploy("back")
    town.deploy("front")
    town.deploy("orphan")
    town.world.advance(10_000)
    for name, policy in (("back", "Background"), ("front", "Foreground"), ("orphan", "Orphan")):
        town.world.api.delete("deployments.apps", "default", name, Options(propagation_policy=policy))
    assert town.get("deployments.apps", "back") is None
    assert town.get("deployments.apps", "front")["metadata"]["finalizers"] == ["foregroundDeletion"]
    town.world.advance(10_000)
    assert town.get("deployments.apps", "front") is None
    assert town.get("deployments.apps", "orphan") is None
    assert {pod["metadata"]["labels"]["app"] for pod in town.pods()} == {"orphan"}
    owners = [each["metadata"].get("ownerReferences") for each in town.world.store.list("replicasets.apps")]
    assert owners == [None]


def test_slices_hold_a_hundred_endpoints_each(town):
    town.serve()
    town.deploy(replicas=230)
    town.world.advance(20_000)
    slices = town.world.store.list("endpointslices.discovery.k8s.io", "default")
    sizes = sorted(len(each["endpoints"]) for each in slices)
    assert sum(sizes) == 230
    assert max(sizes) == 100
    assert len(sizes) == 3


def test_a_terminating_pod_serves_but_is_not_ready(town):
    town.serve()
    town.deploy(replicas=1)
    town.world.advance(5_000)
    town.kubelet.modes["default"] = {"term": "hold"}
    town.world.api.delete("pods", "default", town.pods()[0]["metadata"]["name"])
    town.world.advance(20)
    (endpointslice,) = town.world.store.list("endpointslices.discovery.k8s.io", "default")
    assert [each["conditions"] for each in endpointslice["endpoints"]] == [
        {"ready": False, "serving": True, "terminating": True}
    ]


def test_aggregated_roles_gather_the_rules_of_those_they_select(town):
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get"]}
    labels = {f"{group}/aggregate-to-view": "true"}
    body = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "widgets", "labels": labels},
    }
    town.world.api.create(f"clusterroles.{group}", "", {**body, "rules": [rule]})
    town.world.advance(1_000)
    assert rule in town.get(f"clusterroles.{group}", "view", "")["rules"]
    town.world.api.delete(f"clusterroles.{group}", "", "widgets")
    town.world.advance(1_000)
    assert rule not in town.get(f"clusterroles.{group}", "view", "")["rules"]


def test_a_hash_collision_is_counted_and_hashed_anew(town):
    town.deploy(replicas=1)
    town.world.advance(5_000)
    (replicaset,) = town.world.store.list("replicasets.apps", "default")
    name = replicaset["metadata"]["name"]
    town.world.api.delete("deployments.apps", "default", "web")
    town.world.advance(5_000)
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "image": "other:1"}]},
    }
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}
    town.world.api.create("replicasets.apps", "default", body)
    town.deploy(replicas=1)
    town.world.advance(5_000)
    status = town.get("deployments.apps", "web")["status"]
    assert status["collisionCount"] == 1
    assert status["availableReplicas"] == 1


def test_refused_pods_are_told_once_in_the_condition_and_tried_ever_later(town):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "1"}},
    }
    town.world.api.create("resourcequotas", "default", quota)
    town.world.advance(100)
    town.deploy(replicas=3)
    town.world.advance(60_000)
    (replicaset,) = town.world.store.list("replicasets.apps", "default")
    (condition,) = replicaset["status"]["conditions"]
    assert condition["reason"] == "FailedCreate"
    assert "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1" in condition["message"]
    reconciles = town.world.reconciles
    town.world.advance(600_000)
    assert town.world.reconciles - reconciles < 12
