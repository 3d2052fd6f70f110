"""How much of the ideal throughput rollouts reach when the environments are far away: `python -m training.bench_rollouts`.

The ideal is the same calls of the policy with environments that answer in no time. The policy is a stand-in that takes a fixed time
for each context and no processor; the environments are real servers, with latency added to each answer. A model that takes as long for
half a batch as for a whole one gains less by halves than is shown here. Writes results/rollouts.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kubedrill.models import KubeObservation
from training.replicas import Replicas
from training.rollouts import Action, EpisodeRequest, Settings, Turn, run

RESULTS = Path(__file__).resolve().parent / "results" / "rollouts.json"
SHARE_MIN = 0.8
LINES = (
    "kubectl -n tron get pods",
    "kubectl -n tron get service redis -o jsonpath={.spec.selector}",
    "kubectl -n tron get deployment nginx -o jsonpath={.spec.replicas}",
    "kubectl -n tron get networkpolicies",
    "curl -s -o /dev/null -w %{http_code} http://tron.localhost/data",
)
_END = len(LINES)
_REPLY = _END + 1


class Numbers:
    """A token is the number of a line."""

    eos = _END

    def prompt_ids(self, request: EpisodeRequest, observation: KubeObservation) -> list[int]:
        """Return the start of the first turn."""
        return [_REPLY]

    def parse(self, token_ids: list[int]) -> Action | None:
        """Return the line of the turn."""
        return Action(LINES[token_ids[0]]) if token_ids[0] < _END else None

    def reply_ids(self, observation: KubeObservation) -> list[int]:
        """Return the start of the next turn."""
        return [_REPLY]


class Paced:
    """Plays the lines in order, then stops; `seconds` is its time for a context."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.total_s = 0.0
        """The time that its calls take."""

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context."""
        seconds = self.seconds * len(contexts)
        self.total_s += seconds
        time.sleep(seconds)
        return [Turn([context.count(_END), _END], [-1.0, -1.0]) for context in contexts]


def measured(
    urls: Sequence[str], given: argparse.Namespace, *, latency_s: float, halves: int, generation_s: float
) -> dict[str, float]:
    """Play the batch as often as asked and return the figures of the median run."""
    # Groups of eight, as a trainer has them.
    requests = [EpisodeRequest("tron", "easy", index // 8) for index in range(given.episodes)]
    replicas = Replicas.at(urls, latency_s=latency_s)
    runs = []
    for _ in range(given.repeats):
        policy = Paced(generation_s / given.episodes)
        batch = run(requests, policy, Numbers(), replicas, Settings(halves=halves))
        assert batch.metrics["env/unscorable_frac"] == 0.0
        seconds = batch.metrics["rollout/seconds"]
        runs.append(
            {
                "seconds": round(seconds, 3),
                "ideal_seconds": round(policy.total_s, 3),
                "share_of_ideal": round(policy.total_s / seconds, 3),
                "steps_per_s": round(batch.metrics["env/steps_per_s"], 1),
            }
        )
    return sorted(runs, key=lambda figures: figures["share_of_ideal"])[len(runs) // 2]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's choices."""
    parser = argparse.ArgumentParser(description="Measure rollouts against the ideal.")
    parser.add_argument("--episodes", type=int, default=64, help="episodes at the same time (64)")
    parser.add_argument("--latency-s", type=float, default=0.2, help="added to each answer (0.2)")
    parser.add_argument(
        "--generation-s", type=float, default=1.0, help="the policy's time for a turn of all (1.0)"
    )
    parser.add_argument("--replicas", type=int, default=2, help="servers (2)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the median counts (3)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures go")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print both figures, write them; returns 1 if the share of the ideal is below 80 %."""
    given = parsed(arguments)
    usual = {"latency_s": given.latency_s, "halves": 2, "generation_s": given.generation_s}
    cases = {
        "two halves": usual,
        "two halves, short turns": {**usual, "generation_s": 0.6 * given.generation_s},
        "two halves, no added latency": {**usual, "latency_s": 0.0},
        "one batch": {**usual, "halves": 1},
    }
    with Replicas.started(given.replicas) as replicas:
        # The first resets of a seed build its world; training meets each seed many times.
        measured(replicas.urls, given, latency_s=0.0, halves=1, generation_s=0.0)
        found: dict[str, Any] = {name: measured(replicas.urls, given, **case) for name, case in cases.items()}
    for name, figures in found.items():
        sys.stdout.write(
            f"{name:30} {figures['seconds']:7.2f} s, ideal {figures['ideal_seconds']:6.2f} s: "
            f"{figures['share_of_ideal']:.0%}, {figures['steps_per_s']:.0f} steps/s\n"
        )
    config = {name: value for name, value in vars(given).items() if name != "out"}
    config |= {"lines": len(LINES), "python": platform.python_version(), "machine": platform.machine()}
    # On a busy machine the shares are lower.
    config["load"] = round(os.getloadavg()[0], 1)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps({"config": config, "runs": found}, indent=2) + "\n", encoding="utf-8")
    return 0 if found["two halves"]["share_of_ideal"] >= SHARE_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
