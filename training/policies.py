"""A model in this process as a policy, outside of a trainer."""

from __future__ import annotations

from typing import Any

import torch

from training.rollouts import Turn
from training.sampling import cut


class ModelPolicy:
    """Samples, or takes the likeliest token, with transformers."""

    def __init__(self, model: Any, tokenizer: Any, *, is_greedy: bool, temperature: float = 1.0) -> None:
        self._model = model.eval()
        self._pad = tokenizer.pad_token_id
        self._eos = tokenizer.eos_token_id
        self._choice: dict[str, Any] = (
            {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
            if is_greedy
            else {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": 0}
        )

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context, without log probabilities."""
        width = max(map(len, contexts))
        device = self._model.device
        ids = torch.tensor([[self._pad] * (width - len(ids)) + ids for ids in contexts], device=device)
        attended = torch.tensor(
            [[0] * (width - len(ids)) + [1] * len(ids) for ids in contexts], device=device
        )
        with torch.inference_mode():
            out = self._model.generate(
                input_ids=ids,
                attention_mask=attended,
                max_new_tokens=max_new_tokens,
                pad_token_id=self._pad,
                eos_token_id=self._eos,
                disable_compile=True,
                **self._choice,
            )
        rows = out[:, width:].tolist()
        return [cut(row, [0.0] * len(row), [self._eos], max_new_tokens) for row in rows]
