"""Draw what a learning run was like, from its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from training.shares import wilson

CURVES: Final = (
    ("reward", "reward (mean)"),
    ("episode/success", "success, sampled, training incidents"),
    ("kl", "KL to the policy before"),
    ("entropy", "entropy per token"),
    ("completions/mean_length", "tokens of the model per episode"),
    ("frac_reward_zero_std", "share of groups without variance"),
    ("episode/tool_errors", "commands that failed, per episode"),
    ("episode/turns", "turns per episode"),
)
"""Name in the log, and what it is."""


def curves(logs: Mapping[int, Sequence[Mapping[str, Any]]], file: Path) -> None:
    """Draw the training curves of several seeds; steps that reuse samples have no figures of their own."""
    figure, axes = plt.subplots(2, 4, figsize=(16, 7), constrained_layout=True)
    for axis, (name, title) in zip(axes.flat, CURVES, strict=True):
        for seed, log in sorted(logs.items()):
            points = [(entry["step"], entry[name]) for entry in log if name in entry and "reward" in entry]
            if points:
                axis.plot(*zip(*points, strict=True), label=f"seed {seed}", linewidth=1)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("step", fontsize=8)
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    figure.savefig(file, dpi=80)
    plt.close(figure)


def comparison(tallies: Mapping[str, tuple[int, int]], file: Path) -> None:
    """Draw success rates with their 95 % intervals, one bar for each name, from successes and number."""
    figure, axis = plt.subplots(figsize=(1.1 * len(tallies) + 2, 4), constrained_layout=True)
    for place, (successes, n) in enumerate(tallies.values()):
        low, high = wilson(successes, n)
        share = successes / max(1, n)
        axis.bar(place, share, color="tab:blue" if place % 2 else "lightgrey", edgecolor="black")
        axis.errorbar(place, share, [[share - low], [high - share]], color="black", capsize=4)
    axis.set_xticks(range(len(tallies)), list(tallies), fontsize=8)
    axis.set_ylim(0, 1)
    axis.set_ylabel("success on held-out incidents")
    axis.grid(axis="y", alpha=0.3)
    figure.savefig(file, dpi=80)
    plt.close(figure)
