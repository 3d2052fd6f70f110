"""The baseline as whoever runs it sees it: its records, its flags, its manners when things go wrong."""

import ast
import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

import inference
from tests.client.chat import call, chatting
from tests.server.children import free_port, running

ROOT = Path(__file__).parents[1]
HIDDEN = (
    "API_KEY",
    "HF_TOKEN",
    "OPENAI_API_KEY",
    "ENV_URL",
    "MODEL_NAME",
    "API_BASE_URL",
    "TRON_LLM_PLAN",
    "LOCAL_IMAGE_NAME",
    "IMAGE_NAME",
)
START = re.compile(r"\[START\] task=(\S+) env=kubedrill model=(\S+)")
STEP = re.compile(r"\[STEP\] step=(\d+) action=(.+) reward=(-?\d+\.\d\d) done=(true|false) error=(.+)")
END = re.compile(
    r"\[END\] success=(true|false) steps=(\d+) score=(\d\.\d{3}) rewards=((?:-?\d+\.\d\d(?:,|$))*)"
)


@pytest.fixture(scope="module")
def url():
    with running() as address:
        yield address


def run(*flags, **variables):
    """Run it in this process; what it prints and how it returns is what a shell would see."""
    out, err = io.StringIO(), io.StringIO()
    environment = {key: value for key, value in os.environ.items() if key not in HIDDEN} | variables
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = inference.main(flags)
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def episodes(stdout):
    """Return the (start, steps, end) of every episode; fail on any line that is no record."""
    result = []
    for line in stdout.splitlines():
        if START.fullmatch(line):
            result.append((START.fullmatch(line), [], None))
        elif STEP.fullmatch(line):
            result[-1][1].append(STEP.fullmatch(line))
        else:
            match = END.fullmatch(line)
            assert match, line
            result[-1] = (*result[-1][:2], match)
    return result


def test_it_imports_the_client_and_the_model_sdk_and_nothing_of_the_server():
    tree = ast.parse((ROOT / "inference.py").read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert ours == {"kubedrill", "openai"}


def test_a_model_plays_the_three_official_tasks(url):
    with chatting(call("kubectl get pods\n -A"), call("kubectl delete x"), call("kubectl fix")) as (
        base,
        chat,
    ):
        done = run(API_KEY="k3y", API_BASE_URL=base, MODEL_NAME="some-model", ENV_URL=url)
    assert done.returncode == 0, done.stderr
    played = episodes(done.stdout)
    assert [start.groups() for start, _, _ in played] == [
        (task, "some-model") for task in ("easy", "medium", "hard")
    ]
    first = played[0]
    assert [step.group(2) for step in first[1]] == ["kubectl get pods -A", "kubectl delete x", "kubectl fix"]
    assert first[2].groups() == ("true", "3", "0.990", "0.00,-0.05,0.30")
    assert all(end.group(1) == "true" for _, _, end in played)
    assert chat.keys[0] == "Bearer k3y"
    assert "some-model" not in done.stderr


def test_a_proxys_key_comes_first(url):
    with chatting(call("kubectl fix")) as (base, chat):
        run("--task", "easy", API_KEY="proxy", HF_TOKEN="hub", API_BASE_URL=base, ENV_URL=url)
    assert chat.keys == ["Bearer proxy"]


def test_without_a_key_the_rules_play_and_a_notice_says_so(url):
    done = run("--task", "easy", "--seed", "3", "--env-base-url", url)
    (start, steps, end) = episodes(done.stdout)[0]
    assert start.group(2) == "heuristic"
    assert "API_KEY" in done.stderr
    assert len(steps) == int(end.group(2)) == 12
    assert end.group(1) == "false"
    assert 0.01 <= float(end.group(3)) <= 0.99


def test_a_failing_model_still_ends_every_task(url):
    with chatting(401) as (base, _):
        done = run(API_KEY="k", API_BASE_URL=base, ENV_URL=url)
    played = episodes(done.stdout)
    assert [end.groups() for _, _, end in played] == [("false", "0", "0.010", "")] * 3
    assert "401" in done.stderr


def test_a_server_that_is_not_there_still_ends_every_task():
    done = run("--env-base-url", f"http://127.0.0.1:{free_port()}")
    assert [end.group(2) for _, _, end in episodes(done.stdout)] == ["0", "0", "0"]
    assert done.stderr


def test_flags_choose_episodes_and_a_file_gets_the_results(url, tmp_path):
    path = tmp_path / "out.json"
    done = run(
        "--task",
        "medium",
        "--seed",
        "5",
        "--episodes",
        "2",
        "--max-steps",
        "2",
        "--json-out",
        str(path),
        "--hard-reset",
        "--suite",
        "tron-v1",
        ENV_URL=url,
    )
    assert [len(steps) for _, steps, _ in episodes(done.stdout)] == [2, 2]
    written = json.loads(path.read_text())
    assert [(entry["seed"], len(entry["rewards"]), entry["score"]) for entry in written] == [
        (5, 2, 0.35),
        (6, 2, 0.35),
    ]


def test_a_plan_plays_in_place_of_a_model(url):
    done = run("--task", "easy", TRON_LLM_PLAN="# look first\nkubectl get pods\n\nkubectl fix", ENV_URL=url)
    (_, steps, end) = episodes(done.stdout)[0]
    assert [step.group(2) for step in steps] == ["kubectl get pods", "kubectl fix"]
    assert end.group(1) == "true"


def test_an_unknown_task_ends_with_the_valid_names_on_stderr(url):
    done = run("--task", "nope", ENV_URL=url)
    assert episodes(done.stdout)[0][2].groups() == ("false", "0", "0.010", "")
    assert "easy, medium, hard" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((1, "a\nb\tc", 0.305, False, None), "[STEP] step=1 action=a b c reward=0.30 done=false error=null"),
        (
            (2, "a", -0.05, True, "no such\nthing"),
            "[STEP] step=2 action=a reward=-0.05 done=true error=no such thing",
        ),
        ((3, "a", 0.0, False, "  "), "[STEP] step=3 action=a reward=0.00 done=false error=null"),
    ],
)
def test_every_record_is_one_line(arguments, line):
    number, action, reward, is_done, error = arguments
    assert inference.step_line(number, action, reward, is_done=is_done, error=error) == line


@pytest.mark.parametrize(("score", "reported"), [(0.0, 0.01), (1.0, 0.99), (0.5, 0.5), (-3.0, 0.01)])
def test_scores_are_reported_strictly_between_0_and_1(score, reported):
    assert inference.clamped(score) == reported
