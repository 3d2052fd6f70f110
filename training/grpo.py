"""Reinforcement by GRPO over the real server: whole episodes are sampled, judged by the environment, and compared within a group."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig

from training import models
from training.curriculum import EpisodeTrainer
from training.errors import UsageError
from training.evaluate import replicas_for
from training.plan import Grpo, Plan, load
from training.replicas import Replicas
from training.scripting import parser, refuse_existing, say, script
from training.tasks import draw, prompt_rows
from training.trl_rollouts import rollout_func


def reward_function(options: Grpo) -> Callable[..., list[float | None]]:
    """Return the reward of an episode as the plan has it; None, not 0, for one that is unscorable. It logs the batch's figures."""

    def reward(
        episode_reward: list[float | None],
        episode_score: list[float | None],
        episode_ended: list[str],
        episode_metrics: list[dict[str, float]],
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        scored = [score for score, gained in zip(episode_score, episode_reward) if gained is not None]
        if log_metric is not None and scored:
            for name, value in episode_metrics[0].items():
                log_metric(name, value)
            log_metric("episode/success", sum(score == 1.0 for score in scored) / len(scored))
        rewards: list[float | None] = []
        for gained, score, ended in zip(episode_reward, episode_score, episode_ended, strict=True):
            if gained is None:
                rewards.append(None)
                continue
            worth = gained if options.reward == "return" else score or 0.0
            rewards.append(worth - options.failure_penalty * (ended != "done"))
        return rewards

    return reward


def train(plan: Plan, start: Path, replicas: Replicas, out: Path, *, resume: bool = False) -> Path:
    """Train the model in a folder on the training split and return the folder with model, tokenizer and log."""
    began_s = time.monotonic()
    tokenizer = models.saved_tokenizer(start)
    dialect = models.dialect_for(plan, tokenizer)
    incidents = draw(plan.tasks, "train", plan.grpo.prompts, plan.seed)
    trainer = EpisodeTrainer(
        model=models.saved_model(plan, start),
        args=models.arguments_for(plan, GRPOConfig, plan.grpo.arguments, out / "grpo-state", "grpo"),
        train_dataset=Dataset.from_list(prompt_rows(incidents, plan.environment.options)),
        processing_class=tokenizer,
        reward_funcs=[reward_function(plan.grpo)],
        rollout_func=rollout_func(dialect, replicas, plan.environment),
        peft_config=models.lora_for(plan),
        options=plan.grpo,
    )
    trainer.train(resume_from_checkpoint=resume or None)
    folder = out / "grpo"
    trainer.save_model(str(folder))
    tokenizer.save_pretrained(folder)
    log = {
        "seconds": round(time.monotonic() - began_s, 1),
        "success_by_task": trainer.progress.success,
        "history": trainer.state.log_history,
    }
    (folder / "log.json").write_text(json.dumps(log))
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a model that can already speak the dialect."""
    options = parser("grpo", __doc__.partition("\n")[0])
    options.add_argument(
        "--start", type=Path, help="a folder that a stage has written; the plan's model if none is given"
    )
    options.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    given = options.parse_args(arguments)
    plan = load(given.config, given.set)
    resolved = models.resolved(plan, given.out, "grpo")
    if given.dry_run:
        say(resolved)
        return
    start = models.start_for(plan, given.start)
    state = given.out / "grpo-state"
    checkpoint = get_last_checkpoint(str(state)) if state.is_dir() else None
    if given.resume and checkpoint is None:
        raise UsageError(
            f"{state} has no checkpoint to go on from; grpo.arguments.save_strategy=steps writes them"
        )
    if not given.resume:
        refuse_existing(given.out / "grpo")
        if checkpoint is not None:
            raise UsageError(
                f"{checkpoint} is there already: go on from it with --resume, or name another --out"
            )
    with replicas_for(plan) as replicas:
        say(train(plan, start, replicas, given.out, resume=given.resume))


if __name__ == "__main__":
    script(main)
