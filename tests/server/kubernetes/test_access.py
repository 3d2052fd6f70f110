"""What a kubeconfig opens: the Kubernetes API of its episode, and nothing else of it."""

from __future__ import annotations

import json

import httpx
import pytest
import yaml
from websockets.sync.client import connect


@pytest.fixture
def server(episode):
    return yaml.safe_load(episode.kubeconfig().text)["clusters"][0]["cluster"]["server"]


@pytest.fixture
def user(episode):
    return yaml.safe_load(episode.kubeconfig().text)["users"][0]["user"]


def test_it_holds_neither_the_token_nor_the_id(episode):
    text = episode.kubeconfig().text
    assert episode.token not in text
    assert episode.id not in text


def test_its_address_and_its_key_lead_to_the_api(server, user):
    assert httpx.get(f"{server}/api/v1/namespaces/tron/pods").status_code == 200
    base = server.partition("/tokens/")[0]
    headers = {"Authorization": f"Bearer {user['token']}"}
    assert httpx.get(f"{base}/k8s/version", headers=headers).status_code == 200
    assert httpx.get(f"{base}/k8s/version", headers={"Authorization": "Bearer x"}).status_code == 401
    assert httpx.get(f"{base}/k8s/version").status_code == 401


def test_its_key_neither_paces_nor_resets_nor_scores_nor_resumes(url, episode, server, user):
    name = server.partition("/episodes/")[2].partition("/")[0]
    headers = {"Authorization": f"Bearer {user['token']}"}
    for known in (name, episode.id):
        base = f"{url}/episodes/{known}"
        assert httpx.post(f"{base}/pace", headers=headers, json={"speed": 1}).status_code == 401
        assert httpx.get(f"{base}/kubeconfig", headers=headers).status_code == 401
    assert httpx.post(f"{url}/grader", json={"episode_id": name}).status_code == 404
    assert (
        httpx.post(f"{url}/step", json={"episode_id": name, "command": "kubectl version"}).status_code == 404
    )
    address = url.replace("http", "ws", 1) + "/ws"
    for known in (name, episode.id):
        with connect(f"{address}?episode_id={known}&episode_token={user['token']}") as socket:
            assert json.loads(socket.recv())["type"] == "error"


def test_the_episodes_own_token_opens_everything(url, episode):
    assert episode.get("/version").status_code == 200
    answer = httpx.post(f"{url}/episodes/{episode.id}/pace", headers=episode.headers, json={"speed": 0.5})
    assert answer.json() == {"speed": 0.5}


@pytest.mark.parametrize("speed", ["5", True, 1e-9, 1e-300, 1_001])
def test_a_pace_is_a_number_that_lets_time_pass(url, episode, speed):
    answer = httpx.post(f"{url}/episodes/{episode.id}/pace", headers=episode.headers, json={"speed": speed})
    assert answer.status_code == 422
