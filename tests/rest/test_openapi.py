"""The OpenAPI documents say what is served, and what kubectl looks for in them."""

from __future__ import annotations

import json

import pytest

from env_core.apiserver.request import ADMIN
from env_core.cluster import Cluster
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest

PATCHES = {
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
}


@pytest.fixture(scope="module")
def world() -> Cluster:
    made = Cluster(seed=1)
    made.boot()
    return made


def get(world, target):
    answer = RestApi(world.server).handle(HttpRequest(method="GET", target=target), ADMIN)
    return answer.code, json.loads(answer.body) if answer.body else None


def test_index_leads_to_every_document(world):
    _, index = get(world, "/openapi/v3")
    for name, entry in index["paths"].items():
        code, document = get(world, entry["serverRelativeURL"])
        assert (code, document["openapi"]) == (200, "3.0.0"), name


def test_groups_and_roots_have_documents_of_their_own(world):
    # Facts of the recorded documents of "apis/apps" and "version".
    _, index = get(world, "/openapi/v3")
    assert {"api", "apis", "apis/apps", "openid/v1/jwks", "version"} <= set(index["paths"])
    _, group = get(world, "/openapi/v3/apis/apps")
    assert group["paths"]["/apis/apps/"]["get"]["operationId"] == "getAppsAPIGroup"
    assert set(group["components"]["schemas"]) == {
        f"io.k8s.apimachinery.pkg.apis.meta.v1.{name}"
        for name in ("APIGroup", "GroupVersionForDiscovery", "ServerAddressByClientCIDR")
    }
    _, version = get(world, "/openapi/v3/version")
    info = version["components"]["schemas"]["io.k8s.apimachinery.pkg.version.Info"]
    assert info["properties"]["gitVersion"] == {"type": "string", "default": ""}
    assert "emulationMajor" not in info["required"]
    assert get(world, "/openapi/v3/apis/nothing") == (404, None)


def test_an_old_hash_leads_to_the_new_one(world):
    answer = RestApi(world.server).handle(
        HttpRequest(method="GET", target="/openapi/v3/apis/apps/v1?hash=0"), ADMIN
    )
    assert answer.code == 301
    assert get(world, answer.header("Location"))[0] == 200


def test_references_lead_somewhere(world):
    _, index = get(world, "/openapi/v3")
    for entry in index["paths"].values():
        _, document = get(world, entry["serverRelativeURL"])
        schemas = document["components"].get("schemas", {})
        text = json.dumps(document)
        for part in text.split('"$ref": "#/components/schemas/')[1:]:
            assert part.split('"', 1)[0] in schemas


def test_patches_say_which_types_they_take(world):
    # Without the strategic one kubectl asks for version 2 of the document, in protobuf.
    _, document = get(world, "/openapi/v3/apis/apps/v1")
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert set(patch["requestBody"]["content"]) == PATCHES
    assert {"dryRun", "fieldValidation"} <= {parameter["name"] for parameter in patch["parameters"]}


def test_schemas_have_the_recorded_form_without_prose(world):
    # Facts of the recorded document of apps/v1.
    _, document = get(world, "/openapi/v3/apis/apps/v1")
    schema = document["components"]["schemas"]["io.k8s.api.apps.v1.DeploymentSpec"]
    assert schema["required"] == ["selector", "template"]
    assert schema["properties"]["strategy"] == {
        "allOf": [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}],
        "default": {},
        "x-kubernetes-patch-strategy": "retainKeys",
    }
    assert "description" not in json.dumps(document)


def test_version_2_defines_the_same_types(world):
    _, document = get(world, "/openapi/v2")
    spec = document["definitions"]["io.k8s.api.apps.v1.DeploymentSpec"]
    assert spec["properties"]["template"] == {"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"}
