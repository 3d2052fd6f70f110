"""The whole way in two minutes: a few demonstrations, 20 steps of imitation, 5 of GRPO through two servers. It proves the plumbing, no learning."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Final

from training import data, evaluate, grpo, sft
from training.plan import load
from training.scripting import script

PLAN: Final = Path(__file__).parent / "configs" / "cpu-tiny.yaml"
CHANGES: Final = (
    "data.demonstrations=160",
    "data.incidents=32",
    "sft.arguments.max_steps=20",
    "sft.arguments.warmup_steps=4",
    "sft.arguments.logging_steps=1",
    "grpo.prompts=16",
    "grpo.arguments.max_steps=5",
    "grpo.arguments.num_iterations=1",
    "grpo.arguments.per_device_train_batch_size=16",
    "grpo.arguments.num_generations=4",
)


def _history(folder: Path) -> list[dict[str, float]]:
    found: list[dict[str, float]] = json.loads((folder / "log.json").read_text())["history"]
    return found


def main() -> None:
    """Run it; an exception, or an exit code other than 0, says what is broken."""
    plan = load(PLAN, CHANGES)
    with tempfile.TemporaryDirectory() as name, evaluate.replicas_for(plan) as replicas:
        out = Path(name)
        imitating = sft.train(plan, data.demonstrations(plan), out)
        losses = [entry["loss"] for entry in _history(imitating) if "loss" in entry]
        if not losses[-1] < losses[0] / 2:
            sys.exit(f"imitation does not learn: {losses}")
        steps = [entry for entry in _history(grpo.train(plan, imitating, replicas, out)) if "reward" in entry]
    if len(steps) != plan.grpo.arguments["max_steps"]:
        sys.exit(f"{len(steps)} steps of GRPO instead of {plan.grpo.arguments['max_steps']}")
    for entry in steps:
        if not math.isfinite(entry["loss"]) or entry["env/unscorable_frac"] or not entry["episode/turns"]:
            sys.exit(f"a step went wrong: {entry}")
    sys.stdout.write(f"smoke: loss {losses[0]:.2f} to {losses[-1]:.2f}, {len(steps)} steps of GRPO\n")


if __name__ == "__main__":
    script(main)
