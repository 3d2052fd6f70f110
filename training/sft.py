"""Supervised fine-tuning on conversations: the model learns its own turns, not what the environment said."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from trl import SFTConfig, SFTTrainer

from training import models
from training.data import Row, demonstrations, read
from training.dialect import TOOLS
from training.plan import Plan, load
from training.scripting import parser, refuse_existing, say, script


def train(plan: Plan, rows: Sequence[Row], out: Path) -> Path:
    """Train the plan's model on the rows and return the folder with model, tokenizer and log."""
    began_s = time.monotonic()
    tokenizer = models.tokenizer_for(plan, [row.messages for row in rows])
    given = {"assistant_only_loss": True, **plan.sft.arguments}
    trainer = SFTTrainer(
        model=models.model_for(plan, tokenizer),
        args=models.arguments_for(plan, SFTConfig, given, out / "sft-state", "sft"),
        train_dataset=Dataset.from_list(
            [{"messages": row.messages, "tools": json.dumps(TOOLS)} for row in rows]
        ),
        processing_class=tokenizer,
        peft_config=models.lora_for(plan),
    )
    trainer.train()
    folder = out / "sft"
    trainer.save_model(str(folder))
    tokenizer.padding_side = "left"
    tokenizer.save_pretrained(folder)
    log = {"seconds": round(time.monotonic() - began_s, 1), "history": trainer.state.log_history}
    (folder / "log.json").write_text(json.dumps(log))
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on a data set, or on demonstrations made for the purpose."""
    options = parser("sft", __doc__.partition("\n")[0])
    options.add_argument("--data", type=Path, help="a data set; demonstrations are made if none is given")
    given = options.parse_args(arguments)
    plan = load(given.config, given.set)
    resolved = models.resolved(plan, given.out, "sft")
    if given.dry_run:
        say(resolved)
        return
    refuse_existing(given.out / "sft")
    rows = read(given.data, pairs=False) if given.data else demonstrations(plan)
    say(train(plan, rows, given.out))


if __name__ == "__main__":
    script(main)
