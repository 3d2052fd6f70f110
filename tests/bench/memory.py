"""What episodes and forks weigh, measured in a process of its own: `python -m tests.bench.memory`."""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from tests.bench.measuring import Profile, resident_kib, rounded
from tests.bench.report import Row

_ROOT = Path(__file__).parents[2]
_STEPS_OF_AN_INCIDENT = 10


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 6: resident memory per live episode after ten mixed steps, and per idle fork."""
    count, forks = (20, 100) if is_quick else (200, 2_000)
    command = [sys.executable, "-m", "tests.bench.memory", "--episodes", str(count), "--forks", str(forks)]
    if profile.is_on:
        command.append("--trace")
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True)
    found: dict[str, Any] = orjson.loads(done.stdout)
    if profile.is_on:
        profile.texts["6"] = "\n".join(found.pop("trace"))
    episode = Row(
        id="6a",
        what="memory per live episode after ten mixed steps",
        unit="KiB",
        budget=512.0,
        measured=found["episode_kib"],
        peer="the base world alone",
        peer_measured=found["base_kib"],
        details=found,
    )
    fork = Row(
        id="6b",
        what="memory per idle fork of an episode",
        unit="KiB",
        budget=10.0,
        measured=found["fork_kib"],
        peer="the base world alone",
        peer_measured=found["base_kib"],
    )
    worlds = Row(
        id="6c",
        what="1,000 forks of busy worlds",
        unit="MiB",
        budget=512.0,
        measured=rounded(found["world_fork_kib"] * 1_000 / 1_024),
        peer="the base world alone",
        peer_measured=rounded(found["base_kib"] / 1_024),
    )
    return [episode, fork, worlds]


def _settled_kib() -> float:
    gc.collect()
    return resident_kib()


def _measure(count: int, forks: int, *, is_traced: bool) -> dict[str, Any]:
    from env_core.suites.tron.world import VARIANTS, healthy
    from tests.bench import in_process, mix

    healthy(0)
    before = _settled_kib()
    for variant in range(1, VARIANTS):
        healthy(variant)
    base_kib = (_settled_kib() - before) / (VARIANTS - 1)
    in_process.warm()

    start = _settled_kib()
    if is_traced:
        import tracemalloc

        tracemalloc.start()
    begun = [mix.begin(mix.TASKS[number % 3], 50_000 + number) for number in range(count)]
    reset_kib = (_settled_kib() - start) / count
    for number, episode in enumerate(begun):
        # Half a mix with one of its two rollouts; which half goes by the episode.
        for at in range(_STEPS_OF_AN_INCIDENT):
            mix.step(episode, mix.command(at + _STEPS_OF_AN_INCIDENT * (number % 2), number))
    episode_kib = (_settled_kib() - start) / count
    trace: list[str] = []
    if is_traced:
        import tracemalloc

        snapshot = tracemalloc.take_snapshot()
        tracemalloc.stop()
        here = f"{_ROOT}/"
        trace = [
            f"{statistic.size / 1_024 / count:8.2f} KiB an episode  {str(statistic.traceback).replace(here, '')}"
            for statistic in snapshot.statistics("lineno")[:30]
        ]

    from_there = _settled_kib()
    kept = [begun[number % count].fork() for number in range(forks)]
    fork_kib = (_settled_kib() - from_there) / forks
    # The forks before stay: what they leave free would hide what these take.
    worlds_from = _settled_kib()
    worlds = [in_process.incident_of(begun[number % count]).cluster.fork() for number in range(forks)]
    world_kib = (_settled_kib() - worlds_from) / forks
    return {
        "episode_kib": rounded(episode_kib),
        "reset_kib": rounded(reset_kib),
        "fork_kib": rounded(fork_kib),
        "world_fork_kib": rounded(world_kib),
        "base_kib": rounded(base_kib),
        "episodes": len(begun),
        "forks": len(worlds) + len(kept),
        **({"trace": trace} if is_traced else {}),
    }


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description="Measure the memory of episodes and forks.")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--forks", type=int, default=2_000)
    parser.add_argument("--trace", action="store_true", help="also tell which lines allocate")
    given = parser.parse_args()
    print(orjson.dumps(_measure(given.episodes, given.forks, is_traced=given.trace)).decode())


if __name__ == "__main__":
    main()
