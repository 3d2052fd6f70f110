"""Models as policies for rollouts: a trainer's own model, its vLLM engine, or a vLLM server. torch is imported where it is used."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from training.rollouts import Policy, Turn

AT_ONCE = 256
"""Requests to a vLLM server at the same time; it queues what it cannot take."""


def cut(token_ids: Sequence[int], logprobs: Sequence[float], ends: Sequence[int], tokens_max: int) -> Turn:
    """Return what was sampled up to the first end token, in at most so many tokens."""
    length = next((index + 1 for index, token in enumerate(token_ids[:tokens_max]) if token in ends), 0)
    kept = length or min(len(token_ids), tokens_max)
    return Turn(list(token_ids[:kept]), [float(value) for value in logprobs[:kept]], is_cut=not length)


class TransformersPolicy:
    """A trainer's model, sampled by transformers with the trainer's generation settings."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context."""
        import torch
        from trl.models import unwrap_model_for_generation

        trainer = self._trainer
        device, pad = trainer.accelerator.device, trainer._tokenizer.pad_token_id
        if device.type == "cuda":
            # The current device is a thread's own, and this is not the thread that the trainer runs in.
            torch.cuda.set_device(device)
        width = max(map(len, contexts))
        ids = torch.tensor([[pad] * (width - len(ids)) + ids for ids in contexts], device=device)
        attended = torch.tensor(
            [[0] * (width - len(ids)) + [1] * len(ids) for ids in contexts], device=device
        )
        unwrapped = unwrap_model_for_generation(
            trainer.model_wrapped,
            trainer.accelerator,
            gather_deepspeed3_params=trainer.args.ds3_gather_for_generation,
            generation_kwargs=trainer.generation_kwargs,
        )
        with torch.no_grad(), unwrapped as model:
            out = model.generate(
                input_ids=ids,
                attention_mask=attended,
                generation_config=trainer.generation_config,
                max_new_tokens=max_new_tokens,
                return_dict_in_generate=True,
                output_scores=True,
            )
        new = out.sequences[:, width:]
        # Scores are what was sampled from, after temperature and filters.
        scores = torch.stack(out.scores, 1).float().log_softmax(-1).gather(-1, new.unsqueeze(-1)).squeeze(-1)
        rows = zip(new.tolist(), scores.tolist(), strict=True)
        return [cut(row, logprobs, trainer.eos_token_ids, max_new_tokens) for row, logprobs in rows]


class EnginePolicy:
    """The vLLM engine inside a trainer (`vllm_mode="colocate"`)."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context. The engine's own limit is the trainer's max_completion_length, for every turn."""
        _, sampled, logprobs, _ = self._trainer.vllm_generation.generate(
            prompts=contexts, images=None, num_generations=1
        )
        rows = zip(sampled, logprobs, strict=True)
        ends = self._trainer.eos_token_ids
        return [cut(ids, [score[0] for score in scores], ends, max_new_tokens) for ids, scores in rows]


class ServerPolicy:
    """A model behind a vLLM server's `/v1/completions`, the only one that it serves if none is named; one request for each turn, so that ranks need not keep step.

    Start the server with `--logprobs-mode processed_logprobs`, or the log probabilities are not those that were sampled from.
    """

    def __init__(
        self,
        url: str,
        ends: Sequence[int],
        *,
        model: str = "",
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int = 0,
        seed: int = 0,
        timeout_s: float = 600.0,
    ) -> None:
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._ends = list(ends)
        self._fields = {
            "model": model,
            "temperature": temperature,
            "top_p": top_p,
            "top_k": top_k,
            "logprobs": 0,
            "return_token_ids": True,
            "stop_token_ids": self._ends,
        }
        self._stream = random.Random(seed)

    def generate(self, contexts: list[list[int]], max_new_tokens: int) -> list[Turn]:
        """Return one turn for each context.

        Raises:
            httpx.HTTPError: if the server does not answer, or refuses.
        """
        limits = httpx.Limits(max_connections=AT_ONCE)
        with httpx.Client(base_url=self._url, timeout=self._timeout_s, limits=limits) as client:
            if not self._fields["model"]:
                served = client.get("/v1/models").raise_for_status().json()
                self._fields["model"] = served["data"][0]["id"]
            # Without a seed of its own, equal prompts on the engines of a data-parallel server may get equal samples.
            bodies = [
                {
                    **self._fields,
                    "prompt": context,
                    "max_tokens": max_new_tokens,
                    "seed": self._stream.getrandbits(63),
                }
                for context in contexts
            ]

            def choice(body: dict[str, Any]) -> dict[str, Any]:
                answer = client.post("/v1/completions", json=body).raise_for_status().json()
                first: dict[str, Any] = answer["choices"][0]
                return first

            with ThreadPoolExecutor(min(AT_ONCE, max(1, len(bodies)))) as pool:
                choices = list(pool.map(choice, bodies))
        return [
            cut(found["token_ids"], found["logprobs"]["token_logprobs"], self._ends, max_new_tokens)
            for found in choices
        ]


def policy_of(trainer: Any) -> Policy:
    """Return what samples the trainer's model.

    Raises:
        ValueError: for a set-up whose ranks would have to call the engine equally often, which episodes do not do.
    """
    ranks = trainer.accelerator.num_processes
    if trainer.use_vllm and trainer.vllm_mode == "server":
        given = trainer.args
        # Only the first rank has TRL's own client.
        return ServerPolicy(
            given.vllm_server_base_url or f"http://{given.vllm_server_host}:{given.vllm_server_port}",
            trainer.eos_token_ids,
            temperature=trainer.temperature,
            top_p=trainer.top_p,
            top_k=trainer.top_k,
            # Rank by rank and step by step another stream, and the same one after a resume.
            seed=given.seed * 1_000_003
            + trainer.state.global_step * ranks
            + trainer.accelerator.process_index,
        )
    if trainer.use_vllm:
        if trainer.vllm_tensor_parallel_size > 1:
            raise ValueError(
                "several ranks share one vLLM engine: use vllm_mode: server, or tensor parallel size 1"
            )
        return EnginePolicy(trainer)
    if ranks > 1 and (trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled):
        raise ValueError("a sharded model cannot be sampled by each rank alone: use vLLM")
    return TransformersPolicy(trainer)
