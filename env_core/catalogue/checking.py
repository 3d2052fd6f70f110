"""Prove faults over a range of seeds, in several processes, and print the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from env_core.catalogue.proofs import PROOFS
from env_core.suites.repair.levels import Variant, variants


def named(name: str) -> tuple[Variant, ...]:
    """Return the faults of a family (by its id or its task's id), or all for ""."""
    return tuple(
        entry
        for entry in variants().values()
        if name.lower() in ("", entry.family.id.lower(), entry.task_id, entry.fault.id)
    )


def _proved(seeds: Sequence[int], task_id: str) -> list[tuple[str, int, str]]:
    """Return (proof, seed, problem) of everything that is wrong with one fault. Runs in a worker."""
    variant = variants()[task_id]
    found: list[tuple[str, int, str]] = []
    for seed in seeds:
        for name, proof in PROOFS.items():
            try:
                problems = proof(variant, seed)
            except Exception as error:  # a crash is a problem like others: told with its fault and seed
                problems = [f"{type(error).__name__}: {error}"]
            found += [(name, seed, problem) for problem in problems]
    return found


def check_faults(
    chosen: Sequence[Variant], seeds: Sequence[int], *, jobs: int, say: Callable[[str], None]
) -> int:
    """Prove the faults, say a table line by line, and return the exit code."""
    say(f"{'FAMILY':<8} {'FAULT':<26} {'SEEDS':<10} {' '.join(f'{name:<9}' for name in PROOFS)}")
    failed = 0
    prove = partial(_proved, tuple(seeds))
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for variant, problems in zip(chosen, pool.map(prove, [entry.task_id for entry in chosen])):
            wrong = {name for name, _, _ in problems}
            failed += bool(wrong)
            marks = " ".join(f"{'FAILED' if name in wrong else 'ok':<9}" for name in PROOFS)
            say(
                f"{variant.family.id:<8} {variant.fault.id:<26} {f'{seeds[0]}-{seeds[-1]}':<10} {marks}".rstrip()
            )
            for name, seed, problem in problems:
                say(f"    {name}, seed {seed}: {problem}")
    say(f"{len(chosen) - failed} of {len(chosen)} faults hold on {len(seeds)} seeds")
    return 1 if failed else 0
