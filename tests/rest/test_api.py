"""The REST interface of real worlds: what clients get, against recorded answers where there are any."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from env_core.apiserver.request import ADMIN
from env_core.cluster import Cluster
from env_core.rest.api import RestApi
from env_core.rest.following import LogFollow
from env_core.rest.message import HttpRequest, HttpResponse, Upgrade
from env_core.rest.watching import Watch
from env_core.scenarios.platform import ON_CALL, with_platform

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PODS = "/api/v1/namespaces/kube-system/pods"


@pytest.fixture(scope="module")
def base() -> Cluster:
    return with_platform(seed=3)


@pytest.fixture
def world(base: Cluster) -> Cluster:
    return base.fork()


def ask(world, method, target, body=b"", *, identity=ADMIN, **headers):
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = HttpRequest(method=method, target=target, headers=given, body=data)
    return RestApi(world.server).handle(request, identity)


def read(world, target, **headers):
    answer = ask(world, "GET", target, **headers)
    assert isinstance(answer, HttpResponse)
    return answer.code, json.loads(answer.body)


def events(watch) -> Iterator[tuple[str, str]]:
    for line in watch.poll().splitlines():
        event = json.loads(line)
        yield event["type"], event["object"]["metadata"].get("name", "")


class TestDiscovery:
    def test_tells_built_in_resources_as_recorded(self, world):
        _, ours = read(
            world, "/apis", accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        )
        theirs = json.loads(_golden("aggregated_apis"))
        served = {group["metadata"]["name"]: group for group in ours["items"]}
        for group in theirs["items"]:
            name = group["metadata"]["name"]
            if name not in served:
                continue
            rows = {row["resource"]: row for row in served[name]["versions"][0]["resources"]}
            for row in group["versions"][0]["resources"]:
                assert rows.get(row["resource"], row) == row

    @pytest.mark.parametrize("group", ["apps", "batch", "policy", "rbac.authorization.k8s.io"])
    def test_lists_one_group_as_recorded(self, world, group):
        _, ours = read(world, f"/apis/{group}/v1")
        theirs = json.loads(_golden(f"legacy_apis_{group}_v1"))
        names = {row["name"] for row in ours["resources"]}
        assert ours["resources"] == [row for row in theirs["resources"] if row["name"] in names]
        assert len(names) > 1

    def test_answers_304_to_who_has_it(self, world):
        kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        first = ask(world, "GET", "/apis", accept=kind)
        again = ask(world, "GET", "/apis", accept=kind, if_none_match=first.header("etag"))
        assert (first.code, again.code, again.body) == (200, 304, b"")

    def test_says_what_is_no_path(self, world):
        answer = ask(world, "GET", "/nope")
        assert (answer.code, answer.body) == (404, b"404 page not found\n")


class TestReading:
    def test_lists_in_chunks_of_one_snapshot(self, world):
        _, whole = read(world, PODS)
        names = [item["metadata"]["name"] for item in whole["items"]]
        seen, token = [], ""
        while True:
            _, page = read(world, f"{PODS}?limit=1&continue={token}")
            seen += [item["metadata"]["name"] for item in page["items"]]
            token = page["metadata"].get("continue", "")
            if len(seen) == 1:
                assert page["metadata"]["remainingItemCount"] == len(names) - 1
                ask(world, "DELETE", f"{PODS}/{names[-1]}?gracePeriodSeconds=0")
            if not token:
                break
        # What goes meanwhile is still in the list: the token names a revision.
        assert seen == names

    def test_expires_a_token_whose_revision_is_forgotten(self, world):
        token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjY4LCJzdGFydCI6Ii9kZWZhdWx0L2t1YmUtcm9vdC1jYS5jcnRcdTAwMDAifQ"
        for number in range(2_200):
            world.store.put(
                "configmaps",
                {"metadata": {"name": f"x{number}", "namespace": "default", "uid": f"u{number}"}},
            )
        code, status = read(world, f"/api/v1/configmaps?limit=1&continue={token}")
        assert (code, status["reason"]) == (410, "Expired")
        # The recorded server gives the same token to go on with.
        assert status["metadata"]["continue"] == (
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiZGVmYXVsdC9rdWJlLXJvb3QtY2EuY3J0XHUwMDAwIn0"
        )
        code, rest = read(world, f"/api/v1/configmaps?limit=1&continue={status['metadata']['continue']}")
        assert (code, len(rest["items"])) == (200, 1)

    def test_renders_a_table_with_what_was_asked_for(self, world):
        for include, kind in (("", "PartialObjectMetadata"), ("Object", "Pod"), ("None", None)):
            _, table = read(world, f"{PODS}?includeObject={include}", accept=TABLE)
            assert [column["name"] for column in table["columnDefinitions"]][:3] == [
                "Name",
                "Ready",
                "Status",
            ]
            row = table["rows"][0]
            assert row["cells"][1:3] == ["1/1", "Running"]
            assert (row["object"] or {}).get("kind") == kind

    def test_answers_in_yaml(self, world):
        answer = ask(world, "GET", "/api/v1/namespaces/default", accept="application/yaml")
        assert answer.body.startswith(b"apiVersion: v1\nkind: Namespace\n")

    def test_says_why_when_yaml_cannot_hold_the_answer(self, world):
        # The refusal keeps its code, and what is answered is the failure to write it.
        answer = ask(world, "POST", "/api/v1/namespaces?dryRun=%7F", {}, accept="application/yaml")
        assert (answer.code, answer.header("Content-Type")) == (422, "application/yaml")
        assert b"message: 'yaml: control characters are not allowed'" in answer.body

    def test_serves_events_in_both_their_groups(self, world):
        _, core = read(world, "/api/v1/namespaces/kube-system/events")
        _, new = read(world, "/apis/events.k8s.io/v1/namespaces/kube-system/events")
        assert new["apiVersion"] == "events.k8s.io/v1"
        assert [item["note"] for item in new["items"]] == [item["message"] for item in core["items"]]

    def test_orders_lists_by_key(self, world):
        for name in ("shop", "shop-db"):
            ask(world, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            ask(world, "POST", f"/api/v1/namespaces/{name}/secrets", {"metadata": {"name": "s"}})
        _, listed = read(world, "/api/v1/secrets?fieldSelector=metadata.name=s")
        # "shop-db/s" comes before "shop/s": keys are compared, as etcd keeps them.
        assert [item["metadata"]["namespace"] for item in listed["items"]] == ["shop-db", "shop"]


class TestWriting:
    def test_warns_of_unknown_fields(self, world):
        body = {"metadata": {"name": "x"}, "spec": {}}
        answer = ask(world, "POST", "/api/v1/namespaces/default/configmaps", body)
        assert answer.code == 201
        assert answer.header("Warning") == '299 - "unknown field \\"spec\\""'

    def test_reads_yaml(self, world):
        body = b"metadata:\n  name: cm\ndata:\n  a: 'yes'\n"
        answer = ask(
            world, "POST", "/api/v1/namespaces/default/configmaps", body, content_type="application/yaml"
        )
        assert json.loads(answer.body)["data"] == {"a": "yes"}

    @pytest.mark.parametrize(
        ("content_type", "body"),
        [
            ("application/merge-patch+json", {"data": {"a": "1"}}),
            ("application/strategic-merge-patch+json", {"data": {"a": "1"}}),
            ("application/json-patch+json", [{"op": "add", "path": "/data", "value": {"a": "1"}}]),
        ],
    )
    def test_patches(self, world, content_type, body):
        ask(world, "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "p"}})
        answer = ask(
            world, "PATCH", "/api/v1/namespaces/default/configmaps/p", body, content_type=content_type
        )
        assert (answer.code, json.loads(answer.body)["data"]) == (200, {"a": "1"})

    def test_deletes_with_options_that_hide_those_of_the_query(self, world):
        ask(world, "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "d"}})
        path = "/api/v1/namespaces/default/configmaps/d"
        assert ask(world, "DELETE", f"{path}?dryRun=All").code == 200
        assert read(world, path)[0] == 200
        assert ask(world, "DELETE", f"{path}?dryRun=All", {"gracePeriodSeconds": 5}).code == 200
        assert read(world, path)[0] == 404

    def test_scales_and_shows_the_scale(self, world):
        path = "/apis/apps/v1/namespaces/kube-system/deployments/coredns/scale"
        answer = ask(
            world, "PATCH", path, {"spec": {"replicas": 3}}, content_type="application/merge-patch+json"
        )
        assert json.loads(answer.body)["spec"] == {"replicas": 3}
        assert read(world, path)[1]["kind"] == "Scale"

    def test_evicts_only_who_is_named(self, world):
        name = read(world, PODS)[1]["items"][0]["metadata"]["name"]
        wrong = ask(world, "POST", f"{PODS}/{name}/eviction", {"metadata": {"name": "other"}})
        assert (wrong.code, json.loads(wrong.body)["message"]) == (
            400,
            "name in URL does not match name in Eviction object",
        )
        right = ask(world, "POST", f"{PODS}/{name}/eviction", {"metadata": {"name": name}})
        assert right.code == 201

    def test_issues_tokens_to_who_may_have_them(self, world):
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        answer = ask(world, "POST", path, {"spec": {"expirationSeconds": 600}})
        assert json.loads(answer.body)["status"]["token"].count(".") == 2
        assert ask(world, "POST", path, {"spec": {}}, identity=ON_CALL).code == 403


class TestIdentity:
    def test_acts_as_somebody_else_if_allowed(self, world):
        code, status = read(world, PODS, impersonate_user="bob")
        assert (code, status["message"]) == (
            403,
            'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "kube-system"',
        )
        mine = ask(world, "GET", PODS, identity=ON_CALL, impersonate_user="bob")
        assert b"cannot impersonate-on:user-info:list resource" in mine.body

    def test_reviews_what_a_user_may_do(self, world):
        body = {"spec": {"resourceAttributes": {"verb": "escalate", "resource": "clusterroles"}}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert not json.loads(ask(world, "POST", path, body, identity=ON_CALL).body)["status"]["allowed"]


class TestGoingOn:
    def test_watches_from_a_version_with_a_selector(self, world):
        _, listed = read(world, "/api/v1/namespaces/default/configmaps")
        version = listed["metadata"]["resourceVersion"]
        watch = ask(
            world,
            "GET",
            f"/api/v1/namespaces/default/configmaps?watch=1&labelSelector=app%3Dx&resourceVersion={version}",
        )
        assert isinstance(watch, Watch)
        path = "/api/v1/namespaces/default/configmaps"
        ask(world, "POST", path, {"metadata": {"name": "w", "labels": {"app": "y"}}})
        assert list(events(watch)) == []
        for app in ("x", "y"):
            ask(world, "PATCH", f"{path}/w", {"metadata": {"labels": {"app": app}}})
        assert list(events(watch)) == [("ADDED", "w"), ("DELETED", "w")]

    def test_tells_when_the_initial_events_have_ended(self, world):
        watch = ask(
            world,
            "GET",
            "/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        )
        lines = [json.loads(line) for line in watch.poll().splitlines()]
        assert [line["type"] for line in lines] == ["ADDED"] * (len(lines) - 1) + ["BOOKMARK"]
        assert lines[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}

    def test_ends_a_watch_in_its_time(self, world):
        watch = ask(world, "GET", f"{PODS}?watch=1&timeoutSeconds=5")
        watch.poll()
        world.advance(4_000)
        watch.poll()
        assert not watch.is_over
        world.advance(2_000)
        watch.poll()
        assert watch.is_over

    def test_tells_a_watch_of_the_past_that_it_is_too_old(self, world):
        for number in range(2_200):
            world.store.put(
                "configmaps",
                {"metadata": {"name": f"x{number}", "namespace": "default", "uid": f"u{number}"}},
            )
        watch = ask(world, "GET", "/api/v1/events?watch=1&resourceVersion=101")
        (event,) = [json.loads(line) for line in watch.poll().splitlines()]
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
        assert watch.is_over

    @pytest.mark.parametrize("version", ["-5", "abc"])
    def test_refuses_a_watch_from_what_is_no_version_as_recorded(self, world, version):
        # 500 is the real server's answer: tests/golden/l2/facts/errors, id list-watch-bad.
        answer = ask(world, "GET", f"{PODS}?watch=1&resourceVersion={version}")
        assert answer.code == 500
        problem = f'strconv.ParseUint: parsing "{version}": invalid syntax'
        assert json.loads(answer.body) == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'resourceVersion: Invalid value: "{version}": {problem}',
            "code": 500,
        }

    def test_follows_a_log_until_its_container_goes(self, world):
        name = next(
            item["metadata"]["name"]
            for item in read(world, PODS)[1]["items"]
            if "traefik" in item["metadata"]["name"]
        )
        log = ask(world, "GET", f"{PODS}/{name}/log?follow=true&tailLines=1")
        assert isinstance(log, LogFollow)
        first = log.poll()
        world.advance(30_000)
        more = log.poll()
        whole = ask(world, "GET", f"{PODS}/{name}/log").body
        assert whole.endswith(first + more)
        ask(world, "DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        world.advance(5_000)
        log.poll()
        assert log.is_over

    def test_follows_a_log_for_so_many_bytes(self, world):
        script = "while true; do echo tick; sleep 1; done"
        container = {"name": "c", "image": "busybox:1.37", "command": ["sh", "-c", script]}
        pod = {"metadata": {"name": "clock"}, "spec": {"containers": [container]}}
        ask(world, "POST", "/api/v1/namespaces/default/pods", pod)
        world.advance(20_000)
        path = "/api/v1/namespaces/default/pods/clock/log"
        whole = ask(world, "GET", path).body
        log = ask(world, "GET", f"{path}?follow=true&limitBytes=7")
        assert (log.poll(), log.is_over) == (b"tick\nti", True)
        log = ask(world, "GET", f"{path}?follow=true&limitBytes={len(whole) + 7}")
        assert (log.poll(), log.is_over) == (whole, False)
        world.advance(5_000)
        assert (log.poll(), log.is_over) == (b"tick\nti", True)

    def test_upgrades_only_who_asks_for_it_and_may(self, world):
        name = read(world, PODS)[1]["items"][0]["metadata"]["name"]
        path = f"{PODS}/{name}/exec?command=ls&stdout=1"
        assert ask(world, "POST", path).code == 400
        assert isinstance(ask(world, "GET", path, connection="Upgrade"), Upgrade)
        assert ask(world, "GET", f"{PODS}/nope/exec?command=ls", connection="Upgrade").code == 404


def test_same_requests_same_bytes(base):
    targets = (PODS, "/apis", "/openapi/v3", "/api/v1/nodes", "/apis/metrics.k8s.io/v1beta1/pods")
    first, second = base.fork(), base.fork()
    for target in targets:
        assert ask(first, "GET", target) == ask(second, "GET", target)


def _golden(name: str) -> bytes:
    path = Path(__file__).parents[1] / "golden" / "l2" / "facts" / "discovery" / f"{name}.json.gz"
    return gzip.decompress(path.read_bytes())
