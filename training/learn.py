"""The proof that the environment teaches: demonstrations that are wrong in part, imitation, then GRPO through the real server.

For each training seed a transformer from scratch imitates the junior, is measured, learns by reward, and is measured again on the same
held-out incidents. `make learn` runs it; the report goes to training/results.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training import data, evaluate, grpo, plots, sft
from training import report as page
from training.evaluate import Tally
from training.plan import Plan, load
from training.replicas import Replicas
from training.report import RESULTS, WAYS
from training.scripting import parser, say, script
from training.shares import z_of


def one_seed(plan: Plan, rows: Sequence[data.Row], replicas: Replicas, out: Path) -> dict[str, Any]:
    """Return what one training seed came to: tallies before and after, seconds, and the log."""
    times: dict[str, float] = {}

    def timed(name: str, began_s: float) -> None:
        times[name] = round(time.monotonic() - began_s, 1)

    began_s = time.monotonic()
    imitating = sft.train(plan, rows, out)
    timed("sft", began_s)
    began_s = time.monotonic()
    before = evaluate.measure(plan, imitating, replicas)
    timed("evaluate_before", began_s)
    began_s = time.monotonic()
    learned = grpo.train(plan, imitating, replicas, out)
    timed("grpo", began_s)
    began_s = time.monotonic()
    after = evaluate.measure(plan, learned, replicas)
    timed("evaluate_after", began_s)
    log = json.loads((learned / "log.json").read_text())["history"]
    return {"before": before, "after": after, "seconds": times, "log": log}


def pooled(found: Mapping[int, Mapping[str, Any]], when: str, way: str) -> dict[str, int]:
    """Return the raw counts over all seeds."""
    tallies: list[Tally] = [entry[when][way] for entry in found.values()]
    return {"successes": sum(entry.successes for entry in tallies), "n": sum(entry.n for entry in tallies)}


def report(plan: Plan, found: Mapping[int, Mapping[str, Any]], digest: str, folder: Path) -> dict[str, float]:
    """Write one file for each way of playing, the plots and the curves' figures; return z by way."""
    folder.mkdir(parents=True, exist_ok=True)
    z = {}
    bars: dict[str, tuple[int, int]] = {}
    for way in WAYS:
        before, after = pooled(found, "before", way), pooled(found, "after", way)
        z[way] = round(z_of(tuple(before.values()), tuple(after.values())), 2)
        bars[f"{way}\nbefore"], bars[f"{way}\nafter"] = tuple(before.values()), tuple(after.values())
        result = {
            "before": before,
            "after": after,
            "z": z[way],
            "seeds": sorted(found),
            "config": plan.name,
            "digest": digest,
            "way": way,
            "split": plan.evaluation.split,
            "by_seed": {
                str(seed): {when: _counts(entry[when][way]) for when in ("before", "after")}
                for seed, entry in sorted(found.items())
            },
            "by_task": {
                when: _by_task([entry[when][way] for entry in found.values()]) for when in ("before", "after")
            },
        }
        _put(folder / f"{plan.name}-{way}.json", result)
    _put(
        folder / f"{plan.name}-run.json",
        {
            "config": plan.name,
            "digest": digest,
            "plan": plan.shown(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "seconds": {str(seed): entry["seconds"] for seed, entry in sorted(found.items())},
        },
    )
    plots.curves({seed: entry["log"] for seed, entry in found.items()}, folder / f"{plan.name}-curves.png")
    plots.comparison(bars, folder / f"{plan.name}-success.png")
    return z


def _counts(entry: Tally) -> dict[str, Any]:
    figures = entry._asdict()
    del figures["by_task"]
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}


def _by_task(tallies: Sequence[Tally]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for entry in tallies:
        for task, (successes, n) in entry.by_task.items():
            sums = found.setdefault(task, [0, 0])
            sums[0] += successes
            sums[1] += n
    return found


def _put(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1, default=str) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the proof."""
    options = parser("learn", __doc__.partition("\n")[0])
    options.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options.add_argument("--results", type=Path, default=RESULTS, help="the folder for the report")
    given = options.parse_args(arguments)
    plan = load(given.config, given.set)
    if given.dry_run:
        say(json.dumps({"plan": plan.shown(), "seeds": given.seeds}, indent=2, default=str))
        return
    began_s = time.monotonic()
    folder = given.out / f"{plan.name}-{int(time.time())}"
    rows = data.demonstrations(plan)
    digest = data.write(folder / "demonstrations", rows, {"what": "demonstrations", "config": plan.name})
    found = {}
    with evaluate.replicas_for(plan) as replicas:
        for seed in given.seeds:
            seeded = load(given.config, [*given.set, f"seed={seed}"])
            found[seed] = one_seed(seeded, rows, replicas, folder / f"seed-{seed}")
            said = {
                when: {way: f"{entry.successes}/{entry.n}" for way, entry in found[seed][when].items()}
                for when in ("before", "after")
            }
            say(json.dumps({"seed": seed, **said, "seconds": found[seed]["seconds"]}))
    z = report(plan, found, digest, given.results)
    if given.results == RESULTS:
        page.main()
    say(json.dumps({"z": z, "minutes": round((time.monotonic() - began_s) / 60, 1)}))


if __name__ == "__main__":
    script(main)
