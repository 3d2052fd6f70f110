"""What the API server and its storage take no more of: in the real ones' words, and never an exception."""

from __future__ import annotations

import json
import time

import pytest

from env_core.apiserver import space
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import JSON_PATCH, STRATEGIC_PATCH, ApiRequest, Identity, Options
from env_core.cluster import Cluster

AGENT = Identity("sre", ("system:masters",))
COMPONENT = Identity("system:kube-controller-manager", ("system:masters",))
MIB = 1024 * 1024


def _cluster() -> Cluster:
    cluster = Cluster(seed=1)
    cluster.boot()
    return cluster


def _map(name: str, size: int) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"a": "x" * size},
    }


def _deployment(container: dict[str, object]) -> dict[str, object]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }


def test_an_object_above_the_request_limit_of_etcd_is_refused_in_its_words():
    api = _cluster().client(AGENT)
    container = {"name": "c", "image": "x", "env": [{"name": "E", "value": "x" * (MIB + MIB // 2)}]}
    with pytest.raises(StatusError) as refused:
        api.create("deployments.apps", "default", _deployment(container))
    assert (refused.value.code, refused.value.message) == (500, "etcdserver: request is too large")
    assert refused.value.reason == ""


def test_what_an_episode_stores_is_bounded_and_room_comes_back():
    cluster = _cluster()
    api = cluster.client(AGENT)
    for number in range(space.QUOTA_BYTES // MIB):
        api.create("configmaps", "default", _map(f"m{number}", MIB - 1024))
    fork = cluster.fork()
    for world in (cluster, fork):
        with pytest.raises(StatusError) as refused:
            world.client(AGENT).create("configmaps", "default", _map("more", MIB - 1024))
        assert (refused.value.code, refused.value.message) == (
            500,
            "etcdserver: mvcc: database space exceeded",
        )
    for number in range(space.QUOTA_BYTES // MIB):
        api.delete("configmaps", "default", f"m{number}")
    with pytest.raises(StatusError):
        api.create("configmaps", "default", _map("soon", MIB - 1024))
    for number in range(2_100):
        cluster.client(COMPONENT).create("configmaps", "default", _map(f"s{number}", 1))
    api.create("configmaps", "default", _map("later", MIB - 1024))


def test_parts_of_the_cluster_are_not_held_to_the_quota(monkeypatch):
    monkeypatch.setattr(space, "QUOTA_BYTES", 1)
    cluster = _cluster()
    cluster.client(COMPONENT).create("configmaps", "default", _map("a", 100))
    with pytest.raises(StatusError):
        cluster.client(AGENT).create("configmaps", "default", _map("b", 100))


def test_copies_of_copies_end_at_the_limit_of_the_real_server():
    cluster = _cluster()
    api = cluster.client(AGENT)
    api.create("configmaps", "default", _map("a", 10))
    copies = [
        {"op": "copy", "from": "/metadata/annotations", "path": f"/metadata/annotations/k{number}"}
        for number in range(60)
    ]
    patch = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}, *copies]
    text = json.dumps(patch)
    response = cluster.server.handle(
        ApiRequest(
            verb="patch", resource="configmaps", namespace="default", name="a", body=text,
            content_type=JSON_PATCH, identity=AGENT, options=Options(),
        )
    )  # fmt: skip
    # The server hides the text of what does not apply: NewGenericServerResponse, as recorded in l0/patch_json.
    assert (response.code, response.object["reason"]) == (422, "Invalid")


@pytest.mark.parametrize("kind", ["index-0", "strategic"])
def test_thousands_of_items_take_no_quadratic_time(kind):
    cluster = _cluster()
    api = cluster.client(AGENT)
    api.create("deployments.apps", "default", _deployment({"name": "c", "image": "x"}))
    if kind == "strategic":
        many = [{"name": f"c{number}", "image": "x"} for number in range(12_000)]
        body, content_type = {"spec": {"template": {"spec": {"containers": many}}}}, STRATEGIC_PATCH
    else:
        env = [{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": []}]
        env += [
            {"op": "add", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": f"E{number}"}}
            for number in range(9_000)
        ]
        body, content_type = env, JSON_PATCH
    began_s = time.process_time()
    cluster.server.handle(
        ApiRequest(
            verb="patch", resource="deployments.apps", namespace="default", name="d", body=json.dumps(body),
            content_type=content_type, identity=AGENT, options=Options(),
        )
    )  # fmt: skip
    assert time.process_time() - began_s < 8


@pytest.mark.parametrize(
    ("count", "length", "sent"), [(1, 500_000, 1), (9, 300, 9), (500, 300, 16), (3, 5, 3)]
)
def test_warnings_are_cut_as_the_real_server_cuts_them(count, length, sent):
    cluster = _cluster()
    fields = {f"{number}".ljust(length, "f"): 1 for number in range(count)}
    response = cluster.server.handle(
        ApiRequest(
            verb="create", resource="configmaps", namespace="default", body=json.dumps({**_map("a", 1), **fields}),
            identity=AGENT, options=Options(field_validation="Warn"),
        )
    )  # fmt: skip
    assert response.code == 201
    assert len(response.warnings) == sent
    assert sum(map(len, response.warnings)) <= 4_096 + 256
