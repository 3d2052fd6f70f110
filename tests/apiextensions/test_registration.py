"""API services for the versions that definitions add."""

import yaml

from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry, ServedKinds
from env_core.controllers.crdregistration import API_SERVICES
from tests.apiextensions.worlds import DEFINITION
from tests.controllers.world import World, registry

API_SERVICE = Kind(
    group="apiregistration.k8s.io",
    version="v1",
    kind="APIService",
    plural="apiservices",
    is_namespaced=False,
    source="k8s.io/kube-aggregator pkg/apis/apiregistration/v1",
)


def managed(world):
    return [
        obj["metadata"]["name"]
        for obj in world.store.list(API_SERVICES)
        if (obj["metadata"].get("labels") or {}).get("kube-aggregator.kubernetes.io/automanaged") == "true"
    ]


def test_each_served_version_has_an_api_service_as_long_as_it_is_served():
    world = World()
    if registry().by_resource(API_SERVICES) is None:
        world.server.registry = ServedKinds(Registry([*registry().kinds, API_SERVICE]), world.store)
    definition = yaml.safe_load(DEFINITION)
    world.api.create("customresourcedefinitions.apiextensions.k8s.io", "", definition)
    world.advance(1_000)
    assert managed(world) == ["v1.example.com", "v1beta1.example.com"]
    spec = world.store.get(API_SERVICES, "", "v1.example.com")["spec"]
    assert (spec["groupPriorityMinimum"], spec["versionPriority"]) == (1000, 100)
    patch = {"spec": {"versions": [definition["spec"]["versions"][0]]}}
    world.api.patch("customresourcedefinitions.apiextensions.k8s.io", "", "widgets.example.com", patch)
    world.advance(1_000)
    assert managed(world) == ["v1.example.com"]
    world.api.delete("customresourcedefinitions.apiextensions.k8s.io", "", "widgets.example.com")
    world.advance(1_000)
    assert managed(world) == []
