"""A killed server takes up its episodes again, byte for byte; and no surface of a server names what is broken."""

import json

import httpx
import pytest
from starlette.testclient import TestClient

from env_core.episode import Episode, suites
from server.app import create_app
from server.settings import Settings
from tests.server.children import start

BEFORE = ("kubectl -n tron get pods", "kubectl -n tron rollout restart deployment nginx")
AFTER = ("kubectl -n tron get events", "kubectl -n tron get pods -o wide")
READS = (
    "kubectl get pods -A",
    "kubectl -n tron get events",
    "kubectl -n tron describe pods",
    "kubectl -n tron get all -o yaml",
)


def test_a_killed_server_goes_on_as_if_nothing_had_happened(tmp_path):
    journal = str(tmp_path / "journal.db")
    episode, _ = Episode.reset(task="medium", seed=21)
    process, url = start("server.app", KUBEDRILL_JOURNAL=journal)
    port = int(url.rsplit(":", 1)[1])
    httpx.post(f"{url}/reset", json={"task": "medium", "seed": 21, "episode_id": "ep"}, timeout=30)
    for command in BEFORE:
        answer = httpx.post(f"{url}/step", json={"command": command, "episode_id": "ep"}, timeout=30).json()
        assert _public(answer["observation"]) == episode.step(command).observation
    process.kill()
    process.wait()
    process, url = start("server.app", port=port, KUBEDRILL_JOURNAL=journal)
    try:
        for command in AFTER:
            answer = httpx.post(
                f"{url}/step", json={"command": command, "episode_id": "ep"}, timeout=30
            ).json()
            assert _public(answer["observation"]) == episode.step(command).observation
        state = httpx.get(f"{url}/state", params={"episode_id": "ep"}).json()
        assert state["cumulative_reward"] == episode.cumulative_reward
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings())) as client:
        yield client


SECRET = sorted({task.id for suite in suites() for task in suite.tasks if not task.is_listed})


@pytest.mark.parametrize("task", [*SECRET, "easy", "medium", "hard"])
def test_no_surface_names_what_is_broken_while_it_is_played(client, task):
    begun = client.post("/reset", json={"task": task, "seed": 7})
    named = {
        "X-Episode-Id": begun.headers["x-episode-id"],
        "X-Episode-Token": begun.json()["metadata"]["episode_token"],
    }
    first = client.post("/reset", json={"task": task, "seed": 7}, headers=named)
    named["X-Episode-Token"] = first.json()["metadata"]["episode_token"]
    texts = [first.text]
    texts += [client.post("/step", json={"command": command}, headers=named).text for command in READS]
    paths = (
        "/state",
        "/",
        "/info",
        "/tasks",
        "/schema",
        "/metadata",
        "/metrics",
        "/openapi.json",
        "/ready",
        "/kubedrill/splits",
    )
    texts += [client.get(path, headers=named).text for path in paths]
    texts += [client.post("/kubedrill/tasks", json={"split": split}).text for split in ("train", "eval")]
    texts += [client.post("/grader", json={}, headers=named).text]
    for secret in SECRET:
        assert not [text[:200] for text in texts if secret in text]
    state = json.loads(texts[len(READS) + 1])
    assert [state[name] for name in ("scenario_id", "oracle_score", "oracle_verdict", "oracle_summary")] == [
        None
    ] * 4


def _public(observation):
    return {key: value for key, value in observation.items() if key not in ("metadata", "episode_id")}
