"""Services keep and give back what was allocated; endpoint lists are cut; docker configurations are JSON objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from env_core.kinds import secret, service
from env_core.kinds._endpointslice_addresses import ready_addresses


def _node_port_service(**changes: Any) -> dict[str, Any]:
    spec = {
        "type": "NodePort",
        "clusterIP": "10.96.0.10",
        "clusterIPs": ["10.96.0.10"],
        "ports": [{"name": "http", "port": 80, "nodePort": 30080}],
        "selector": {"app": "web"},
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
    }
    return service.KIND.default(
        {"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {**spec, **changes}}
    )


def _update(new: dict[str, Any], old: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    prepared = service.KIND.prepare_update(new, old)
    assert service.KIND.validate_update is not None
    return prepared, [problem.text() for problem in service.KIND.validate_update(prepared, old)]


def test_applying_a_service_again_keeps_its_address_and_node_port():
    old = _node_port_service()
    again = _node_port_service(clusterIP="", clusterIPs=[], ports=[{"name": "http", "port": 8080}])
    prepared, problems = _update(again, old)
    assert problems == []
    assert prepared["spec"]["clusterIPs"] == ["10.96.0.10"]
    assert prepared["spec"]["ports"][0]["nodePort"] == 30080


@pytest.mark.parametrize(
    ("address", "texts"),
    [
        ("10.96.9.2", ['spec.clusterIPs[0]: Invalid value: ["10.96.9.2"]: may not change once set']),
        (
            "None",
            [
                'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
                "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
            ],
        ),
    ],
)
def test_a_patch_of_the_cluster_ip_is_refused_with_the_words_of_the_server(address: str, texts: list[str]):
    old = _node_port_service()
    assert _update(_node_port_service(clusterIP=address), old)[1] == texts


def test_a_service_that_becomes_a_name_gives_its_addresses_and_ports_back():
    old = _node_port_service()
    prepared, problems = _update(_node_port_service(type="ExternalName", externalName="a.b"), old)
    assert problems == []
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "externalTrafficPolicy"} & prepared["spec"].keys()
    assert "nodePort" not in prepared["spec"]["ports"][0]


def test_preparing_never_changes_what_it_is_given():
    old = _node_port_service()
    new = _node_port_service(type="ExternalName", externalName="a.b", clusterIP="")
    before = json.dumps([old, new])
    service.KIND.prepare_update(new, old)
    service.KIND.prepare_create(new)
    assert json.dumps([old, new]) == before


def test_more_than_three_endpoints_are_counted_not_listed():
    entries = [{"addresses": [f"10.0.0.{index}"], "conditions": {"ready": True}} for index in range(1, 6)]
    slices = [{"endpoints": entries, "ports": [{"name": "http", "port": 80}]}]
    wanted = "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more..."
    assert ready_addresses(slices, "http") == wanted


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"auths": {}}', ""),
        ("null", ""),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("", "unexpected end of JSON input"),
    ],
)
def test_a_docker_configuration_must_be_a_json_object(text: str, complaint: str):
    obj = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": text}}
    problems = secret.KIND.validate(secret.KIND.prepare_create(obj))
    assert [problem.detail for problem in problems] == ([complaint] if complaint else [])
