"""Make or load what a plan names: tokenizer, model, dialect, LoRA, and the arguments that every trainer shares."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import torch
import trl
from peft import AutoPeftModelForCausalLM, LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from trl.chat_template_utils import get_training_chat_template, is_chat_template_prefix_preserving

from training import tiny
from training.dialect import TOOLS, ChatDialect
from training.plan import Plan, PlanError


def tokenizer_for(plan: Plan, corpus: list[list[dict[str, Any]]] | None = None) -> PreTrainedTokenizerBase:
    """Return the plan's tokenizer, padding on the left.

    Args:
        plan: What is wanted.
        corpus: Conversations that a tokenizer from scratch is trained on.
    """
    if plan.model.kind == "tiny":
        if corpus is None:
            raise PlanError("a tokenizer from scratch needs conversations to be trained on")
        raw = tiny.build_tokenizer(["-"], 300)
        texts = [raw.apply_chat_template(messages, tools=TOOLS, tokenize=False) for messages in corpus]
        return tiny.build_tokenizer(texts, plan.model.vocabulary)
    return trainable(saved_tokenizer(Path(plan.model.name)))


def trainable(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """Return the tokenizer with a chat template that keeps earlier turns as they were, which training needs."""
    if not is_chat_template_prefix_preserving(tokenizer):
        tokenizer.chat_template = get_training_chat_template(tokenizer)
    return tokenizer


def saved_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer that a stage has saved beside its model, or that of a name on the hub."""
    with _loading(folder):
        return AutoTokenizer.from_pretrained(str(folder), padding_side="left")


def start_for(plan: Plan, given: Path | None) -> Path:
    """Return the folder, or the name on the hub, of the model that a stage starts from.

    Raises:
        PlanError: if there is none, or the folder holds no model.
    """
    if given is None:
        if plan.model.kind == "tiny":
            raise PlanError(
                "--start: a model from scratch is made by training.sft; name the folder that it wrote"
            )
        return Path(plan.model.name)
    if plan.model.kind == "hub" and str(given) == plan.model.name:
        return given
    if not any((given / name).is_file() for name in ("config.json", "adapter_config.json")):
        raise PlanError(
            f"{given} is no model: name a folder that a stage has written, such as outputs/training/sft"
        )
    return given


def model_for(plan: Plan, tokenizer: PreTrainedTokenizerBase) -> torch.nn.Module:
    """Return the plan's model before any training."""
    model = plan.model
    if model.kind == "tiny":
        return tiny.build_model(
            tokenizer,
            layers=model.layers,
            hidden=model.hidden,
            initializer_range=model.initializer_range,
            seed=plan.seed,
        )
    return saved_model(plan, Path(model.name))


def saved_model(plan: Plan, folder: Path) -> torch.nn.Module:
    """Return the model in a folder, or of that name on the hub."""
    with _loading(folder):
        return AutoModelForCausalLM.from_pretrained(str(folder), dtype=getattr(torch, plan.model.dtype))


@contextlib.contextmanager
def _loading(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PlanError(f"{folder} is no model that can be loaded: {' '.join(str(error).split())}") from error


def trained(plan: Plan, folder: Path) -> torch.nn.Module:
    """Return the model that a stage has written; an adapter is laid on its base model."""
    if not (folder / "adapter_config.json").exists():
        return saved_model(plan, folder)
    return AutoPeftModelForCausalLM.from_pretrained(str(folder), dtype=getattr(torch, plan.model.dtype))


def dialect_for(plan: Plan, tokenizer: PreTrainedTokenizerBase) -> ChatDialect:
    """Return how episodes are written for the plan's model."""
    model = plan.model
    return ChatDialect(tokenizer, page=model.page, call=model.call, template_kwargs=model.template_kwargs)


def lora_for(plan: Plan) -> LoraConfig | None:
    """Return the adapter to train, None for all weights.

    Raises:
        PlanError: for an argument that peft does not know.
    """
    if plan.lora is None:
        return None
    given = checked(LoraConfig, {"task_type": "CAUSAL_LM", **plan.lora}, "lora")
    try:
        return LoraConfig(**given)
    except (TypeError, ValueError) as error:
        raise PlanError(f"lora: {' '.join(str(error).split())}") from error


def arguments_for(plan: Plan, config: type[Any], given: Mapping[str, Any], out: Path, where: str) -> Any:
    """Return TRL's configuration of a stage: what the plan says, on this machine's terms.

    Raises:
        PlanError: for an argument that TRL does not know, or a value that it does not take.
    """
    has_gpu = torch.cuda.is_available()
    shared = {
        "output_dir": str(out),
        "seed": plan.seed,
        "report_to": "none",
        "disable_tqdm": True,
        "save_strategy": "no",
        "use_cpu": not has_gpu,
        "bf16": has_gpu,
        "gradient_checkpointing": has_gpu,
    }
    try:
        return config(**checked(config, {**shared, **given}, where))
    except (TypeError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(f"{where}.arguments: {' '.join(str(error).split())}") from error


def checked(kind: type[Any], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the arguments if the configuration has all of them, and texts are not where it has numbers.

    Raises:
        PlanError: for the first that is wrong.
    """
    defaults = {entry.name: entry.default for entry in dataclasses.fields(kind)}
    for name, value in given.items():
        if name not in defaults:
            raise PlanError(f"{where}: {kind.__name__} has no argument {name}")
        if isinstance(value, str) and type(defaults[name]) in (int, float):
            raise PlanError(f"{where}: {name} is a number in {kind.__name__}, not {value!r}")
    return dict(given)


def resolved(plan: Plan, out: Path, stage: str) -> str:
    """Return everything that a run would be started with, as JSON: the plan, and TRL's and peft's arguments after defaults."""
    config = {"sft": trl.SFTConfig, "dpo": trl.DPOConfig, "grpo": trl.GRPOConfig}[stage]
    arguments = arguments_for(plan, config, getattr(plan, stage).arguments, out, stage)
    lora = lora_for(plan)
    whole = {
        "plan": plan.shown(),
        "digest": plan.digest,
        config.__name__: arguments.to_dict(),
        "LoraConfig": None if lora is None else lora.to_dict(),
    }
    return json.dumps(whole, indent=2, default=str)
