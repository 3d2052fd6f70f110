"""A transformer small enough to learn on two CPU cores: its tokenizer, chat template and weights are made here, nothing is downloaded.

Source of the sizes: measured; with the usual initializer_range of 0.02 a width of 128 needs several times as many steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

CALL, CALL_END = "<tool_call>", "</tool_call>"
_RESULT, _RESULT_END = "<tool_response>", "</tool_response>"
_END, _START, _PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"

TEMPLATE = (
    "{%- if tools %}{{ '<|im_start|>system tools:' }}{%- for tool in tools %}{{ ' ' + tool.function.name }}{%- endfor %}"
    "{{ '<|im_end|>' }}{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.role == 'assistant' %}{{ '<|im_start|>assistant' }}{%- generation %}"
    "{%- if message.content %}{{ ' ' + message.content }}{%- endif %}"
    "{%- for call in (message.tool_calls or []) %}"
    "{{ '<tool_call> ' + call.function.arguments.command + ' </tool_call>' }}{%- endfor %}"
    "{{ '<|im_end|>' }}{%- endgeneration %}"
    "{%- elif message.role == 'tool' %}{{ '<|im_start|>user<tool_response> ' }}"
    "{%- if message.content %}{{ message.content + ' ' }}{%- endif %}{{ '</tool_response><|im_end|>' }}"
    "{%- else %}{{ '<|im_start|>' + message.role + ' ' + message.content + '<|im_end|>' }}"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant' }}{%- endif %}"
)
"""ChatML without line breaks; a call is the command line itself between the marks, so that a word of it is a token."""


def build_tokenizer(corpus: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer that splits at white space only, trained on rendered episodes."""
    tokenizer = Tokenizer(models.BPE())
    words = pre_tokenizers.Split(Regex(r" ?[^\s]+|\s+"), "isolated")
    alphabet = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, alphabet])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[_PAD, _START, _END],
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # The marks are no text: what is learned must not run over them.
    marks = (CALL, CALL_END, _RESULT, _RESULT_END)
    tokenizer.train_from_iterator(_without_marks(corpus, (*marks, _PAD, _START, _END)), trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=_END,
        pad_token=_PAD,
        padding_side="left",
        extra_special_tokens=[_START],
    )
    wrapped.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in marks])
    wrapped.chat_template = TEMPLATE
    return wrapped


def _without_marks(corpus: Iterable[str], marks: tuple[str, ...]) -> Iterable[str]:
    for text in corpus:
        for mark in marks:
            text = text.replace(mark, "\0")
        yield from (part for part in text.split("\0") if part)


def build_model(
    tokenizer: PreTrainedTokenizerFast, *, layers: int, hidden: int, initializer_range: float, seed: int
) -> Qwen3ForCausalLM:
    """Return a Qwen3 with random weights, the same for the same seed."""
    config: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "intermediate_size": 3 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": hidden // 4,
        "max_position_embeddings": 1_024,
        "tie_word_embeddings": True,
        "initializer_range": initializer_range,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(Qwen3Config(**config))
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model
