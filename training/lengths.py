"""Rows of like length are scored together, so that padding is not most of the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import pad

Score = Callable[[torch.Tensor, torch.Tensor, int], tuple[torch.Tensor, torch.Tensor | None, Any]]
"""Takes ids, mask and how many of the last columns count; returns their log probabilities, their entropies, and what else there is."""


def by_length(
    score: Score, ids: torch.Tensor, mask: torch.Tensor, keep: int, size: int
) -> tuple[torch.Tensor, torch.Tensor | None, None]:
    """Return what `score` says of the rows, asked for a few at a time and without the columns that none of them fills.

    Args:
        score: Scores some rows.
        ids: Tokens, shape (rows, columns); prompts end at the same column, so padding is at both ends.
        mask: 1 for a token, 0 for padding, of the same shape.
        keep: How many of the last columns count.
        size: Rows at a time.

    Returns:
        Log probabilities and entropies of shape (rows, keep), 0 in columns that were left out, all of them padding.
    """
    columns = ids.shape[1]
    prompt = columns - keep
    first = mask.argmax(1).clamp(max=prompt - 1)
    # A row without a completion keeps one column of it, since nothing can be scored in none.
    last = (columns - mask.flip(1).argmax(1)).clamp(min=prompt + 1)
    order = (last - first).argsort(stable=True)
    parts = []
    for rows in order.split(size):
        start, end = int(first[rows].min()), int(last[rows].max())
        logps, entropies, _ = score(ids[rows, start:end], mask[rows, start:end], keep - (columns - end))
        parts.append(
            [None if found is None else pad(found, (0, columns - end)) for found in (logps, entropies)]
        )
    back = order.argsort()
    logps, entropies = (None if found[0] is None else torch.cat(found)[back] for found in zip(*parts))
    return logps, entropies, None
