"""Rows scored by length come out as they do all together."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the environment of training: make train-venv")

from training.lengths import by_length  # noqa: E402 - only where torch is


def batch(lengths, prompt=5, keep=12):
    """Return ids and mask of rows with (prompt, completion) lengths, padded as a trainer pads."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(1, 50, (len(lengths), prompt + keep), generator=generator)
    mask = torch.zeros_like(ids)
    for row, (before, after) in enumerate(lengths):
        mask[row, prompt - before : prompt + after] = 1
    return ids * mask, mask


def model():
    """Return a model whose log probabilities depend on the whole row before."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    sizes = {
        "vocab_size": 50,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "head_dim": 8,
    }
    return Qwen3ForCausalLM(Qwen3Config(num_attention_heads=2, num_key_value_heads=1, **sizes)).eval()


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_scores_do_not_depend_on_what_else_is_scored(size):
    ids, mask = batch([(3, 12), (5, 1), (1, 4), (4, 7), (2, 0)])
    scorer, calls = model(), []

    def score(rows, present, keep):
        calls.append(tuple(rows.shape))
        logits = scorer(input_ids=rows, attention_mask=present).logits[:, :-1].log_softmax(-1)
        logps = logits.gather(-1, rows[:, 1:].unsqueeze(-1)).squeeze(-1)
        entropies = -(logits.exp() * logits).sum(-1)
        return logps[:, -keep:], entropies[:, -keep:], None

    whole = score(ids, mask, 12)
    calls.clear()
    found = by_length(score, ids, mask, 12, size)
    completion = mask[:, -12:].bool()
    for ours, theirs in zip(found[:2], whole[:2]):
        assert ours.shape == theirs.shape
        assert torch.allclose(ours[completion], theirs[completion], atol=1e-5)
    assert sum(rows for rows, _ in calls) == 5
    if size < 5:
        assert min(columns for _, columns in calls) < ids.shape[1]


def test_no_entropies_stay_no_entropies():
    ids, mask = batch([(3, 12), (5, 1)])
    logps, entropies, _ = by_length(
        lambda rows, present, keep: (rows[:, -keep:].float(), None, None), ids, mask, 12, 1
    )
    assert entropies is None
    assert torch.equal(logps * mask[:, -12:], ids[:, -12:].float())
