"""What the server writes besides what it is asked to, and who then manages it (recorded: l2/flows quota, pvc-, sts-)."""

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from tests.apiserver.appliers import DEPLOYMENTS, config_map, deployment, managers, seeing, shop

QUOTAS = "resourcequotas"


@pytest.fixture
def cluster():
    return shop()


@pytest.fixture
def api(cluster):
    return seeing(cluster)


@pytest.fixture
def quota(cluster, api):
    api.create(QUOTAS, "shop", {"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "3"}}})
    cluster.advance(5_000)  # until it is counted: kube-root-ca.crt is there
    return lambda: api.get(QUOTAS, "shop", "q")


def test_a_create_is_charged_to_the_quota_at_once_by_the_server(api, quota):
    api.create("configmaps", "shop", config_map("one"))
    assert quota()["status"]["used"] == {"configmaps": "2"}
    assert managers(quota())[("kube-apiserver", "Update", "status")] == {
        "f:status": {"f:used": {"f:configmaps": {}}}
    }


def test_a_dry_run_and_a_refusal_are_not_charged(api, quota):
    api.create("configmaps", "shop", config_map("one"), options=Options(dry_run=True))
    assert quota()["status"]["used"] == {"configmaps": "1"}
    api.create("configmaps", "shop", config_map("one"))
    api.create("configmaps", "shop", config_map("two"))
    with pytest.raises(StatusError, match="exceeded quota: q, requested: configmaps=1, used: configmaps=3"):
        api.create("configmaps", "shop", config_map("three"))
    assert quota()["status"]["used"] == {"configmaps": "3"}


def test_the_controller_takes_back_what_is_deleted(cluster, api, quota):
    api.create("configmaps", "shop", config_map("one"))
    api.delete("configmaps", "shop", "one")
    cluster.advance(5_000)
    assert quota()["status"]["used"] == {"configmaps": "1"}


def test_who_scales_to_none_does_not_manage_the_replicas(api):
    api.create(DEPLOYMENTS, "shop", deployment(replicas=1))
    for replicas, owner in ((2, {"f:spec": {"f:replicas": {}}}), (0, None)):
        api.patch(DEPLOYMENTS, "shop", "web", {"spec": {"replicas": replicas}}, subresource="scale")
        assert managers(api.get(DEPLOYMENTS, "shop", "web")).get(("kubectl", "Update", "scale")) == owner


def test_when_a_volume_changed_its_phase_is_the_servers_to_say(cluster, api):
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/data"},
        "storageClassName": "none",
    }
    api.create("persistentvolumes", "", {"metadata": {"name": "v"}, "spec": spec})
    cluster.advance(5_000)
    volume = api.get("persistentvolumes", "", "v")
    assert volume["status"]["phase"] == "Available"
    assert volume["status"]["lastPhaseTransitionTime"] >= volume["metadata"]["creationTimestamp"]
    assert managers(volume)[("kube-controller-manager", "Update", "status")] == {"f:status": {"f:phase": {}}}
