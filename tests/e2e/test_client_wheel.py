"""The thin wheel, alone in a clean environment outside the checkout, plays against a server of the checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from tests.server.children import running

ROOT = Path(__file__).parents[2]
PREFIX = Path(sys.prefix)

PLAY = """
import asyncio, importlib.util, json, sys
from importlib.metadata import version

import kubedrill
from kubedrill import KubeAction, KubeEnv, KubeHttpClient
from kubedrill.policies.heuristic import HeuristicPolicy

url = sys.argv[1]
with KubeEnv(base_url=url).sync() as env:
    policy, result = HeuristicPolicy(), env.reset(task="hard", seed=11)
    while not result.done:
        result = env.step(policy.act(result.observation))
    verdict = env.state().oracle_verdict

async def looked():
    async with KubeEnv(base_url=url) as env:
        await env.reset(task="easy", seed=11)
        result = await env.step(KubeAction(command="kubectl -n tron get pods --no-headers"))
        return result.observation.output

with KubeHttpClient(url) as client:
    client.reset("easy", 11)
    over_http = client.step("kubectl -n tron get pods --no-headers").observation.output

print(json.dumps({
    "from": kubedrill.__file__,
    "version": version("kubedrill"),
    "path": sys.path,
    "found": [name for name in ("env_core", "server", "training", "live") if importlib.util.find_spec(name)],
    "verdict": verdict,
    "same": asyncio.run(looked()) == over_http != "",
}))
"""


def run(*words, cwd, **variables):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return a virtual environment that holds the wheel; its dependencies are those that are installed here already."""
    base = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "client", base / "client", ignore=shutil.ignore_patterns("__pycache__"))
    run(
        sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", base / "out", base / "client",
        cwd=base,
    )  # fmt: skip
    (wheel,) = (base / "out").glob("*.whl")
    assert wheel.name.startswith("kubedrill-")
    run(sys.executable, "-m", "venv", "--without-pip", base / "clean", cwd=base)
    python = base / "clean" / "bin" / "python"
    run(
        sys.executable, "-m", "pip", "--isolated", "--python", python, "install", "--quiet", "--no-index", "--no-deps",
        "--disable-pip-version-check", wheel, cwd=base,
    )  # fmt: skip
    # A folder that a .pth names is searched, but its own .pth files are not read: the checkout stays out of sight.
    site = python.parent.parent / Path(sysconfig.get_path("purelib")).relative_to(PREFIX)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return base / "clean"


@pytest.fixture(scope="module")
def url():
    with running("server.app") as address:
        yield address


def test_the_installed_client_plays_an_episode(environment, url, tmp_path):
    (tmp_path / "play.py").write_text(PLAY, encoding="utf-8")
    said = json.loads(run(environment / "bin" / "python", "-I", tmp_path / "play.py", url, cwd=tmp_path))
    assert Path(said["from"]).is_relative_to(environment)
    assert not [folder for folder in said["path"] if folder in (str(ROOT), str(ROOT / "client"))]
    assert said["found"] == []
    declared = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text(encoding="utf-8"))
    assert said["version"] == declared["project"]["version"]
    assert (said["verdict"], said["same"]) == ("success", True)


def test_the_installed_command_lists_tasks_and_plays(environment, url, tmp_path):
    command = environment / "bin" / "kubedrill"
    listed = run(command, "tasks", "--env-base-url", url, cwd=tmp_path)
    assert [line.split()[0] for line in listed.splitlines()] == [
        *("repair-1", "repair-2", "repair-3", "repair-4", "repair-5"),
        *("easy", "medium", "hard"),
    ]
    played = run(command, "demo", "--task", "easy", "--env-base-url", url, cwd=tmp_path)
    assert played.splitlines()[-1].startswith("success, score ")
