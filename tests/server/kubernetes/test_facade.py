"""The facade itself: who gets in, what it counts, what it keeps, and how it bears bad clients."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time

import httpx
import pytest
import yaml

from server.kubernetes.pace import STREAMS_MAX
from tests.server import children
from tests.server.kubernetes.conftest import Episode

PODS = "/api/v1/namespaces/tron/pods"
MAPS = "/api/v1/namespaces/default/configmaps"


class TestAccess:
    def test_only_with_the_episodes_token(self, url):
        episode, other = Episode(url), Episode(url)
        base = f"{url}/episodes/{episode.id}"
        for headers in ({}, {"Authorization": "Bearer nope"}, other.headers, {"Authorization": "Basic YTpi"}):
            answer = httpx.get(f"{base}/k8s{PODS}", headers=headers)
            assert answer.status_code == 401
            assert answer.json() == {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": "Unauthorized",
                "reason": "Unauthorized",
                "code": 401,
            }
            assert httpx.get(f"{base}/kubeconfig", headers=headers).status_code == 401
            assert httpx.post(f"{base}/pace", headers=headers, json={"speed": 1}).status_code == 401
        assert httpx.get(f"{url}/episodes/nope/k8s{PODS}", headers=episode.headers).status_code == 401
        assert httpx.get(f"{base}/tokens/{other.token}/k8s{PODS}").status_code == 401
        assert httpx.get(f"{base}/tokens/{episode.token}/k8s{PODS}").status_code == 200

    def test_the_kubeconfig_leads_in(self, url):
        episode = Episode(url)
        config = yaml.safe_load(episode.kubeconfig().text)
        assert config["current-context"] == "sre@prod"
        server = config["clusters"][0]["cluster"]["server"]
        # Clients send no token over plain HTTP, so the address has it.
        assert httpx.get(f"{server}/version").json()["gitVersion"] == "v1.37.2"

    @pytest.mark.parametrize(
        "path",
        [
            "/../../state",
            "/%2e%2e/%2e%2e/state",
            "/..%2f..%2f..%2fmetrics",
            "//evil/api",
            "/api/v1/namespaces/tron/../../../../kubeconfig",
            "/api/v1/namespaces/tron%2fpods",
        ],
    )
    def test_paths_do_not_lead_out(self, url, path):
        episode = Episode(url)
        raw = f"GET /episodes/{episode.id}/tokens/{episode.token}/k8s{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=10) as plain:
            plain.sendall(raw.encode())
            answer = b"".join(iter(lambda: plain.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b"kubedrill_steps" not in body
        assert episode.token.encode() not in body
        if path.endswith("tron%2fpods"):
            # To Kubernetes an escaped slash is a slash.
            assert json.loads(body)["kind"] == "PodList"
        else:
            assert head.split()[1] in (b"401", b"403", b"404"), head


class TestActions:
    def test_counts_writes_and_bundles_of_reads(self, url):
        episode = Episode(url)
        before = episode.state()
        for _ in range(9):
            assert episode.get(PODS).status_code == 200
        assert episode.state()["step_count"] == before["step_count"]
        episode.get(PODS)
        assert episode.state()["step_count"] == 1
        assert episode.request("POST", MAPS, json={"metadata": {"name": "a"}}).status_code == 201
        state = episode.state()
        assert (state["step_count"], state["last_action"], state["last_reward"]) == (2, f"POST {MAPS}", -0.05)

    def test_discovery_and_reviews_are_free(self, url):
        episode = Episode(url)
        for _ in range(12):
            episode.get("/apis")
            episode.get("/openapi/v3")
            episode.request(
                "POST",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                json={"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
            )
        assert episode.state()["step_count"] == 0

    def test_refuses_what_the_suite_refuses(self, url):
        episode = Episode(url)
        name = episode.get("/apis/apps/v1/namespaces/tron/replicasets").json()["items"][0]["metadata"]["name"]
        answer = episode.request("DELETE", f"/apis/apps/v1/namespaces/tron/replicasets/{name}")
        assert (answer.status_code, answer.json()["message"]) == (
            403,
            "changing a ReplicaSet refused: change its owner instead",
        )

    def test_a_repair_ends_the_episode(self, url):
        episode = Episode(url, task="easy", seed=11)
        patch = {"spec": {"selector": {"app": "redis"}}}
        answer = episode.request(
            "PATCH",
            "/api/v1/namespaces/tron/services/redis",
            json=patch,
            headers={"Content-Type": "application/merge-patch+json"},
        )
        assert answer.status_code == 200
        state = episode.state()
        assert (state["done"], state["oracle_verdict"], state["oracle_score"]) == (True, "success", 1.0)
        after = episode.get(PODS)
        assert (after.status_code, after.json()["reason"]) == (410, "Gone")

    def test_is_seen_by_who_steps_the_same_episode(self, url):
        episode = Episode(url)
        episode.request("POST", MAPS, json={"metadata": {"name": "seen"}})
        answer = httpx.post(
            f"{url}/step", json={"command": "kubectl get cm seen -o name", "episode_id": episode.id}
        )
        assert answer.json()["observation"]["output"] == "configmap/seen\n"


class TestTime:
    def test_follows_the_wall_clock_when_told_to(self, url):
        episode = Episode(url, speed=100)
        first = _now(episode)
        time.sleep(1)
        assert 50 < _now(episode) - first < 400

    def test_shows_times_as_the_clients_clock_has_them(self, url):
        episode = Episode(url)
        old = episode.get("/api/v1/namespaces/default").json()["metadata"]["creationTimestamp"]
        episode.pace(1, is_shifted=True)
        new = episode.get("/api/v1/namespaces/default").json()["metadata"]["creationTimestamp"]
        assert old.startswith("2026-01-05T")
        age_s = time.time() - _seconds(new)
        assert 0 < age_s < 7_200
        # What a client sends back is not taken for a change.
        body = episode.get("/api/v1/namespaces/default").json()
        assert episode.request("PUT", "/api/v1/namespaces/default", json=body).status_code in (200, 403)

    @pytest.mark.parametrize(
        "body", [b"", b"[]", b'{"speed":-1}', b'{"speed":"x"}', b'{"speed":1e9}', b'{"speed":null}']
    )
    def test_refuses_a_pace_that_is_none(self, url, body):
        episode = Episode(url)
        answer = httpx.post(f"{url}/episodes/{episode.id}/pace", headers=episode.headers, content=body)
        assert answer.status_code == 422


def _now(episode):
    """Return the episode's clock in seconds: the time of an object made now."""
    name = f"t{time.monotonic_ns()}"
    made = episode.request("POST", f"{MAPS}?dryRun=All", json={"metadata": {"name": name}}).json()
    return _seconds(made["metadata"]["creationTimestamp"])


def _seconds(stamp):
    from datetime import datetime

    return datetime.fromisoformat(stamp).timestamp()


class TestStreams:
    def test_a_watch_shows_what_another_client_does(self, url):
        episode = Episode(url, speed=1)
        path = f"/episodes/{episode.id}/k8s{MAPS}?watch=1"
        with httpx.stream("GET", f"{url}{path}", headers=episode.headers, timeout=10) as stream:
            assert stream.headers["content-type"] == "application/json"
            lines = stream.iter_lines()
            assert json.loads(next(lines))["type"] == "ADDED"
            episode.request("POST", MAPS, json={"metadata": {"name": "w"}})
            event = json.loads(next(lines))
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "w")

    def test_ends_with_the_episode(self, url):
        episode = Episode(url, task="easy", seed=11)
        with httpx.stream(
            "GET", f"{url}/episodes/{episode.id}/k8s{MAPS}?watch=1", headers=episode.headers, timeout=20
        ) as stream:
            named = {"task": "easy", "episode_id": episode.id, "episode_token": episode.token}
            assert httpx.post(f"{url}/reset", json=named).status_code == 200
            for _ in stream.iter_lines():
                pass

    def test_so_many_and_no_more(self, url):
        episode = Episode(url, speed=1)
        port = int(url.rpartition(":")[2])
        raw = f"GET /episodes/{episode.id}/tokens/{episode.token}/k8s{MAPS}?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n".encode()
        with contextlib.ExitStack() as stack:
            for _ in range(STREAMS_MAX):
                half_open = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
                half_open.sendall(raw)
                assert half_open.recv(12) == b"HTTP/1.1 200"
            answer = episode.get(f"{MAPS}?watch=1")
            assert (answer.status_code, answer.json()["reason"], answer.headers["retry-after"]) == (
                429,
                "TooManyRequests",
                "1",
            )
        # Who hangs up makes room.
        for _ in range(50):
            with httpx.stream(
                "GET", f"{url}/episodes/{episode.id}/k8s{MAPS}?watch=1", headers=episode.headers, timeout=10
            ) as stream:
                if stream.status_code == 200:
                    return
            time.sleep(0.1)
        raise AssertionError("closed watches keep their places")


class TestHostility:
    def test_bodies_and_heads_are_bounded(self, url):
        episode = Episode(url)
        answer = episode.request("POST", MAPS, content=b"x" * 1_100_000)
        assert answer.status_code == 413
        many = {f"x-{number}": "y" for number in range(200)}
        assert episode.request("GET", PODS, headers=many).status_code == 431
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as flood:
            with contextlib.suppress(OSError):
                flood.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 300_000)
            with contextlib.suppress(ConnectionResetError):
                assert flood.recv(12) in (b"HTTP/1.1 431", b"")

    def test_bodies_that_are_none_are_refused_in_kind(self, url):
        episode = Episode(url, speed=1)
        for body in (b"{", b"[" * 10_000, b"\xff\xfe", b"k8s\x00garbage"):
            answer = episode.request("POST", MAPS, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


class TestJournal:
    def test_plays_again_what_came_over_the_api(self, tmp_path):
        journal = {"KUBEDRILL_JOURNAL": str(tmp_path / "journal.db")}
        process, url = children.start("server.app", **journal)
        try:
            episode = Episode(url, task="hard", seed=17)
            episode.request("POST", MAPS, json={"metadata": {"name": "kept"}, "data": {"a": "b"}})
            episode.get(PODS)
            episode.pace(50)
            time.sleep(0.5)
            version = episode.get(f"{MAPS}/kept").json()["metadata"]["resourceVersion"]
            state = episode.state()
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait(timeout=10)
        process, url = children.start("server.app", **journal)
        try:
            episode.url = url
            assert episode.state() == state
            again = episode.get(f"{MAPS}/kept").json()
            assert (again["metadata"]["resourceVersion"], again["data"]) == (version, {"a": "b"})
        finally:
            process.terminate()
            process.wait(timeout=20)
