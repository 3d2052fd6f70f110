"""The journal: what was answered is on disk, and a killed server plays its episodes again."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys

import httpx
import pytest
from websockets.sync.client import connect

from server.environment import Frame
from server.journal import Journal, seal
from tests.server.children import ROOT, start

FRAME = Frame(observation={"output": "x"}, reward=0.0, done=False)


def _ask(socket, kind, **fields):
    socket.send(json.dumps({"type": kind, "data": fields} if kind != "state" else {"type": "state"}))
    return json.loads(socket.recv())


def test_after_a_kill_no_step_is_lost_and_clients_go_on(tmp_path):
    journal = str(tmp_path / "journal.db")
    process, url = start(KUBEDRILL_JOURNAL=journal)
    port = int(url.rsplit(":", 1)[1])
    with connect(url.replace("http", "ws") + "/ws") as socket:
        token = _ask(socket, "reset", seed=4, episode_id="ep")["data"]["metadata"]["episode_token"]
        frames = [_ask(socket, "step", command=command) for command in ("a", "b", "kubectl delete x")]
        state = _ask(socket, "state")
        done = httpx.post(f"{url}/reset", json={"episode_id": "done"}).json()
        httpx.post(f"{url}/step", json={"episode_id": "done", "command": "kubectl fix"})
        httpx.post(f"{url}/reset", json={"episode_id": "web", "seed": 8, "task": "hard"})
        answer = httpx.post(f"{url}/step", json={"episode_id": "web", "command": "c"}).json()
        process.kill()
        process.wait()
    process, url = start(port=port, KUBEDRILL_JOURNAL=journal)
    try:
        with connect(url.replace("http", "ws") + "/ws") as socket:
            assert _ask(socket, "reset", episode_id="ep", episode_token=token) == frames[-1]
            assert _ask(socket, "state") == state
            assert _ask(socket, "step", command="d")["data"]["observation"]["step_count"] == 4
        assert httpx.get(f"{url}/state", params={"episode_id": "web"}).json()["last_action"] == "c"
        assert (
            httpx.post(f"{url}/step", json={"command": "kubectl get", "episode_id": "web"}).json()[
                "observation"
            ]["step_count"]
            == 2
        )
        assert answer["observation"]["step_count"] == 1
        gone = httpx.post(f"{url}/step", json={"command": "a", "episode_id": "done"})
        assert gone.status_code == 410
        final = httpx.get(f"{url}/state", params={"episode_id": "done"}).json()
        assert (final["done"], final["oracle_score"]) == (True, 1.0)
        assert done["done"] is False
    finally:
        process.kill()
        process.wait()


def test_what_one_turn_of_the_loop_records_is_committed_together(tmp_path):
    path = str(tmp_path / "journal.db")

    async def record():
        journal = Journal(path)
        await asyncio.gather(*(_begun(journal, key) for key in range(50)))
        await asyncio.gather(*(journal.acted(key, "a", FRAME) for key in range(50)))
        seen = sqlite3.connect(path).execute("SELECT COUNT(*) FROM log WHERE kind = 'acted'").fetchone()[0]
        journal.close()
        return seen

    assert asyncio.run(record()) == 50


def test_an_episode_that_ended_is_forgotten(tmp_path):
    path = str(tmp_path / "journal.db")

    async def record():
        journal = Journal(path)
        await _begun(journal, 1)
        await journal.acted(1, "a", FRAME)
        journal.forget(1)
        journal.close()
        again = Journal(path)
        left = again.recipes()
        again.close()
        return left

    assert asyncio.run(record()) == []


def test_a_replay_that_differs_is_our_bug_and_makes_the_episode_unscorable(serve, tmp_path):
    path = str(tmp_path / "journal.db")
    first = serve(journal=path)
    first.post("/reset", json={"episode_id": "ep"})
    first.post("/step", json={"command": "a"})
    base = sqlite3.connect(path)
    base.execute("UPDATE log SET body = replace(body, '\"seal\":\"', '\"seal\":\"x') WHERE kind = 'acted'")
    base.commit()
    base.close()
    second = serve(journal=path)
    response = second.post("/step", json={"command": "b", "episode_id": "ep"})
    assert (response.status_code, response.json()["code"]) == (500, "EXECUTION_ERROR")


def test_a_seal_differs_with_every_part_of_an_answer():
    others = [
        Frame(observation={"output": "y"}, reward=0.0, done=False),
        Frame(observation={"output": "x"}, reward=0.1, done=False),
        Frame(observation={"output": "x"}, reward=0.0, done=True),
    ]
    assert len({seal(frame) for frame in (FRAME, *others)}) == 4


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL", "FULL"])
def test_every_synchronous_mode_opens(tmp_path, synchronous):
    Journal(str(tmp_path / "journal.db"), synchronous=synchronous).close()


async def _begun(journal, key):
    await journal.begun(
        key,
        episode_id=f"e{key}",
        token="t",
        channel="ws",
        suite="tron-v1",
        task="easy",
        seed=2**63 - 1,
        options={},
    )


def test_rows_of_ended_episodes_do_not_pile_up(tmp_path, monkeypatch):
    monkeypatch.setattr("server.journal.COMPACT_ROWS", 100)
    path = str(tmp_path / "journal.db")

    async def record():
        journal = Journal(path)
        for key in range(200):
            await _begun(journal, key)
            await journal.acted(key, "a", FRAME)
            journal.forget(key)
        await _begun(journal, 1_000)
        journal.close()
        return sqlite3.connect(path).execute("SELECT COUNT(*) FROM log").fetchone()[0]

    assert asyncio.run(record()) < 150


def test_one_who_gives_up_waiting_does_not_take_the_commit_from_the_others(tmp_path):
    async def record():
        journal = Journal(str(tmp_path / "journal.db"))
        first, second = (asyncio.create_task(_begun(journal, key)) for key in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await second
        journal.close()

    asyncio.run(record())


def test_what_cannot_be_kept_is_not_answered(serve, tmp_path):
    path = str(tmp_path / "journal.db")
    client = serve(journal=path)
    client.post("/reset", json={"episode_id": "ep"})
    sqlite3.connect(path).execute("DROP TABLE log")
    response = client.post("/step", json={"command": "a", "episode_id": "ep"})
    assert (response.status_code, response.json()["unscorable"]) == (500, True)


@pytest.mark.parametrize("content", ["this is no database", "rows"])
def test_a_file_that_is_no_journal_is_named_and_left_alone(tmp_path, content):
    path = tmp_path / "journal.db"
    if content == "rows":
        Journal(str(path)).close()
        base = sqlite3.connect(path)
        base.execute("INSERT INTO log (episode, kind, at, body) VALUES (1, 'acted', 0, '{}')")
        base.commit()
        base.close()
    else:
        path.write_text(content * 100, encoding="ascii")
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "server.app", "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "KUBEDRILL_JOURNAL": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert str(path) in done.stderr
    assert "KUBEDRILL_JOURNAL" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == before
