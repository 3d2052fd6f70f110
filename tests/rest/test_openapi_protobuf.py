"""The OpenAPI v2 document in protobuf, in which kubectl asks for it: read back here by the numbers of its fields."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from env_core.apiserver.request import ADMIN
from env_core.rest import openapi_protobuf
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest, HttpResponse
from tests.kubectl.written_world import world_of

ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def _get(accept: str) -> HttpResponse:
    headers = (("accept", accept),) if accept else ()
    api = RestApi(world_of([], "shop", 0).server)
    answer = api.handle(HttpRequest(method="GET", target="/openapi/v2", headers=headers, body=b""), ADMIN)
    assert isinstance(answer, HttpResponse)
    return answer


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _fields(data: bytes) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        assert key & 7 == 2, "every field here has a length"
        size, at = _varint(data, at)
        assert at + size <= len(data)
        found[key >> 3].append(data[at : at + size])
        at += size
    return found


def _named(data: bytes) -> dict[str, bytes]:
    pairs = (_fields(entry) for entry in _fields(data)[1])
    return {pair[1][0].decode(): pair[2][0] for pair in pairs}


def _schema(data: bytes) -> Any:
    parts = _fields(data)
    found: dict[str, Any] = {}
    for name, number in (("$ref", 1), ("format", 2)):
        if parts[number]:
            found[name] = parts[number][0].decode()
    if parts[22]:
        found["type"] = _fields(parts[22][0])[1][0].decode()
    if parts[19]:
        found["required"] = [text.decode() for text in parts[19]]
    if parts[25]:
        found["properties"] = {name: _schema(inner) for name, inner in _named(parts[25][0]).items()}
    if parts[23]:
        found["items"] = _schema(_fields(parts[23][0])[1][0])
    if parts[21]:
        found["additionalProperties"] = _schema(_fields(parts[21][0])[1][0])
    for entry in parts[31]:
        pair = _fields(entry)
        found[pair[1][0].decode()] = json.loads(_fields(pair[2][0])[2][0])
    return found


@pytest.fixture(scope="module")
def definitions() -> dict[str, Any]:
    document = _fields(_get(ASKED).body)
    assert document[1] == [b"2.0"]
    return {name: _schema(schema) for name, schema in _named(document[9][0]).items()}


def test_both_forms_hold_the_same_schemas(definitions: dict[str, Any]) -> None:
    plain = json.loads(_get("application/json").body)["definitions"]
    assert definitions.keys() == plain.keys()
    for name, schema in plain.items():
        read = definitions[name]
        for part in ("type", "required", "x-kubernetes-group-version-kind"):
            assert read.get(part) == schema.get(part), (name, part)
        assert (read.get("properties") or {}).keys() == (schema.get("properties") or {}).keys(), name
    template = definitions["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["template"]
    assert template == {"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"}


def test_nothing_is_in_it_for_which_kubectl_refuses_a_whole_document(definitions: dict[str, Any]) -> None:
    """See kube-openapi pkg/util/proto/document.go."""

    def check(schema: dict[str, Any], where: str) -> None:
        if "$ref" in schema:
            assert "type" not in schema, where
            assert "properties" not in schema, where
            assert schema["$ref"].removeprefix("#/definitions/") in definitions, where
        assert schema.get("type") in (None, "object", "array", "string", "number", "integer", "boolean"), (
            where
        )
        assert ("items" in schema) == (schema.get("type") == "array"), where
        for name, inner in (schema.get("properties") or {}).items():
            check(inner, f"{where}.{name}")
        for part in ("items", "additionalProperties"):
            if part in schema:
                check(schema[part], f"{where}.{part}")

    for name, schema in definitions.items():
        check(schema, name)


def test_schemas_of_custom_resources_lose_what_version_2_cannot_say() -> None:
    schema = {
        "type": "object",
        "properties": {
            "any": {"x-kubernetes-preserve-unknown-fields": True, "type": "object"},
            "null": {"type": "string", "nullable": True},
            "either": {
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
            },
            "bare": {"type": "array"},
        },
    }
    document = {
        "swagger": "2.0",
        "info": {"title": "t", "version": "1"},
        "definitions": {"x": schema},
        "security": [],
        "securityDefinitions": {},
    }
    read = _named(_fields(openapi_protobuf.encode(document))[9][0])
    properties = _schema(read["x"])["properties"]
    assert {name: inner.get("type") for name, inner in properties.items()} == dict.fromkeys(properties)
    assert properties["any"]["x-kubernetes-preserve-unknown-fields"] is True


@pytest.mark.parametrize(
    ("accept", "code", "media"),
    [
        ("", 200, "application/json"),
        ("*/*", 200, "application/json"),
        ("application/json", 200, "application/json"),
        (ASKED, 200, openapi_protobuf.TYPE),
        (openapi_protobuf.TYPE, 200, openapi_protobuf.TYPE),
        (f"application/json;q=0.5, {ASKED}", 200, openapi_protobuf.TYPE),
        ("text/html", 406, None),
    ],
)
def test_the_client_chooses_the_form(accept: str, code: int, media: str | None) -> None:
    answer = _get(accept)
    assert answer.code == code
    assert dict(answer.headers).get("Content-Type") == media
