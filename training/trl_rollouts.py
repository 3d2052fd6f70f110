"""The rollouts as TRL's GRPOTrainer takes them (TRL 1.16).

GRPOTrainer(rollout_func=rollout_func(dialect, replicas, settings), reward_funcs=[episode_reward], ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from training.replicas import Replicas
from training.rollouts import Dialect, EpisodeRequest, Policy, Settings, run
from training.sampling import policy_of


def rollout_func(
    dialect: Dialect, replicas: Replicas, settings: Settings | None = None, policy: Policy | None = None
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """Return TRL's RolloutFunc, for `GRPOTrainer(rollout_func=…, reward_funcs=[episode_reward])`.

    TRL hands over prompts only, already repeated for each group, so a row's task rides in an extra key of its last message,
    `{"role": "user", "content": "", "task": {"suite": …, "task": …, "seed": …}}`. The text of the prompt is not used: what the
    model reads is made by the dialect from the first observation. The budget of an episode is that of the settings; keep
    `GRPOConfig.max_completion_length` at least as large. Without a policy, the trainer's model samples.
    """

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        requests = [request_in(prompt) for prompt in prompts]
        sampler = policy or policy_of(trainer)
        batch = run(requests, sampler, dialect, replicas, settings)
        filler = [dialect.eos]
        return {
            # TRL pads and measures what it gets, so a row without a token gets one that nobody learns from.
            "prompt_ids": [result.prompt_ids or filler for result in batch],
            "completion_ids": [result.completion_ids or filler for result in batch],
            "logprobs": [result.logprobs or [0.0] for result in batch],
            "env_mask": [result.env_mask or [0] for result in batch],
            "episode_reward": [result.reward for result in batch],
            "episode_score": [result.score for result in batch],
            "episode_rewards": [result.rewards for result in batch],
            "episode_ended": [result.ended for result in batch],
            "episode_metrics": [batch.metrics for _ in batch],
        }

    return rollout


def episode_reward(
    episode_reward: list[float | None],
    episode_metrics: list[dict[str, float]],
    log_metric: Any = None,
    **_: Any,
) -> list[float | None]:
    """Return the rewards of the episodes, and log the batch's figures: a reward function for TRL. None is unscorable."""
    if log_metric is not None and episode_metrics:
        for name, value in episode_metrics[0].items():
            log_metric(name, value)
    return episode_reward


def request_in(prompt: Any) -> EpisodeRequest:
    """Return the request that rides in a prompt.

    Raises:
        ValueError: if there is none, or it lacks a field.
    """
    task = prompt[-1].get("task") if isinstance(prompt, list) and prompt else None
    if not isinstance(task, dict) or not {"suite", "task", "seed"} <= task.keys():
        raise ValueError(
            f"the last message of a prompt needs the key task with suite, task and seed: {prompt!r}"
        )
    options = {key: value for key, value in (task.get("options") or {}).items() if value is not None}
    return EpisodeRequest(task["suite"], task["task"], int(task["seed"]), options)
