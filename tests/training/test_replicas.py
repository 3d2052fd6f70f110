"""Servers behind one object: who is chosen, who is left out, and that none outlives its trainer."""

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from tests.server.children import ROOT, free_port
from training.replicas import Child, Elsewhere, ReplicaError, Replicas, server_python


def answers(url):
    try:
        return httpx.get(f"{url}/health", timeout=20).is_success
    except httpx.TransportError:
        return False


def test_the_least_loaded_replica_is_chosen_and_one_that_is_excluded_never():
    three = Replicas.at([f"http://127.0.0.1:{port}/" for port in (1, 2, 3)])
    first = [three.acquire() for _ in range(4)]
    assert [replica.url[-1] for replica in first] == ["1", "2", "3", "1"]
    three.release(first[1])
    assert three.acquire() is first[1]
    assert three.acquire(but={first[1], first[2]}) is first[0]
    assert three.acquire(but=set(three.members)) is None


def test_a_dead_replica_is_left_out_until_it_answers():
    host = Elsewhere(f"http://127.0.0.1:{free_port()}")
    two = Replicas([host, Elsewhere("http://127.0.0.1:9")])
    two.report(two.members[0])
    two.report(two.members[0])
    assert two.failures == 1
    assert {two.acquire().url for _ in range(3)} == {"http://127.0.0.1:9"}
    two.close()


def test_no_server_to_play_on_is_an_error():
    with pytest.raises(ReplicaError, match="at least one URL"):
        Replicas.at([])


def test_a_server_that_cannot_start_says_why_and_leaves_none_behind():
    # Any program that knows no server will do for an interpreter that lacks its dependencies.
    hosts = [Child(python="/bin/ls"), Child(python="/bin/cat")]
    with pytest.raises(ReplicaError, match=r"did not start\n.*unrecognized option"):
        Replicas(hosts).start()
    assert not any(host.is_running() for host in hosts)


def test_the_interpreter_of_servers_can_be_named(monkeypatch):
    monkeypatch.setenv("KUBEDRILL_SERVER_PYTHON", "/opt/python")
    assert server_python() == "/opt/python"


def test_a_killed_trainer_leaves_no_server_behind():
    code = (
        "import time; from training.replicas import Replicas; replicas = Replicas.started(1);"
        "print(replicas.members[0].host.pid, replicas.urls[0], flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}"}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
    ) as trainer:
        _, url = trainer.stdout.readline().split()
        assert answers(url)
        trainer.send_signal(signal.SIGKILL)
        trainer.wait()
    ends_at_s = time.monotonic() + 60
    while answers(url) and time.monotonic() < ends_at_s:
        time.sleep(0.1)
    assert not answers(url)
