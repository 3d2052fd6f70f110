"""A live server with real incidents, and the real kubectl attached to one of its episodes."""

from __future__ import annotations

import gc
import os
import subprocess
import sysconfig
from pathlib import Path

import httpx
import pytest
from kubernetes import client

from tests.server import children
from tests.server.kubernetes.pythonkit import connected

BINARY = Path(sysconfig.get_path("scripts")) / "kubectl"


@pytest.fixture(autouse=True)
def _toy_suite():
    """The incidents here are real ones."""


@pytest.fixture(scope="session")
def url():
    with children.running("server.app") as address:
        yield address


@pytest.fixture(scope="session")
def workshop_url():
    """A server whose episodes leave room for work, see `workshop.py`."""
    with children.running("tests.server.kubernetes.workshop") as address:
        yield address


class Episode:
    """One episode over HTTP, with its token."""

    def __init__(self, url, task="hard", seed=17, speed=None):
        self.url = url
        answer = httpx.post(f"{url}/reset", json={"task": task, "seed": seed}, timeout=60).json()
        self.id = answer["observation"]["episode_id"]
        self.token = answer["metadata"]["episode_token"]
        self.headers = {"Authorization": f"Bearer {self.token}"}
        if speed is not None:
            self.pace(speed)

    def pace(self, speed, **more):
        answer = httpx.post(
            f"{self.url}/episodes/{self.id}/pace", headers=self.headers, json={"speed": speed, **more}
        )
        assert answer.status_code == 200, answer.text

    def get(self, path, **more):
        return httpx.get(f"{self.url}/episodes/{self.id}/k8s{path}", headers=self.headers, timeout=30, **more)

    def request(self, method, path, **more):
        headers = {**self.headers, **more.pop("headers", {})}
        return httpx.request(
            method, f"{self.url}/episodes/{self.id}/k8s{path}", headers=headers, timeout=30, **more
        )

    def state(self):
        return httpx.get(f"{self.url}/state", headers={"X-Episode-Id": self.id}).json()

    def kubeconfig(self):
        return httpx.get(f"{self.url}/episodes/{self.id}/kubeconfig", headers=self.headers)


class Kubectl:
    """The real binary with the kubeconfig of an episode."""

    def __init__(self, episode, home):
        self.home = home
        self.config = home / "kubeconfig"
        self.config.write_text(episode.kubeconfig().text)

    def environment(self, **more):
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self.config),
            "TZ": "UTC",
            **more,
        }

    def run(self, line, stdin=None, timeout=60, **more):
        argv = [str(BINARY), *(line.split() if isinstance(line, str) else line)]
        return subprocess.run(
            argv,
            check=False,
            input=stdin,
            env=self.environment(**more),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def __call__(self, line, stdin=None, **more):
        done = self.run(line, stdin, **more)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def episode(url):
    """An episode whose clock follows the wall clock, ten times as fast."""
    return Episode(url, speed=10)


@pytest.fixture
def workshop(workshop_url):
    """Such an episode, its clock fast."""
    return Episode(workshop_url, speed=20)


@pytest.fixture
def collected():
    """Nothing that a test has left to the collector outlives it."""
    yield
    gc.collect()


@pytest.fixture
def api(episode):
    """The official Python client, attached to the episode."""
    with connected(episode) as found:
        yield found


@pytest.fixture
def core(api):
    """Its core group."""
    return client.CoreV1Api(api)


@pytest.fixture
def kubectl(episode, tmp_path):
    return Kubectl(episode, tmp_path)
