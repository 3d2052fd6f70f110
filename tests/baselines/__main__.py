"""Measure what simple policies reach on every fault and level of the repair suite, and keep it for the documentation.

    python -m tests.baselines --seeds 0-19 --jobs 2

Prints a table (success rate of no-op, random, static analyser, heuristic and reference) and writes docs/baselines.json
row by row, from which `make docs` makes the page. `--resume` goes on where a run was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from env_core.catalogue.__main__ import seed_range
from env_core.episode import Episode
from env_core.faults import Fault
from env_core.suites.repair import SUITE, levels
from kubedrill.models import KubeObservation
from kubedrill.policies import Policy
from kubedrill.policies.floors import IdlePolicy, RandomPolicy, StaticPolicy
from kubedrill.policies.repairing import RepairPolicy
from kubedrill.policies.scripted import ScriptedPolicy

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "baselines.json"
NAMES = ("no-op", "random", "static", "heuristic", "reference")
STEPS_MAX = 40


def policies(task, seed) -> dict[str, Callable[[], Policy]]:
    """Return a maker of each policy for one episode."""
    return {
        "no-op": IdlePolicy,
        "random": lambda: RandomPolicy(seed),
        "static": StaticPolicy,
        "heuristic": RepairPolicy,
        "reference": lambda: ScriptedPolicy(SUITE.reference(task, seed)[seed % 2], "reference"),
    }


def solved(task, seed: int, policy: Policy) -> bool:
    """Whether a policy's episode ends repaired."""
    episode, result = Episode.reset(suite="repair", task=task.id, seed=seed)
    for _ in range(STEPS_MAX):
        if result.is_done:
            break
        line = policy.act(KubeObservation.model_validate(result.observation))
        result = episode.step(line if line is not None else "submit")
    return episode.score() == 1.0


def measured(task_id: str, seeds: Sequence[int]) -> dict[str, int]:
    """Return how many seeds of a task each policy solves. Runs in a worker."""
    task = next(task for task in SUITE.tasks if task.id == task_id)
    found = dict.fromkeys(NAMES, 0)
    for seed in seeds:
        for name, make in policies(task, seed).items():
            found[name] += solved(task, seed, make())
    return found


def shown_name(task_id: str, rows: Mapping[str, tuple[str, Fault]]) -> str:
    """Return what a task is called in the table: its fault with its family, or a level."""
    return f"{rows[task_id][0]}/{rows[task_id][1].id}" if task_id in rows else task_id


def kept(seeds: Sequence[int]) -> dict[str, dict[str, object]]:
    """Return the rows that a run over as many seeds has written so far, by task."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {row["task"]: row for row in rows if row["seeds"] == len(seeds)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; returns 0."""
    parser = argparse.ArgumentParser(prog="tests.baselines", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seeds", type=seed_range, default=range(20), help="a seed or a range (default: 0-19)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)"
    )
    parser.add_argument("--only", default="", help="a family's id, or `repair-N`: print and write nothing")
    parser.add_argument("--resume", action="store_true", help="keep the rows that are there already")
    given = parser.parse_args(arguments)
    rows = {entry.task_id: (entry.family.id, entry.fault) for entry in levels.variants().values()}
    chosen = [
        task.id
        for task in SUITE.tasks
        if given.only in ("", task.id, rows[task.id][0] if task.id in rows else "")
    ]
    table = kept(given.seeds) if given.resume else {}
    missing = [task_id for task_id in chosen if shown_name(task_id, rows) not in table]
    print(f"{'TASK':<34}{'SEEDS':>6}" + "".join(f"{name:>11}" for name in NAMES), flush=True)
    with ProcessPoolExecutor(max_workers=given.jobs) as pool:
        for task_id, counts in zip(missing, pool.map(measured, missing, [given.seeds] * len(missing))):
            fault = rows[task_id][1] if task_id in rows else None
            name = shown_name(task_id, rows)
            table[name] = {
                "task": name,
                "level": fault.level if fault is not None else int(task_id.rpartition("-")[2]),
                "is_control": fault is not None and fault.is_control,
                "seeds": len(given.seeds),
                **counts,
            }
            shown = "".join(f"{counts[each] / len(given.seeds):>11.2f}" for each in NAMES)
            print(f"{name:<34}{len(given.seeds):>6}{shown}", flush=True)
            if not given.only:
                order = [shown_name(task_id, rows) for task_id in chosen]
                done = [table[name] for name in order if name in table]
                RESULTS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
