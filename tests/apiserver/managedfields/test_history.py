"""Managed fields are worked out when somebody looks, and cost nothing before."""

import gc
import sys

import pytest

from env_core.apiserver.managedfields import history
from env_core.apiserver.request import MERGE_PATCH
from tests.apiserver.appliers import DEPLOYMENTS, apply, config_map, deployment, managers, seeing, shop


@pytest.fixture
def cluster():
    return shop()


def test_writes_work_out_no_fields(cluster, monkeypatch):
    def refuse(*_arguments):
        raise AssertionError("somebody worked out managed fields")

    monkeypatch.setattr(history, "compare", refuse)
    admin = cluster.client()
    admin.create(DEPLOYMENTS, "shop", deployment())
    admin.patch(DEPLOYMENTS, "shop", "web", {"spec": {"replicas": 3}}, MERGE_PATCH)
    cluster.advance(5_000)
    assert "managedFields" not in admin.get(DEPLOYMENTS, "shop", "web")["metadata"]


def test_a_fork_and_its_origin_go_separate_ways(cluster):
    apply(seeing(cluster), config_map(a="1"))
    fork = cluster.fork()
    apply(seeing(fork), config_map(b="1"), "b")
    api = seeing(cluster)
    api.patch("configmaps", "shop", "c", {"data": {"u": "1"}}, MERGE_PATCH)
    assert [key[0] for key in managers(api.get("configmaps", "shop", "c"))] == ["a", "kubectl"]
    assert [key[0] for key in managers(seeing(fork).get("configmaps", "shop", "c"))] == ["a", "b"]


def test_a_deleted_object_takes_its_history_along(cluster):
    api = seeing(cluster)
    api.create("configmaps", "shop", config_map(a="1"))
    api.delete("configmaps", "shop", "c")
    assert cluster.store.written("configmaps", "shop", "c") is None
    made = api.create("configmaps", "shop", config_map(b="1"))
    assert managers(made) == {("kubectl", "Update", ""): {"f:data": {".": {}, "f:b": {}}}}


def test_an_object_keeps_a_bounded_number_of_its_versions(cluster):
    api = cluster.client()
    api.create("configmaps", "shop", config_map(a="0"))
    for number in range(2 * history.LENGTH_MAX):
        api.patch(
            "configmaps",
            "shop",
            "c",
            {"data": {"a": str(number), f"k{number % 7}": str(number)}},
            MERGE_PATCH,
        )
    node = cluster.store.written("configmaps", "shop", "c")
    length = 0
    while node is not None:
        length, node = length + 1, node.previous
    assert length <= history.LENGTH_MAX
    seen = managers(seeing(cluster).get("configmaps", "shop", "c"))
    assert list(seen) == [("kubectl", "Update", "")]


def test_looking_lets_go_of_the_versions_before(cluster):
    api = seeing(cluster)
    api.create("configmaps", "shop", config_map(a="0"))
    api.patch("configmaps", "shop", "c", {"data": {"a": "1"}}, MERGE_PATCH)
    node = cluster.store.written("configmaps", "shop", "c")
    assert (node.before, node.sent, node.previous) == (None, None, None)
    gc.collect()
    assert sys.getsizeof(node) < 200


def test_it_makes_no_difference_when_one_looks(cluster):
    admin, api = cluster.client(), seeing(cluster)
    for resource, changes in ((DEPLOYMENTS, [{"spec": {"replicas": n % 3}} for n in range(9)]),):
        admin.create(resource, "shop", deployment())
        fork = cluster.fork()
        eager = seeing(fork)
        for change in changes:
            admin.patch(resource, "shop", "web", change, MERGE_PATCH)
            eager.patch(resource, "shop", "web", change, MERGE_PATCH)
            cluster.advance(700)
            fork.advance(700)
            eager.get(resource, "shop", "web")
        assert api.get(resource, "shop", "web") == eager.get(resource, "shop", "web")
        assert cluster.digest() == fork.digest()
