"""Definitions and resources with parts missing, replaced or added: every one is answered, none breaks the server."""

from __future__ import annotations

import copy
import json
import random

import pytest
import yaml

from env_core.apiserver.request import ADMIN, MERGE_PATCH, ApiRequest, Options
from tests.apiextensions.worlds import DEFINITION, Town, widget

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
JUNK = (
    None, 0, -1, 1.5, True, "", "x", [], {}, [None], ["a"], {"a": None}, {"type": "object"}, {"a": {"b": [1]}}, 10**20,
    "(", ".spec", {"type": "array", "items": 5}, [[]], {"properties": {"x": {"type": "string", "default": None}}},
)  # fmt: skip
KEYWORDS = (
    "foo", "default", "items", "x-kubernetes-list-type", "nullable", "additionalProperties", "oneOf", "not", "pattern",
    "x-kubernetes-validations", "x-kubernetes-embedded-resource", "format", "enum", "required", "allOf",
)  # fmt: skip
FULL = "{size: 2, hosts: [1.2.3.4], ports: [{name: a, port: 1}], free: {a: {b: 1}}, labels: {a: b}, port: x}"
TRIES = 12


def places(value, path=()):
    if path:
        yield path
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in below:
        yield from places(item, (*path, key))


def broken(whole, chance):
    whole = copy.deepcopy(whole)
    for _ in range(chance.choice([1, 1, 2, 3])):
        path = chance.choice(list(places(whole)))
        parent = whole
        for key in path[:-1]:
            parent = parent[key]
        way = chance.random()
        if way < 0.2:
            del parent[path[-1]]
        elif way < 0.4 and isinstance(parent, dict):
            parent[chance.choice(KEYWORDS)] = copy.deepcopy(chance.choice(JUNK))
        else:
            parent[path[-1]] = copy.deepcopy(chance.choice(JUNK))
    return whole


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_sent_gets_an_answer(seed):
    chance = random.Random(seed)
    town = Town.booted(DEFINITION)
    town.stdout("kubectl create -f -", widget("a", FULL))
    definition, resource = yaml.safe_load(DEFINITION), yaml.safe_load(widget("a", FULL))
    resource["status"] = {"replicas": 1}

    def send(verb, where, body=None, **more):
        mode = chance.choice(["Strict", "Warn", "Ignore"])
        options = Options(field_validation=mode, dry_run=more.pop("dry_run", False))
        request = ApiRequest(verb=verb, resource=where, body=body, identity=ADMIN, options=options, **more)
        response = town.cluster.server.handle(request)
        assert json.dumps(response.object)
        return response.code

    for _ in range(TRIES):
        other = broken(definition, chance)
        text = json.dumps(other)
        send("create", DEFINITIONS, chance.choice([text, other]), dry_run=True)
        send("update", DEFINITIONS, text, name="widgets.example.com")
        patch = json.dumps({"spec": other.get("spec")})
        send("patch", DEFINITIONS, patch, name="widgets.example.com", content_type=MERGE_PATCH)
        town.cluster.advance(50)
        body = broken(resource, chance)
        text = json.dumps(body)
        for where in ("widgets.example.com", "widgets.v1beta1.example.com"):
            place = {"namespace": "default"}
            send("create", where, chance.choice([text, body]), **place, dry_run=True)
            for subresource in ("", "status", "scale"):
                named = {**place, "name": "a", "subresource": subresource}
                send("update", where, chance.choice([text, body]), **named)
                send("patch", where, text, content_type=MERGE_PATCH, **named)
                send("get", where, **named)
            send("list", where)
        assert "Traceback" not in town.run("kubectl get widgets -o wide; kubectl describe widgets").stderr


def test_a_schema_in_a_schema_is_read_as_one():
    town = Town.booted()
    nested = {"type": "array", "items": {"type": "string", "unknown": 1, "properties": None}}
    definition = yaml.safe_load(DEFINITION)
    schema = definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"]
    schema["properties"]["list"] = nested
    town.stdout("kubectl create -f -", yaml.safe_dump(definition))
    stored = town.yaml("kubectl get crd widgets.example.com")
    versions = stored["spec"]["versions"]
    assert versions[1]["schema"]["openAPIV3Schema"]["properties"]["list"]["items"] == {"type": "string"}
    nested["items"] = {"type": 5}
    assert "json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string" in (
        town.refusal("kubectl replace -f -", yaml.safe_dump(definition))
    )
    nested["items"], nested["additionalProperties"] = {"type": "string"}, "yes"
    assert "boolean or JSON schema expected" in town.refusal(
        "kubectl replace -f -", yaml.safe_dump(definition)
    )
