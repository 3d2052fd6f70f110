"""The tables of docs/training.md, made from the counts in training/results: `python -m training.report` writes them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from training.scripting import say
from training.shares import wilson, z_of

RESULTS: Final = Path(__file__).parent / "results"
PAGE: Final = Path(__file__).parents[1] / "docs" / "training.md"
WAYS: Final = ("greedy", "sampled")
_BEGIN: Final = "<!-- begin: training/results -->"
_END: Final = "<!-- end -->"


def tables(folder: Path = RESULTS, name: str = "cpu-tiny") -> str:
    """Return the tables of a proof in Markdown; a sentence if there are no results."""
    found = {way: folder / f"{name}-{way}.json" for way in WAYS}
    if not all(path.exists() for path in found.values()):
        return "It has not been run yet."
    results = {way: json.loads(path.read_text()) for way, path in found.items()}
    run = json.loads((folder / f"{name}-run.json").read_text())
    lines = ["| policy | before (imitation) | after (GRPO) | z |", "|---|---|---|---|"]
    for way, result in results.items():
        before, after = result["before"], result["after"]
        z = z_of((before["successes"], before["n"]), (after["successes"], after["n"]))
        lines.append(f"| {way} | {_share(before)} | {_share(after)} | {z:.1f} |")
    greedy = results["greedy"]
    lines += [
        "",
        "| training seed | greedy before | greedy after | calls of a solved episode (fewest) | minutes |",
    ]
    lines.append("|---|---|---|---|---|")
    for seed, entry in greedy["by_seed"].items():
        before, after = entry["before"], entry["after"]
        calls = f"{after['calls_solved']:.1f} ({after['calls_solved_min']})"
        minutes = sum(run["seconds"][seed].values()) / 60
        lines.append(
            f"| {seed} | {before['successes']}/{before['n']} | {after['successes']}/{after['n']} | {calls} | {minutes:.1f} |"
        )
    lines += ["", "| kind of incident | greedy before | greedy after |", "|---|---|---|"]
    for task, (successes, n) in greedy["by_task"]["before"].items():
        later, m = greedy["by_task"]["after"][task]
        lines.append(f"| `{task}` | {successes}/{n} | {later}/{m} |")
    return "\n".join(lines)


def _share(counts: Mapping[str, Any]) -> str:
    low, high = wilson(counts["successes"], counts["n"])
    share = counts["successes"] / counts["n"]
    return f"{counts['successes']}/{counts['n']} = {share:.1%} ({low:.1%} to {high:.1%})"


def written(page: str, made: str) -> str:
    """Return the page with these tables in their place."""
    head, rest = page.split(_BEGIN, 1)
    return f"{head}{_BEGIN}\n{made}\n{_END}{rest.split(_END, 1)[1]}"


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(written(PAGE.read_text(), tables()))
    say(PAGE)


if __name__ == "__main__":
    main()
