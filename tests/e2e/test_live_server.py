"""A live server under many clients: what they play together is what each would have played alone."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from openenv.core.generic_client import GenericEnvClient
from websockets.asyncio.client import connect

from env_core.episode import Episode
from tests.server.children import running

CLIENTS = 200
COMMANDS = (
    "kubectl get pods --all-namespaces",
    "kubectl -n tron get services -o wide",
    "kubectl -n tron rollout restart deployment nginx",
    "kubectl -n tron get endpoints",
)


@pytest.fixture(scope="module")
def url():
    with running("server.app") as address:
        yield address


def test_openenvs_generic_client_plays_an_episode(url):
    with GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(task="easy", seed=11)
        assert result.observation["task_id"] == "easy"
        steps = 0
        while not result.done:
            result = env.step({"command": "kubectl get pods --all-namespaces"})
            assert isinstance(result.reward, float)
            steps += 1
        assert steps == 12
        assert env.state()["oracle_verdict"] == "failure"


def test_two_hundred_episodes_at_once_do_not_touch_each_other(url):
    cases = [(("easy", "medium", "hard")[index % 3], 11 + index % 4) for index in range(CLIENTS)]
    alone = {case: _alone(*case) for case in set(cases)}

    async def together():
        return await asyncio.gather(*(_over_websocket(url, *case) for case in cases))

    for case, frames in zip(cases, asyncio.run(together()), strict=True):
        assert frames == alone[case], case


def test_the_documents_three_calls_answer_as_it_says(url):
    with httpx.Client(base_url=url, timeout=30) as client:
        reset = client.post("/reset", json={"task_id": "easy"}).json()
        assert reset["task"]["id"] == "easy"
        assert set(reset["observation"]) >= {
            "incident_brief", "step_count", "last_action", "last_reward", "service_probe", "cluster_summary", "recent_change_hint", "done",
        }  # fmt: skip
        step = client.post("/step", json={"command": "kubectl get pods -n tron"}).json()
        assert {"observation", "reward", "done", "info"} <= set(step)
        assert step["info"]["return_code"] == 0
        assert client.get("/state").json()["step_count"] == 1


def test_the_smoke_script_passes(url):
    script = str(Path(__file__).parent / "space_smoke.py")
    done = subprocess.run(
        [sys.executable, script, url], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "[space-smoke] passed"


def _alone(task, seed):
    episode, result = Episode.reset(task=task, seed=seed)
    frames = [result.observation]
    for command in COMMANDS:
        result = episode.step(command)
        frames.append([result.observation, result.reward, result.is_done])
    return json.loads(json.dumps(frames))


async def _over_websocket(url, task, seed):
    async with connect(f"{url.replace('http', 'ws')}/ws", compression=None, open_timeout=60) as socket:

        async def ask(message):
            await socket.send(json.dumps(message))
            return json.loads(await asyncio.wait_for(socket.recv(), 120))["data"]

        first = (await ask({"type": "reset", "data": {"task": task, "seed": seed}}))["observation"]
        frames = [{key: value for key, value in first.items() if key not in ("metadata", "episode_id")}]
        for command in COMMANDS:
            data = await ask({"type": "step", "data": {"command": command}})
            observation = {key: value for key, value in data["observation"].items() if key != "metadata"}
            frames.append([observation, data["reward"], data["done"]])
        return frames
