"""The rollouts as TRL's GRPOTrainer takes them, and its model as a policy. TRL 1.16; torch is imported where it is used.

GRPOTrainer(rollout_func=rollout_func(dialect, replicas, settings), reward_funcs=[episode_reward], ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from training.replicas import Replicas
from training.rollouts import Dialect, EpisodeRequest, Policy, Settings, Turn, run


class TrainerPolicy:
    """The model of a trainer, sampled by its vLLM engine if it has one, else by transformers."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context."""
        if self._trainer.use_vllm:
            return self._by_vllm(contexts, max_new_tokens)
        return self._by_transformers(contexts, max_new_tokens)

    def _by_vllm(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        # Its budget is the trainer's max_completion_length for every turn, so what is beyond ours is cut off here.
        _, sampled, logprobs, _ = self._trainer.vllm_generation.generate(
            prompts=contexts, images=None, num_generations=1
        )
        turns = []
        for token_ids, scores in zip(sampled, logprobs, strict=True):
            kept = list(token_ids[:max_new_tokens])
            is_cut = not kept or kept[-1] not in self._trainer.eos_token_ids
            turns.append(Turn(kept, [float(score[0]) for score in scores[:max_new_tokens]], is_cut))
        return turns

    def _by_transformers(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        import torch
        from trl.models import unwrap_model_for_generation

        trainer = self._trainer
        device, ends = trainer.accelerator.device, list(trainer.eos_token_ids)
        if device.type == "cuda":
            # The current device is a thread's own, and this is not the thread that the trainer runs in.
            torch.cuda.set_device(device)
        pad, width = trainer._tokenizer.pad_token_id, max(map(len, contexts))
        ids = torch.tensor([[pad] * (width - len(ids)) + ids for ids in contexts], device=device)
        attended = torch.tensor(
            [[0] * (width - len(ids)) + [1] * len(ids) for ids in contexts], device=device
        )
        with (
            torch.no_grad(),
            unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model,
        ):
            out = model.generate(
                input_ids=ids,
                attention_mask=attended,
                do_sample=True,
                temperature=trainer.temperature,
                top_k=0,
                top_p=1.0,
                max_new_tokens=max_new_tokens,
                pad_token_id=pad,
                eos_token_id=ends,
                return_dict_in_generate=True,
                output_scores=True,
                disable_compile=True,
            )
        new = out.sequences[:, width:]
        scores = torch.stack(out.scores, 1).log_softmax(-1).gather(-1, new.unsqueeze(-1)).squeeze(-1)
        turns = []
        for row, logprobs in zip(new.tolist(), scores.tolist(), strict=True):
            length = next((index + 1 for index, token in enumerate(row) if token in ends), 0)
            kept = length or len(row)
            turns.append(Turn(row[:kept], logprobs[:kept], is_cut=not length))
        return turns


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
        sampler = policy or TrainerPolicy(trainer)
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
