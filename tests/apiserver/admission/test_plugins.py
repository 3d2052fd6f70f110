"""What admission does to single objects, through a real API server."""

from __future__ import annotations

from typing import Any

import pytest

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import MERGE_PATCH, Identity
from tests.scheduler.world import World


@pytest.fixture
def world() -> World:
    world = World(seed=9, with_admission=True)
    world.api.create("serviceaccounts", "default", {"metadata": {"name": "default"}})
    return world


def pod(name: str = "", **fields: Any) -> dict[str, Any]:
    metadata = fields.pop("metadata", {"name": name})
    return {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "nginx"}], **fields}}


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def refusal(world: World, resource: str, body: dict[str, Any], namespace: str = "default") -> str:
    with pytest.raises(StatusError) as caught:
        world.api.create(resource, namespace, body)
    return caught.value.message


def test_services_get_different_addresses_from_the_range(world):
    addresses = [
        world.api.create("services", "default", service(f"s{index}"))["spec"]["clusterIP"]
        for index in range(40)
    ]
    assert len(set(addresses)) == 40
    assert all(address.startswith("10.96.") for address in addresses)


def test_node_ports_are_drawn_uniquely_and_taken_ones_refused(world):
    ports = [
        world.api.create("services", "default", service(f"s{index}", type="NodePort"))["spec"]["ports"][0][
            "nodePort"
        ]
        for index in range(40)
    ]
    assert len(set(ports)) == 40
    assert all(30000 <= port <= 32767 for port in ports)
    taken = {"ports": [{"port": 80, "nodePort": ports[0]}], "type": "NodePort"}
    assert refusal(world, "services", {"metadata": {"name": "x"}, "spec": taken}) == (
        f'Service "x" is invalid: spec.ports[0].nodePort: Invalid value: {ports[0]}: '
        "provided port is already allocated"
    )
    low = {"ports": [{"port": 80, "nodePort": 80}], "type": "NodePort"}
    assert refusal(world, "services", {"metadata": {"name": "x"}, "spec": low}) == (
        'Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid '
        "range. The range of valid ports is 30000-32767"
    )


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("10.96.0.1", "provided IP is already allocated"),
        ("10.97.0.1", "the provided network does not match the current range"),
    ],
)
def test_given_cluster_ips_must_be_free_and_in_range(world, address, why):
    assert refusal(world, "services", service("f", clusterIP=address)) == (
        f'Service "f" is invalid: spec.clusterIPs: Invalid value: ["{address}"]: '
        f"failed to allocate IP {address}: {why}"
    )


def test_headless_and_external_name_services_get_no_address(world):
    headless = world.api.create("services", "default", service("h", clusterIP="None"))
    assert headless["spec"]["clusterIPs"] == ["None"]
    external = {"metadata": {"name": "e"}, "spec": {"type": "ExternalName", "externalName": "example.com"}}
    assert "clusterIP" not in world.api.create("services", "default", external)["spec"]


def test_a_service_keeps_its_address_when_its_type_changes(world):
    before = world.api.create("services", "default", service("s"))
    after = world.api.patch("services", "default", "s", {"spec": {"type": "NodePort"}}, MERGE_PATCH)
    assert after["spec"]["clusterIP"] == before["spec"]["clusterIP"]
    port = after["spec"]["ports"][0]["nodePort"]
    again = world.api.patch("services", "default", "s", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    assert again["spec"]["ports"][0]["nodePort"] == port


def test_generated_names_show_as_their_base_before_they_exist(world):
    body = pod(metadata={"generateName": "web-"}, serviceAccountName="ghost")
    assert refusal(world, "pods", body).startswith(
        'pods "web-" is forbidden: error looking up service account'
    )


def test_pods_need_the_default_account_of_their_namespace(world):
    world.api.create("namespaces", "", {"metadata": {"name": "shop"}})
    assert refusal(world, "pods", pod("p"), "shop") == (
        'pods "p" is forbidden: error looking up service account shop/default: serviceaccount "default" not found'
    )


def test_the_default_priority_class_counts_for_pods_that_name_none(world):
    body = {"metadata": {"name": "usual"}, "value": 100, "globalDefault": True}
    world.api.create("priorityclasses.scheduling.k8s.io", "", body)
    spec = world.api.create("pods", "default", pod("p"))["spec"]
    assert (spec["priority"], spec["priorityClassName"]) == (100, "usual")
    other = {"metadata": {"name": "second"}, "value": 1, "globalDefault": True}
    assert refusal(world, "priorityclasses.scheduling.k8s.io", other, "") == (
        'priorityclasses.scheduling.k8s.io "second" is forbidden: '
        "PriorityClass usual is already marked as default. Only one default can exist"
    )


def test_a_burst_cannot_pass_a_quota_whose_status_is_old(world):
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    created = world.api.create("resourcequotas", "default", quota)
    world.put("resourcequotas", {**created, "status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}})
    for name in ("a", "b"):
        world.api.create("pods", "default", pod(name))
    assert refusal(world, "pods", pod("c")) == (
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    )


def test_the_newest_default_class_is_taken(world):
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    for name in ("old", "new"):
        body = {"metadata": {"name": name, "annotations": mark}, "provisioner": "example.com/p"}
        world.api.create("storageclasses.storage.k8s.io", "", body)
        world.run(2000)
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    created = world.api.create("persistentvolumeclaims", "default", claim)
    assert created["spec"]["storageClassName"] == "new"
    assert created["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


def test_new_nodes_are_tainted_until_they_are_seen_ready(world):
    node = world.api.create("nodes", "", {"metadata": {"name": "n1"}})
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def test_a_kubelet_may_not_touch_other_nodes(world):
    world.api.create("nodes", "", {"metadata": {"name": "n1"}})
    kubelet = ApiClient(world.server, Identity("system:node:n2", ("system:nodes", "system:masters")))
    with pytest.raises(StatusError) as caught:
        kubelet.patch("nodes", "", "n1", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    assert caught.value.message == 'nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"'


def test_an_enforced_level_lets_label_changes_of_running_pods_pass(world):
    world.api.create("pods", "default", pod("p"))
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    world.api.patch("namespaces", "", "default", {"metadata": {"labels": labels}}, MERGE_PATCH)
    world.api.patch("pods", "default", "p", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    assert 'violates PodSecurity "restricted:latest"' in refusal(world, "pods", pod("q"))
