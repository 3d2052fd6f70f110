"""The proof of every task: its repairs repair, its decoys and patience do not, and judging changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from env_core.episode import Episode, StepResult, suites
from env_core.suites import Suite, Task

LOOK_ON: Final = "kubectl version --client"
"""A command that changes nothing and costs nothing: how the check waits."""

WORKAROUND_MARGIN: Final = 0.1
"""What a decoy may score above doing nothing (a workaround that holds for now). Source: DESIGN §3.8."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What one task × seed showed; `problems` is empty when all is as it must be."""

    task: str
    seed: int
    repairs: int
    decoys: int
    floor: float
    problems: tuple[str, ...]


def play(suite: Suite, task: Task, seed: int, script: Sequence[str]) -> tuple[Episode, StepResult]:
    """Run a script and then look on until the episode ends."""
    episode, result = Episode.reset(suite=suite.id, task=task.id, seed=seed)
    for line in script:
        if not result.is_done:
            result = episode.step(line)
    while not result.is_done:
        result = episode.step(LOOK_ON)
    return episode, result


def prove(suite: Suite, task: Task, seed: int) -> Proof:
    """Play every reference repair, every decoy and patience; the outcomes must be ordered as DESIGN §3.8 says."""
    problems = []
    patient, _ = play(suite, task, seed, ())
    before = patient.digest()
    floor = patient.score()
    if patient.digest() != before:
        problems.append("judging changed the world")
    if floor >= 1.0:
        problems.append(f"patience repairs it (score {floor})")
    repairs, decoys = suite.reference(task, seed), suite.decoys(task, seed)
    for name, scripts in (("repair", repairs), ("decoy", decoys)):
        if len(scripts) < 2:
            problems.append(f"only {len(scripts)} {name}s")
    for number, script in enumerate(repairs, 1):
        episode, _ = play(suite, task, seed, script)
        if episode.score() != 1.0:
            problems.append(f"repair {number} is refused (score {episode.score()}): {script}")
    for number, script in enumerate(decoys, 1):
        episode, _ = play(suite, task, seed, script)
        score = episode.score()
        if score > min(floor + WORKAROUND_MARGIN + 1e-9, 0.99):
            problems.append(f"decoy {number} passes (score {score}, doing nothing {floor}): {script}")
    return Proof(task.id, seed, len(repairs), len(decoys), floor, tuple(problems))


def check(seeds: Sequence[int], *, is_all: bool, say: Callable[[str], None]) -> int:
    """Prove the tasks over the seeds, say a table line by line, and return the exit code."""
    failed = 0
    say(f"{'TASK':<36} {'SEEDS':<9} {'REPAIRS':<8} {'DECOYS':<7} {'FLOOR':<11} RESULT")
    for suite in suites():
        for task in suite.tasks:
            # The faults behind the tasks of `repair` have proofs of their own.
            if suite.name == "repair" or not (task.is_listed or is_all):
                continue
            proofs = [prove(suite, task, seed) for seed in seeds]
            problems = [f"seed {proof.seed}: {text}" for proof in proofs for text in proof.problems]
            failed += bool(problems)
            floors = sorted(proof.floor for proof in proofs)
            say(
                f"{task.id:<36} {f'{seeds[0]}-{seeds[-1]}':<9} {sum(proof.repairs for proof in proofs):<8} "
                f"{sum(proof.decoys for proof in proofs):<7} {f'{floors[0]:.2f}-{floors[-1]:.2f}':<11} "
                f"{'FAILED' if problems else 'ok'}"
            )
            for text in problems:
                say(f"    {text}")
    return 1 if failed else 0
