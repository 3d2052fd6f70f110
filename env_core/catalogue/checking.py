"""Prove faults over a range of seeds, in several processes, and print the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from env_core.catalogue.proofs import PROOFS
from env_core.faults import all_families
from env_core.suites.repair.levels import Variant, variants


class Row(NamedTuple):
    """One line of the table: what it is called, and the (task, seed) pairs that it proves."""

    family: str
    fault: str
    pairs: tuple[tuple[str, int], ...]


class Problem(NamedTuple):
    """What is wrong with one fault at one seed."""

    fault: str
    proof: str
    seed: int
    text: str


def named(name: str) -> tuple[Variant, ...]:
    """Return the faults of a family (by its id or its task's id), or all for ""."""
    return tuple(
        entry
        for entry in variants().values()
        if name.lower() in ("", entry.family.id.lower(), entry.task_id, entry.fault.id)
    )


def every_fault(chosen: Sequence[Variant], seeds: Sequence[int]) -> list[Row]:
    """Return a row for each fault: every seed."""
    return [
        Row(entry.family.id, entry.fault.id, tuple((entry.task_id, seed) for seed in seeds))
        for entry in chosen
    ]


def one_fault_a_seed(seeds: Sequence[int]) -> list[Row]:
    """Return a row for each family: each seed proves one of its faults, in turn."""
    found = []
    for family in sorted(all_families().values(), key=lambda family: family.id):
        own = named(family.id)
        pairs = tuple((own[seed % len(own)].task_id, seed) for seed in seeds)
        found.append(Row(family.id, f"{len({task for task, _ in pairs})} of {len(own)}", pairs))
    return found


def _proved(row: Row) -> list[Problem]:
    """Return everything that is wrong with a row. Runs in a worker."""
    found: list[Problem] = []
    for task_id, seed in row.pairs:
        variant = variants()[task_id]
        for name, proof in PROOFS.items():
            try:
                problems = proof(variant, seed)
            except Exception as error:  # a crash is a problem like others: told with its fault and seed
                problems = [f"{type(error).__name__}: {error}"]
            found += [Problem(variant.fault.id, name, seed, problem) for problem in problems]
    return found


def check_faults(rows: Sequence[Row], seeds: Sequence[int], *, jobs: int, say: Callable[[str], None]) -> int:
    """Prove the rows, say a table line by line, and return the exit code."""
    span = f"{seeds[0]}-{seeds[-1]}"
    say(f"{'FAMILY':<8} {'FAULT':<26} {'SEEDS':<10} {' '.join(f'{name:<9}' for name in PROOFS)}".rstrip())
    failed = 0
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for row, problems in zip(rows, pool.map(_proved, rows)):
            wrong = {problem.proof for problem in problems}
            failed += bool(wrong)
            marks = " ".join(f"{'FAILED' if name in wrong else 'ok':<9}" for name in PROOFS)
            say(f"{row.family:<8} {row.fault:<26} {span:<10} {marks}".rstrip())
            for problem in problems:
                say(f"    {problem.fault}, {problem.proof}, seed {problem.seed}: {problem.text}")
    say(f"{len(rows) - failed} of {len(rows)} hold on {len(seeds)} seeds")
    return 1 if failed else 0
