"""Many clients on one live server: no cross-talk, no thread per session, and an answer for every message."""

import asyncio
import json
import os
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as connect_now

from tests.server.children import start

CLIENTS = 200


@pytest.fixture(scope="module")
def child():
    process, url = start()
    yield process, url
    process.terminate()
    process.wait(timeout=20)


async def _played(url, seed):
    async with connect(f"{url.replace('http', 'ws')}/ws", compression=None, open_timeout=60) as socket:

        async def ask(kind, **fields):
            await socket.send(json.dumps({"type": kind, "data": fields}))
            return json.loads(await asyncio.wait_for(socket.recv(), 60))["data"]

        await ask("reset", seed=seed)
        outputs = [
            (await ask("step", command=f"kubectl get {number}"))["observation"]["output"]
            for number in range(5)
        ]
        await socket.send('{"type":"state"}')
        return outputs, json.loads(await socket.recv())["data"]["seed"]


def test_two_hundred_sockets_play_what_each_would_alone(child):
    _, url = child

    async def all_of_them():
        alone = {seed: (await _played(url, seed))[0] for seed in range(8)}
        together = await asyncio.gather(*(_played(url, index % 8) for index in range(CLIENTS)))
        return alone, together

    alone, together = asyncio.run(all_of_them())
    for index, (outputs, seed) in enumerate(together):
        assert (outputs, seed) == (alone[index % 8], index % 8)


def test_many_http_episodes_at_once_do_not_touch_each_other(child):
    _, url = child

    async def one(client, seed):
        episode_id = (await client.post("/reset", json={"seed": seed})).json()["observation"]["episode_id"]
        named = {"X-Episode-Id": episode_id}
        outputs = [
            (await client.post("/step", json={"command": f"kubectl get {number}"}, headers=named)).json()[
                "observation"
            ]["output"]
            for number in range(3)
        ]
        state = (await client.get("/state", headers=named)).json()
        return seed, tuple(outputs), state["seed"], state["step_count"]

    async def all_of_them():
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            return await asyncio.gather(*(one(client, index % 8) for index in range(CLIENTS // 4)))

    results = asyncio.run(all_of_them())
    assert len({(seed, outputs) for seed, outputs, _, _ in results}) == 8
    assert all(seed == told and steps == 3 for seed, _, told, steps in results)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_sessions_share_a_handful_of_threads(child):
    process, url = child

    async def counted():
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    connect(f"{url.replace('http', 'ws')}/ws", compression=None, open_timeout=60).__aenter__()
                )
                for _ in range(100)
            ]
        threads = len(os.listdir(f"/proc/{process.pid}/task"))
        for task in tasks:
            await task.result().close()
        return threads

    assert asyncio.run(counted()) < 10


def test_a_message_over_the_bound_closes_the_socket_and_no_other(child):
    _, url = child

    async def flooded():
        async with (
            connect(f"{url.replace('http', 'ws')}/ws", compression=None) as socket,
            connect(f"{url.replace('http', 'ws')}/ws") as other,
        ):
            await socket.send(json.dumps({"type": "step", "data": {"command": "a" * 2_000_000}}))
            await socket.wait_closed()
            await other.send('{"type":"state"}')
            return socket.close_code, json.loads(await other.recv())["type"]

    assert asyncio.run(flooded()) == (1009, "state")


def test_a_handshake_with_an_endless_query_is_refused_at_once(child):
    _, url = child
    with pytest.raises(InvalidStatus) as refused:
        connect_now(url.replace("http", "ws") + "/ws?x=" + "a" * 12_000, open_timeout=4)
    assert refused.value.response.status_code == 414
