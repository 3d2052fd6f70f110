"""What the README shows is what happens: its programs run, its calls answer, its record of a run is that of a run."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from env_core.episode import suites
from tests.server.children import running

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = "http://localhost:8000"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


CURLS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("curl ")]
PROGRAMS = blocks("python")


@pytest.fixture(scope="module")
def url():
    with running("server.app") as address:
        yield address


def run(words, **options):
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("program", "seen"),
    list(zip(PROGRAMS, ["NAME", "REVISION", "NAME", "nginx-"], strict=True)),
    ids=["sync", "async", "generic", "kubernetes"],
)
def test_its_programs_run_against_a_server(program, seen, url):
    assert SHOWN in program
    paths = {"PYTHONPATH": str(ROOT / "client"), "PATH": ""}
    assert seen in run([sys.executable, "-W", "error", "-c", program.replace(SHOWN, url)], env=paths)


def test_its_three_calls_answer_as_the_seed_document_says(url):
    reset, step, state = (_called(line.replace(SHOWN, url)) for line in CURLS)
    assert reset["task"]["id"] == "easy"
    assert reset["observation"]["episode_id"]
    assert reset["done"] is False
    assert set(step) >= {"observation", "reward", "done", "info"}
    assert step["observation"]["output"].startswith("NAME ")
    assert step["info"]["return_code"] == 0
    assert state["step_count"] == 1
    assert state["seed"] == 11


def test_its_record_of_a_run_is_what_a_run_prints(url):
    (shown,) = blocks("text")
    words = ["--task", "hard", "--policy", "heuristic", "--env-base-url", url]
    assert run([sys.executable, "inference.py", *words]) == shown


def test_its_table_lists_the_official_tasks():
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)
    listed = [
        (task.id, str(task.steps_max), str(task.default_seed))
        for suite in suites()
        for task in suite.tasks
        if task.is_listed
    ]
    assert rows == listed


def _called(line):
    """Return the answer to a curl line, by curl where it is installed, else by a client that reads the same words."""
    words = shlex.split(line)
    if shutil.which("curl"):
        return json.loads(run(words))
    method, headers, content, url = "GET", {}, None, ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "-H":
            name, value = next(rest).split(": ")
            headers[name] = value
        elif word == "-d":
            content = next(rest)
        elif word != "-s":
            url = word
    return httpx.request(method, url, headers=headers, content=content, timeout=30).raise_for_status().json()
