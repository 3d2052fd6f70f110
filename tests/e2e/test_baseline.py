"""The baseline on the real tasks: by its rules alone it repairs what it is given, and anyone can run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from env_core.episode import Episode
from kubedrill.models import KubeObservation
from kubedrill.policies.heuristic import HeuristicPolicy

ROOT = Path(__file__).parents[2]
SEEDS = 50
SHARE_MIN = 0.6
END = re.compile(r"\[END\] success=(true|false) steps=(\d+) score=(\d\.\d{3}) rewards=(\S*)")


@pytest.mark.parametrize("task", ["easy", "medium", "hard"])
def test_the_rules_repair_most_incidents_of_every_task(task):
    repaired = sum(_played(task, seed) == "success" for seed in range(SEEDS))
    assert repaired >= SHARE_MIN * SEEDS, f"{repaired} of {SEEDS}"


def test_without_any_flag_it_starts_a_server_plays_three_tasks_and_stops_it():
    hidden = (
        "API_KEY",
        "HF_TOKEN",
        "OPENAI_API_KEY",
        "ENV_URL",
        "TRON_LLM_PLAN",
        "LOCAL_IMAGE_NAME",
        "IMAGE_NAME",
        "PYTHONPATH",
    )
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        [sys.executable, str(ROOT / "inference.py")],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("[START]")] == [
        "task=easy",
        "task=medium",
        "task=hard",
    ]
    ends = [END.fullmatch(line) for line in lines if line.startswith("[END]")]
    assert [end.group(1, 3) for end in ends] == [("true", "0.990")] * 3
    assert all(line.startswith(("[START] ", "[STEP] ", "[END] ")) for line in lines)


def _played(task, seed):
    episode, result = Episode.reset(task=task, seed=seed)
    policy = HeuristicPolicy()
    while not result.is_done:
        command = policy.act(KubeObservation(**result.observation))
        if command is None:
            break
        result = episode.step(command)
    return episode.state()["oracle_verdict"]
