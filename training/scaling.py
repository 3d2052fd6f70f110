"""How strongly an adapter acts when it is served: the change of weights is lora_alpha / r times B·A, so a factor on lora_alpha scales it exactly.

    python -m training.scaling outputs/training/grpo adapters/half 0.5

vLLM reads r, lora_alpha and use_rslora and ignores patterns, so an adapter with patterns is refused. Name the base model instead of a factor of 0.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from training.plan import PlanError
from training.scripting import refuse_existing, say, script

_WEIGHTS = "adapter_model.safetensors"
_CONFIG = "adapter_config.json"


def scaled(source: Path, target: Path, factor: float) -> Path:
    """Write an adapter that acts `factor` times as strongly; its weights are the same file where the file system allows.

    Raises:
        UsageError: if the source is no adapter, has ranks or alphas by pattern, or the target exists.
    """
    if not (source / _CONFIG).is_file() or not (source / _WEIGHTS).is_file():
        raise PlanError(f"{source} is no adapter: it lacks {_CONFIG} or {_WEIGHTS}")
    if not math.isfinite(factor):
        raise PlanError(f"a factor of {factor} is no number to multiply with")
    config = json.loads((source / _CONFIG).read_text())
    if config.get("alpha_pattern") or config.get("rank_pattern"):
        raise PlanError(f"{source} has patterns, which vLLM does not read")
    refuse_existing(target)
    target.mkdir(parents=True)
    config["lora_alpha"] *= factor
    (target / _CONFIG).write_text(json.dumps(config, indent=2) + "\n")
    try:
        os.link(source / _WEIGHTS, target / _WEIGHTS)
    except OSError:
        shutil.copyfile(source / _WEIGHTS, target / _WEIGHTS)
    return target


def main(arguments: Sequence[str] | None = None) -> None:
    """Scale an adapter."""
    options = argparse.ArgumentParser(
        prog="python -m training.scaling", description=__doc__.partition("\n")[0]
    )
    options.add_argument("source", type=Path)
    options.add_argument("target", type=Path)
    options.add_argument("factor", type=float)
    given = options.parse_args(arguments)
    say(scaled(given.source, given.target, given.factor))


if __name__ == "__main__":
    script(main)
