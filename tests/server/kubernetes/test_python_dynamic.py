"""The official Python client without models of its own: dynamic, on custom resources, and asynchronous."""

from __future__ import annotations

import asyncio

import pytest
import yaml
from kubernetes import client, dynamic, utils
from kubernetes.aio import client as aio_client
from kubernetes.aio import config as aio_config
from kubernetes.aio import watch as aio_watch
from kubernetes.aio.stream import WsApiClient
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, ResourceNotFoundError

from tests.server.kubernetes.pythonkit import SECONDS_MAX, connected, said
from tests.server.kubernetes.workshop import GROUP, PLURAL, VERSION

MERGE = "application/merge-patch+json"
RUNBOOK = {
    "apiVersion": f"{GROUP}/{VERSION}",
    "kind": "Runbook",
    "metadata": {"name": "restart"},
    "spec": {"service": "nginx"},
}


@pytest.fixture
def resources(api, tmp_path):
    return dynamic.DynamicClient(api, cache_file=str(tmp_path / "cache.json")).resources


def test_discovers_what_there_is(resources):
    deployments = resources.get(api_version="apps/v1", kind="Deployment")
    assert (deployments.name, deployments.short_names) == ("deployments", ["deploy"])
    assert set(deployments.subresources) == {"scale", "status"}
    found = {entry.group_version for entry in resources.search(kind="Event")}
    assert found == {"v1", "events.k8s.io/v1"}
    with pytest.raises(ResourceNotFoundError):
        resources.get(api_version="v1", kind="Squid")


def test_reads_and_changes_objects(resources):
    deployments = resources.get(api_version="apps/v1", kind="Deployment")
    listed = deployments.get(namespace="tron")
    assert listed.kind == "DeploymentList"
    assert [entry.metadata.name for entry in listed.items] == ["nginx", "redis"]
    scale = deployments.scale.patch(
        name="redis", namespace="tron", body={"spec": {"replicas": 1}}, content_type=MERGE
    )
    assert (scale.kind, scale.spec.replicas) == ("Scale", 1)
    maps = resources.get(api_version="v1", kind="ConfigMap")
    made = maps.create(namespace="default", body={"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert maps.patch(name="a", namespace="default", body={"data": {"x": "y"}}).data.to_dict() == {
        "k": "v",
        "x": "y",
    }
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "w"}}
    with pytest.raises(ConflictError) as caught:
        maps.server_side_apply(name="a", namespace="default", body=applied, field_manager="robot")
    assert said(caught)[1] == "Conflict"
    assert said(caught)[2].startswith('Apply failed with 1 conflict: conflict with "')
    forced = maps.server_side_apply(
        name="a", namespace="default", body=applied, field_manager="robot", force_conflicts=True
    )
    assert forced.data.k == "w"
    stale = made.to_dict()
    with pytest.raises(ConflictError):
        maps.replace(namespace="default", body=stale)
    events = maps.watch(namespace="default", name="a", timeout=2)
    assert [(event["type"], event["object"].data.k) for event in events] == [("ADDED", "w")]
    assert maps.delete(name="a", namespace="default").status == "Success"
    with pytest.raises(NotFoundError):
        maps.get(name="a", namespace="default")


def test_creates_what_a_file_says(api, tmp_path):
    manifest = tmp_path / "all.yaml"
    names = ("one", "two")
    manifest.write_text(
        yaml.safe_dump_all(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in names
        )
    )
    utils.create_from_yaml(api, str(manifest), namespace="default")
    with pytest.raises(utils.FailToCreateError) as caught:
        utils.create_from_yaml(api, str(manifest), namespace="default")
    assert [error.status for error in caught.value.api_exceptions] == [409, 409]


class TestCustomResources:
    @pytest.fixture
    def api(self, workshop):
        with connected(workshop) as found:
            yield found

    def test_dynamically(self, resources):
        runbooks = resources.get(kind="Runbook", group=GROUP)
        made = runbooks.create(namespace="default", body=RUNBOOK)
        assert (made.spec.replicas, made.metadata.generation) == (1, 1)
        scaled = runbooks.scale.patch(
            name="restart", namespace="default", body={"spec": {"replicas": 3}}, content_type=MERGE
        )
        assert (scaled.apiVersion, scaled.spec.replicas) == ("autoscaling/v1", 3)
        changed = runbooks.patch(
            name="restart", namespace="default", body={"spec": {"service": "redis"}}, content_type=MERGE
        )
        assert (changed.spec.service, changed.metadata.generation) == ("redis", 3)
        applied = {**RUNBOOK, "spec": {"service": "nginx"}}
        forced = runbooks.server_side_apply(
            name="restart", namespace="default", body=applied, field_manager="robot", force_conflicts=True
        )
        assert forced.spec.service == "nginx"
        assert [each.metadata.name for each in runbooks.get().items] == ["restart"]

    def test_by_their_paths(self, api):
        custom = client.CustomObjectsApi(api)
        where = (GROUP, VERSION, "default", PLURAL)
        for body, message in (
            (
                {**RUNBOOK, "spec": {}},
                'Runbook.ops.example.com "restart" is invalid: spec.service: Required value',
            ),
            (
                {**RUNBOOK, "spec": {"service": "x", "replicas": 10}},
                'Runbook.ops.example.com "restart" is invalid: spec.replicas: Invalid value: 10: '
                "spec.replicas in body should be less than or equal to 9",
            ),
        ):
            with pytest.raises(client.ApiException) as caught:
                custom.create_namespaced_custom_object(*where, body)
            assert said(caught) == (422, "Invalid", message)
        made = custom.create_namespaced_custom_object(*where, RUNBOOK)
        assert made["spec"] == {"service": "nginx", "replicas": 1}
        made["spec"]["replicas"] = 2
        custom.replace_namespaced_custom_object(*where, "restart", made)
        (listed,) = custom.list_namespaced_custom_object(*where)["items"]
        assert listed["spec"]["replicas"] == 2
        assert custom.get_namespaced_custom_object_scale(*where, "restart")["spec"] == {"replicas": 2}
        assert custom.delete_namespaced_custom_object(*where, "restart")["status"] == "Success"


def test_asynchronously(episode):
    async def play():
        configuration = aio_client.Configuration()
        await aio_config.load_kube_config_from_dict(
            yaml.safe_load(episode.kubeconfig().text), client_configuration=configuration
        )
        async with aio_client.ApiClient(configuration) as api:
            core = aio_client.CoreV1Api(api)
            (redis,) = (await core.list_namespaced_pod("tron", label_selector="app=redis")).items
            await asyncio.gather(
                *(core.create_namespaced_config_map("default", {"metadata": {"name": name}}) for name in "ab")
            )
            with pytest.raises(aio_client.ApiException) as caught:
                await core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
            assert said(caught) == (409, "AlreadyExists", 'configmaps "a" already exists')
            patched = await core.patch_namespaced_config_map("a", "default", {"data": {"k": "v"}})
            assert patched.data == {"k": "v"}
            seen = []
            async with aio_watch.Watch() as watching:
                listing = core.list_namespaced_config_map
                async for event in watching.stream(listing, "default", timeout_seconds=SECONDS_MAX * 10):
                    seen.append((event["type"], event["object"].metadata.name))
                    if len(seen) == 3:
                        break
            assert sorted(seen) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "kube-root-ca.crt")]
        async with WsApiClient(configuration) as api:
            core = aio_client.CoreV1Api(api)
            said_there = await core.connect_get_namespaced_pod_exec(
                redis.metadata.name, "tron", command=["redis-cli", "ping"], stdout=True
            )
            assert said_there == "PONG\n"

    asyncio.run(play())
