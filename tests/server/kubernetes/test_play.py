"""`kubedrill play`: a server of its own, a kubeconfig for its owner alone, and nothing left behind."""

from __future__ import annotations

import os
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
    child = subprocess.Popen(
        argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
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
