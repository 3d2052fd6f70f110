"""Preference training on one decision: after the same looks, the repair against the decoy.

TRL's DPO has no mask for what the environment said, so a pair is one turn and everything before it is the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from trl import DPOConfig, DPOTrainer

from training import models
from training.data import Row, preferences, read
from training.dialect import TOOLS, call_of
from training.plan import Plan, load
from training.scripting import parser, refuse_existing, say, script


def train(plan: Plan, rows: Sequence[Row], start: Path, out: Path) -> Path:
    """Train the model in a folder on the pairs and return the folder with model, tokenizer and log."""
    tokenizer = models.saved_tokenizer(start)
    pairs = [
        {
            "prompt": row.messages,
            "chosen": [call_of(row.chosen)],
            "rejected": [call_of(row.rejected)],
            "tools": json.dumps(TOOLS),
        }
        for row in rows
    ]
    trainer = DPOTrainer(
        # By its folder, so that the reference model can be loaded from there again.
        model=str(start),
        args=models.arguments_for(plan, DPOConfig, plan.dpo.arguments, out / "dpo-state", "dpo"),
        train_dataset=Dataset.from_list(pairs),
        processing_class=tokenizer,
        peft_config=models.lora_for(plan),
    )
    trainer.train()
    folder = out / "dpo"
    trainer.save_model(str(folder))
    tokenizer.save_pretrained(folder)
    (folder / "log.json").write_text(json.dumps({"history": trainer.state.log_history}))
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on a data set of preferences, or on one made for the purpose."""
    options = parser("dpo", __doc__.partition("\n")[0])
    options.add_argument(
        "--start", type=Path, help="a folder that a stage has written; the plan's model if none is given"
    )
    options.add_argument("--data", type=Path, help="a data set of preferences")
    given = options.parse_args(arguments)
    plan = load(given.config, given.set)
    resolved = models.resolved(plan, given.out, "dpo")
    if given.dry_run:
        say(resolved)
        return
    refuse_existing(given.out / "dpo")
    start = models.start_for(plan, given.start)
    rows = read(given.data, pairs=True) if given.data else preferences(plan)
    say(train(plan, rows, start, given.out))


if __name__ == "__main__":
    script(main)
