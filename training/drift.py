"""How far a policy has gone from where it started: measured, where the loss does not ask for it."""

from __future__ import annotations

import copy
from typing import Any

import torch

from training.lengths import by_length

ROWS_AT_ONCE = 32


class Drift:
    """A copy of the model as it was, to which later samples are compared."""

    def __init__(self, model: Any, temperature: float) -> None:
        self._model = copy.deepcopy(model).eval().requires_grad_(False)
        self._temperature = temperature

    @torch.no_grad()
    def kl(
        self, ids: torch.Tensor, mask: torch.Tensor, logps: torch.Tensor, learned: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sum of an estimate of the KL divergence over the sampled tokens, and how many there are.

        The estimate is exp(d) - d - 1 with d the log ratio of the start to the policy: never negative, and zero at the start.
        Source: Schulman, "Approximating KL Divergence" (k3), as TRL has it.

        Args:
            ids: Prompts and completions, shape (rows, columns).
            mask: 1 for a token, 0 for padding, of the same shape.
            logps: Log probabilities with which completions were sampled, shape (rows, columns of the completion).
            learned: 1 for a token of the policy, of that shape.
        """
        start, _, _ = by_length(self._score, ids, mask, logps.shape[1], ROWS_AT_ONCE)
        ratio = start - logps
        return ((ratio.exp() - ratio - 1) * learned).sum(), learned.sum()

    def _score(
        self, ids: torch.Tensor, mask: torch.Tensor, keep: int
    ) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        logits = self._model(input_ids=ids, attention_mask=mask, logits_to_keep=keep + 1).logits[:, :-1]
        scores = (logits.float() / self._temperature).log_softmax(-1)
        return scores.gather(-1, ids[:, -keep:].unsqueeze(-1)).squeeze(-1), None, None
