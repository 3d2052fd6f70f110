"""`kubedrill play`: a server of its own, a kubeconfig for its owner alone, and nothing left behind."""

from __future__ import annotations

import os
import pty
import signal
import stat
import subprocess
import sys
import time

import httpx
import pytest
import yaml

from tests.server.children import ROOT
from tests.server.kubernetes.conftest import BINARY

START_S_MAX = 90.0


@pytest.fixture
def playing(tmp_path):
    """Begin to play, and yield the process and the kubeconfig."""
    config = tmp_path / "kubeconfig"
    code = "import sys; from kubedrill.cli import main; sys.exit(main())"
    argv = [
        sys.executable,
        "-c",
        code,
        "play",
        "easy",
        "--seed",
        "3",
        "--speed",
        "20",
        "--kubeconfig",
        str(config),
    ]
    path = os.pathsep.join((str(ROOT), str(ROOT / "client")))
    terminal, stdin = pty.openpty()
    child = subprocess.Popen(
        argv,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        said = ""
        end_s = time.monotonic() + START_S_MAX
        while "export KUBECONFIG=" not in said and time.monotonic() < end_s and child.poll() is None:
            said += child.stdout.readline()
        yield child, config, said
    finally:
        child.kill()
        child.communicate(timeout=10)
        os.close(terminal)
        os.close(stdin)


def test_lets_a_person_look_and_cleans_up(playing):
    child, config, said = playing
    assert f"export KUBECONFIG={config}" in said
    assert "at 20 times real time" in said
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    shown = subprocess.run(
        [BINARY, "get", "pods", "-n", "tron"],
        env={"PATH": os.environ["PATH"], "HOME": str(config.parent), "KUBECONFIG": str(config)},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    header, *pods = shown.stdout.splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    # The times are the client's: nothing is years old.
    assert pods
    assert all(line.split()[-1].rstrip("smh").isalnum() for line in pods)
    server = yaml.safe_load(config.read_text())["clusters"][0]["cluster"]["server"]
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=20) == 2
    with pytest.raises(httpx.TransportError):
        httpx.get(server.partition("/episodes/")[0] + "/health", timeout=5)


def test_shows_every_change_and_keeps_the_server_until_the_player_leaves(playing):
    child, config, _ = playing
    cluster = yaml.safe_load(config.read_text())
    server = cluster["clusters"][0]["cluster"]["server"]
    maps = f"{server}/api/v1/namespaces/tron/configmaps"
    for number in range(3):
        answer = httpx.post(maps, json={"metadata": {"name": f"m{number}"}}, timeout=60)
        assert answer.status_code == 201, answer.text
    shown = ""
    while "change 3: " not in shown:
        line = child.stdout.readline()
        assert line, shown
        shown += line
    assert [f"change {number}: " in shown for number in (1, 2, 3)] == [True] * 3
    for number in range(60):
        if httpx.delete(f"{maps}/no-such-{number}", timeout=60).status_code == 410:
            break
    while "The server stays up" not in shown:
        line = child.stdout.readline()
        assert line, shown
        shown += line
    address = server.partition("/episodes/")[0]
    assert httpx.get(f"{address}/health", timeout=20).status_code == 200
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 2
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/health", timeout=5)
