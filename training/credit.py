"""Credit by turns: each turn of an episode gets the advantage of what came after it, instead of the whole episode's.

The reward of a turn is the change of the service score less the command's price, so the turns' rewards add up to the episode's, and
both kinds of credit pursue the same end. What a suite pays at the last step goes to the last turn, and to those before by `gamma`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def turn_index(mask: torch.Tensor) -> torch.Tensor:
    """Return, for each token, which turn of the model it belongs to; −1 for tokens that are not the model's.

    Args:
        mask: (B, T), 1 for the model's tokens.
    """
    before = torch.nn.functional.pad(mask, (1, 0))[:, :-1]
    starts = (mask - before) == 1
    return torch.where(mask.bool(), starts.cumsum(1) - 1, -1)


def returns(rewards: Sequence[Sequence[float] | None], turns: torch.Tensor, gamma: float) -> torch.Tensor:
    """Return (B, N) discounted sums of the rewards from each turn on; NaN beyond an episode's last turn, or if it is unscorable.

    Args:
        rewards: Those of each episode's actions; a turn without an action earned 0. None: unscorable.
        turns: What `turn_index` returned.
        gamma: The discount from a turn to the next.
    """
    count = max(1, int(turns.max()) + 1)
    found = torch.full((len(rewards), count), float("nan"))
    for row, given in enumerate(rewards):
        if given is None:
            continue
        length = int(turns[row].max()) + 1
        earned = (list(given) + [0.0] * length)[:length]
        total = 0.0
        for turn in reversed(range(length)):
            total = earned[turn] + gamma * total
            found[row, turn] = total
    return found


def turn_advantages(
    rewards: Sequence[Sequence[float] | None], mask: torch.Tensor, group: int, gamma: float
) -> torch.Tensor:
    """Return (B, T) advantages: a turn's return against that of the same turn of the other episodes of its group.

    Args:
        rewards: As for `returns`.
        mask: As for `turn_index`.
        group: Episodes in a group; they follow each other.
        gamma: As for `returns`.
    """
    turns = turn_index(mask)
    gained = returns(rewards, turns.cpu(), gamma).to(mask.device)
    grouped = gained.view(-1, group, gained.shape[1])
    apart = grouped - grouped.nanmean(1, keepdim=True)
    present = (~grouped.isnan()).sum(1, keepdim=True).clamp(min=1)
    spread = (torch.nan_to_num(apart, nan=0.0).pow(2).sum(1, keepdim=True) / present).sqrt()
    advantages = torch.nan_to_num(apart / (spread + 1e-2), nan=0.0).view(gained.shape)
    return torch.where(turns >= 0, advantages.gather(1, turns.clamp(min=0)), 0.0)
