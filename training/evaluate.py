"""Play held-out incidents with a model, greedy and sampled, and count what it repaired."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from training import models, rollouts
from training.cluster import cluster_replicas
from training.data import Row, successes, write
from training.dialect import ChatDialect
from training.plan import Plan, load
from training.policies import ModelPolicy
from training.replicas import Replicas
from training.scripting import parser, refuse_existing, say, script
from training.shares import wilson
from training.tasks import Incident, draw


class Tally(NamedTuple):
    """What came of a set of episodes. Unscorable ones are no part of `n`."""

    successes: int
    n: int
    unscorable: int
    tool_errors: float
    """Per episode, as are the next two."""
    turns: float
    tokens: float
    calls_solved_min: int
    """The fewest calls in a solved episode; 0 if none was solved."""
    calls_solved: float
    by_task: dict[str, tuple[int, int]]
    """Successes and episodes."""
    endings: dict[str, int]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success rate."""
        return wilson(self.successes, self.n)


def replicas_for(plan: Plan) -> Replicas:
    """Return the plan's servers; those of this checkout are started, and end with the block that uses them."""
    environment = plan.environment
    if environment.urls:
        replicas = Replicas.at(environment.urls)
        replicas.wait_for_any()
        return replicas
    if environment.cluster:
        return cluster_replicas(environment.replicas, address=environment.cluster)
    return Replicas.started(environment.replicas)


def held_out(plan: Plan) -> list[Incident]:
    """Return the incidents that the plan measures on."""
    chosen = plan.evaluation
    return draw(plan.tasks, chosen.split, chosen.episodes, chosen.seed)


def play(
    plan: Plan,
    incidents: Sequence[Incident],
    policy: rollouts.Policy,
    dialect: ChatDialect,
    replicas: Replicas,
) -> list[rollouts.EpisodeResult]:
    """Play the incidents in batches."""
    results: list[rollouts.EpisodeResult] = []
    size = plan.evaluation.batch
    for start in range(0, len(incidents), size):
        requests = [
            rollouts.EpisodeRequest(*entry, options=dict(plan.environment.options))
            for entry in incidents[start : start + size]
        ]
        results += rollouts.run(requests, policy, dialect, replicas, plan.environment)
    return results


def tally(incidents: Sequence[Incident], results: Sequence[rollouts.EpisodeResult]) -> Tally:
    """Count."""
    scored = [
        (entry, result) for entry, result in zip(incidents, results, strict=True) if result.reward is not None
    ]
    solved = [result for _, result in scored if result.score == 1.0]
    n = max(1, len(scored))
    good = Counter(entry.task for entry, result in scored if result.score == 1.0)
    every = Counter(entry.task for entry, _ in scored)
    return Tally(
        successes=len(solved),
        n=len(scored),
        unscorable=len(results) - len(scored),
        tool_errors=sum(result.tool_errors for _, result in scored) / n,
        turns=sum(result.turns for _, result in scored) / n,
        tokens=sum(len(result.completion_ids) for _, result in scored) / n,
        calls_solved_min=min((len(result.actions) for result in solved), default=0),
        calls_solved=sum(len(result.actions) for result in solved) / max(1, len(solved)),
        by_task={task: (good[task], every[task]) for task in sorted(every)},
        endings=dict(sorted(Counter(result.ended for result in results).items())),
    )


def measure(plan: Plan, folder: Path, replicas: Replicas) -> dict[str, Tally]:
    """Play the held-out incidents with a saved model: greedy, and sampled if the plan says so."""
    tokenizer = models.saved_tokenizer(folder)
    model = models.trained(plan, folder)
    dialect = models.dialect_for(plan, tokenizer)
    incidents = held_out(plan)
    found = {}
    for way in ("greedy", "sampled") if plan.evaluation.sampled else ("greedy",):
        torch.manual_seed(plan.seed)
        policy = ModelPolicy(model, tokenizer, is_greedy=way == "greedy")
        found[way] = tally(incidents, play(plan, incidents, policy, dialect, replicas))
    return found


def collect(plan: Plan, folder: Path, replicas: Replicas) -> list[Row]:
    """Play incidents of the training split, as many as are measured on, and return the solved episodes as rows of a data set."""
    tokenizer = models.saved_tokenizer(folder)
    incidents = draw(plan.tasks, "train", plan.evaluation.episodes, plan.evaluation.seed)
    torch.manual_seed(plan.seed)
    policy = ModelPolicy(models.trained(plan, folder), tokenizer, is_greedy=False)
    results = play(plan, incidents, policy, models.dialect_for(plan, tokenizer), replicas)
    played = ((entry, result.actions, result.score) for entry, result in zip(incidents, results, strict=True))
    return successes(plan, played)


def shown(found: dict[str, Tally]) -> dict[str, Any]:
    """Return the tallies as JSON holds them."""
    return {way: {**entry._asdict(), "interval": entry.interval} for way, entry in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a saved model."""
    options = parser("evaluate", __doc__.partition("\n")[0])
    options.add_argument("model", type=Path, help="a folder that a stage has written")
    options.add_argument(
        "--collect",
        type=Path,
        help="write what it solves of the training split as a data set, and measure nothing",
    )
    given = options.parse_args(arguments)
    plan = load(given.config, given.set)
    if given.dry_run:
        say(json.dumps(plan.shown(), indent=2, default=str))
        return
    models.start_for(plan, given.model)
    if given.collect:
        refuse_existing(given.collect)
    with replicas_for(plan) as replicas:
        if given.collect:
            rows = collect(plan, given.model, replicas)
            say(
                write(
                    given.collect,
                    rows,
                    {"what": "sampled", "config": plan.name, "seed": plan.evaluation.seed},
                )
            )
            return
        say(json.dumps(shown(measure(plan, given.model, replicas)), indent=2))


if __name__ == "__main__":
    script(main)
