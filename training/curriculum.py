"""What is practised: groups that teach nothing are drawn again, replaced or left out, and tasks that succeed sometimes come more often.

A group whose episodes all earned the same has no advantage to learn from; with stock TRL it only thins the batch.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers import TrainerCallback
from trl import GRPOTrainer

from training.credit import turn_advantages
from training.drift import Drift
from training.lengths import by_length
from training.plan import Grpo, PlanError

_DEAD_SHARE = 0.5
"""From this share of dead groups on, a batch is drawn again."""
_FORGET = 0.9
"""Weight of what was measured before, at each new group of a task."""
_LEAST = 0.15
"""The weight of a task that always or never succeeds, beside 1 for one that does every second time."""
_STATE = "curriculum.json"


class Progress:
    """How often each task has succeeded lately, and the draws that follow from it."""

    def __init__(self, seed: int) -> None:
        self.success: dict[str, float] = {}
        self._seed = seed

    def add(self, task: str, share: float) -> None:
        """Take in the share of a group's episodes that succeeded."""
        self.success[task] = _FORGET * self.success.get(task, share) + (1 - _FORGET) * share

    def weight(self, task: str) -> float:
        """Return how much a task is worth practising: most where it succeeds every second time, or was never tried."""
        share = self.success.get(task, 0.5)
        return _LEAST + (1 - _LEAST) * 4 * share * (1 - share)

    def draw(self, rows: Mapping[str, Sequence[int]], *key: int) -> int:
        """Return the index of a row, its task drawn by weight. The key makes the draw the same in every process."""
        stream = random.Random(f"{self._seed}/{key}")
        tasks = sorted(rows)
        chosen = stream.choices(tasks, [self.weight(task) for task in tasks])[0]
        return stream.choice(rows[chosen])


class EpisodeTrainer(GRPOTrainer):
    """GRPO over episodes: dynamic sampling, a replay of live groups, a curriculum, and credit by episode or by turn."""

    def __init__(self, *arguments: Any, options: Grpo, **keywords: Any) -> None:
        given = keywords["args"]
        is_measured = options.measure_kl and given.beta == 0
        if is_measured and keywords.get("peft_config") is not None:
            raise PlanError(
                "grpo.measure_kl compares all weights: with LoRA, give grpo.arguments.beta a value"
            )
        # Before TRL puts its own head on the model, which would refer to the model that learns from inside of the copy.
        self._drift = Drift(keywords["model"], given.temperature) if is_measured else None
        super().__init__(*arguments, **keywords)
        self.options = options
        self.progress = Progress(self.args.seed)
        self._kept: deque[dict[str, torch.Tensor]] = deque(maxlen=max(1, options.replay))
        self._generations = 0
        self._by_task: dict[str, list[int]] = {}
        for index, row in enumerate(self.train_dataset):
            self._by_task.setdefault(_task(row), []).append(index)
        if options.replay and self.args.per_device_train_batch_size % self.num_generations:
            raise PlanError(
                "replay needs whole groups in a process: a batch size that the group size divides"
            )
        self.add_callback(_Keeper(self))

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.model.training:
            return super()._generate_and_score_completions(inputs)
        self._generations += 1
        if self.options.curriculum:
            inputs = self._drawn(inputs, 0)
        out = self._played(inputs)
        for attempt in range(self.options.resample):
            dead = self.accelerator.gather(_dead(out, self.num_generations)).float().mean()
            if dead < _DEAD_SHARE:
                break
            inputs = self._drawn(inputs, attempt + 1)
            out = self._played(inputs)
        if self.options.replay:
            self._replayed(out)
        if self.options.drop_dead_groups:
            self._without_dead(out)
        return out

    def _played(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = super()._generate_and_score_completions(inputs)
        found = gather_object([(_task(row), row.get("episode_score")) for row in inputs])
        for start in range(0, len(found), self.num_generations):
            group = found[start : start + self.num_generations]
            share = sum(score == 1.0 for _, score in group) / len(group)
            self.progress.add(group[0][0], share)
            self._metrics["train"][f"success/{group[0][0]}"].append(share)
        if self._drift is not None:
            ids = torch.cat([out["prompt_ids"], out["completion_ids"]], 1)
            mask = torch.cat([out["prompt_mask"], out["completion_mask"]], 1)
            sums = torch.stack(self._drift.kl(ids, mask, out["sampling_per_token_logps"], _learned(out)))
            total, tokens = self.accelerator.reduce(sums, reduction="sum").tolist()
            self._metrics["train"]["kl"].append(total / max(1.0, tokens))
        if self.options.credit == "turn":
            rewards = [None if row["episode_reward"] is None else row["episode_rewards"] for row in inputs]
            out["advantages"] = turn_advantages(
                rewards, _learned(out), self.num_generations, self.options.gamma
            ).to(out["completion_ids"].device)
        return out

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        *arguments: Any,
        **keywords: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        size, score = self.options.rows_at_once, super()._get_per_token_logps_and_entropies
        if not size:
            return score(model, input_ids, attention_mask, logits_to_keep, *arguments, **keywords)
        return by_length(
            lambda ids, mask, keep: score(model, ids, mask, keep, *arguments, **keywords),
            input_ids,
            attention_mask,
            logits_to_keep,
            size,
        )

    def _drawn(self, inputs: list[dict[str, Any]], attempt: int) -> list[dict[str, Any]]:
        """Return other rows in the place of these, the same for all of a group."""
        first = self.accelerator.process_index * len(inputs)
        drawn = []
        for position in range(len(inputs)):
            group = (first + position) // self.num_generations
            index = self.progress.draw(self._by_task, self._generations, attempt, group)
            drawn.append(dict(self.train_dataset[index]))
        return drawn

    def _without_dead(self, out: dict[str, Any]) -> None:
        """Count only the tokens of live rows in the loss's denominator."""
        live = ~_dead_rows(out)
        tokens = (_learned(out) * live.unsqueeze(1)).sum()
        # A batch without any life has no loss; its denominator must still be one.
        out["num_items_in_batch"] = self.accelerator.gather(tokens).sum().clamp(min=1)
        share = self.accelerator.gather(live.float().mean()).mean().item()
        self._metrics["train"]["frac_rows_alive"].append(share)

    def _replayed(self, out: dict[str, Any]) -> None:
        """Put groups from earlier batches in the place of dead ones, and keep copies of the live ones."""
        size = self.num_generations
        # What was sampled earlier is off-policy: the ratio is taken to the policy that sampled it.
        out.setdefault("old_per_token_logps", out["sampling_per_token_logps"].clone())
        dead = _dead(out, size).tolist()
        live = [_cut(out, index * size, size) for index, is_dead in enumerate(dead) if not is_dead]
        replaced = 0
        for index, is_dead in enumerate(dead):
            if is_dead and self._kept:
                _paste(out, index * size, self._kept.popleft(), self._tokenizer.pad_token_id)
                replaced += 1
        self._kept.extend(live)
        out["num_items_in_batch"] = self.accelerator.gather(_learned(out).sum()).sum()
        self._metrics["train"]["frac_groups_replayed"].append(replaced / len(dead))


class _Keeper(TrainerCallback):
    """Keeps the curriculum's state in checkpoints. Groups for replay are not kept: they fill again."""

    def __init__(self, trainer: EpisodeTrainer) -> None:
        self._trainer = trainer

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            kept = {"success": self._trainer.progress.success, "generations": self._trainer._generations}
            (folder / _STATE).write_text(json.dumps(kept))

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        file = Path(args.output_dir) / f"checkpoint-{state.global_step}" / _STATE
        if state.global_step and file.is_file():
            kept = json.loads(file.read_text())
            self._trainer.progress.success = kept["success"]
            self._trainer._generations = kept["generations"]


def _task(row: Mapping[str, Any]) -> str:
    return str(row["prompt"][-1]["task"]["task"])


def _learned(out: Mapping[str, Any]) -> torch.Tensor:
    """Return the mask of the tokens that the loss sees."""
    mask: torch.Tensor = out["completion_mask"]
    return mask * out["tool_mask"] if "tool_mask" in out else mask


def _dead_rows(out: Mapping[str, Any]) -> torch.Tensor:
    advantages = out["advantages"].abs()
    return (advantages if advantages.dim() == 1 else advantages.sum(1)) == 0


def _dead(out: Mapping[str, Any], size: int) -> torch.Tensor:
    """Return, for each group, whether no row of it has an advantage."""
    return _dead_rows(out).view(-1, size).all(1)


_PROMPT = ("prompt_ids", "prompt_mask")
_COMPLETION = ("completion_ids", "completion_mask", "tool_mask", "old_per_token_logps", "sampling_per_token_logps", "ref_per_token_logps")  # fmt: skip


def _cut(out: Mapping[str, Any], start: int, size: int) -> dict[str, torch.Tensor]:
    names = (*_PROMPT, *_COMPLETION, "advantages")
    return {name: out[name][start : start + size].clone() for name in names if name in out}


def _paste(out: dict[str, Any], start: int, group: Mapping[str, torch.Tensor], pad: int) -> None:
    """Write a group's rows over others; whichever is narrower is padded, prompts on the left, completions on the right."""
    for name, rows in group.items():
        whole = out[name]
        fill = pad if name.endswith("_ids") else 0
        if whole.dim() > 1:
            width = max(whole.shape[1], rows.shape[1])
            whole, rows = (_padded(each, width, fill, is_left=name in _PROMPT) for each in (whole, rows))
        whole[start : start + rows.shape[0]] = rows
        out[name] = whole
    # Everything over completions has the same width, also what the group does not have.
    width = out["completion_ids"].shape[1]
    for name in (*_COMPLETION, "advantages"):
        if name in out and out[name].dim() > 1 and out[name].shape[1] < width:
            out[name] = _padded(out[name], width, 0, is_left=False)


def _padded(tensor: torch.Tensor, width: int, fill: int, *, is_left: bool) -> torch.Tensor:
    missing = width - tensor.shape[1]
    return torch.nn.functional.pad(tensor, (missing, 0) if is_left else (0, missing), value=fill)
