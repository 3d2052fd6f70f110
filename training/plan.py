"""A training plan: one YAML file, checked key by key, with overrides from the command line.

`arguments` of a stage go to TRL's configuration as they stand, so every option of TRL can be set; what is ours has names of its own.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from env_core.episode import InvalidInput, UnknownName, find_task, reset_options
from training.dialect import CALLS, PAGES
from training.errors import UsageError
from training.rollouts import Settings
from training.tasks import SPLITS
from training.views import VIEWS


class PlanError(UsageError):
    """Raised for a plan with an unknown key or a value that cannot be."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """Which model, and how it reads and writes."""

    kind: str = "tiny"
    """`tiny`: made from scratch. `hub`: a name on the hub or a folder."""
    name: str = ""
    layers: int = 3
    hidden: int = 128
    vocabulary: int = 640
    initializer_range: float = 0.08
    page: str = "narrow"
    call: str = "plain"
    template_kwargs: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float32"


@dataclass(frozen=True, kw_only=True)
class Environment(Settings):
    """Where episodes are played, beside how."""

    replicas: int = 2
    """Servers of this checkout to start, for each process of the trainer; unused with `urls`."""
    urls: tuple[str, ...] = ()
    cluster: str = ""
    """The Ray cluster that starts the servers: an address, `auto` for the one that this machine is part of, `local` for
    one of its own; empty for this machine without Ray."""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Data:
    """What data sets are made of."""

    seed: int = 0
    demonstrations: int = 4_000
    preferences: int = 1_000
    habit: float = 0.5
    """How often the junior acts by habit instead of by chance."""
    incidents: int = 240
    """How many incidents a data set is made from, at most."""


@dataclass(frozen=True, kw_only=True)
class Sft:
    """Supervised fine-tuning; `arguments` are those of `trl.SFTConfig`."""

    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Dpo:
    """Preference training; `arguments` are those of `trl.DPOConfig`."""

    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Grpo:
    """Reinforcement; `arguments` are those of `trl.GRPOConfig`."""

    arguments: dict[str, Any] = field(default_factory=dict)
    prompts: int = 2_000
    """Incidents of the training split, drawn before the start."""
    credit: str = "episode"
    """`episode`: one advantage for all of an episode's tokens. `turn`: one for each turn."""
    gamma: float = 1.0
    """Discount between turns, for turn credit."""
    drop_dead_groups: bool = True
    """Leave groups without variance out of the loss's denominator."""
    resample: int = 0
    """How often a batch is drawn again if at least half of its groups are dead (dynamic sampling)."""
    replay: int = 0
    """Groups with variance that are kept, to take the place of dead ones."""
    curriculum: bool = False
    """Prefer the tasks that succeed sometimes."""
    rows_at_once: int = 0
    """Rows that are scored together, those of like length, cut to the longest of them; 0: all, as long as the longest.
    Costs less where lengths differ and padding would be most of the work; for text models without an auxiliary loss."""
    measure_kl: bool = False
    """Log how far the policy has gone from its start also where `beta` is 0; holds a second copy of the model."""
    failure_penalty: float = 0.0
    """Taken off the reward for an episode that the environment has not ended."""
    reward: str = "return"
    """`return`: the sum of the step rewards. `score`: the verdict, 0 where there is none."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What is measured before and after."""

    split: str = "test"
    episodes: int = 256
    seed: int = 0
    batch: int = 128
    sampled: bool = True
    """Measure sampled episodes beside greedy ones."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How many processes where, for the launch files beside the plans."""

    accelerate: str = ""
    """A configuration of accelerate, such as fsdp2.yaml; empty for one process."""
    processes: int = 1
    machines: int = 1
    vllm: tuple[str, ...] = ()
    """Arguments of `vllm serve`; empty if no server is started."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a run depends on beside the code."""

    name: str
    seed: int = 0
    tasks: tuple[tuple[str, str], ...]
    model: Model = field(default_factory=Model)
    environment: Environment = field(default_factory=Environment)
    data: Data = field(default_factory=Data)
    sft: Sft = field(default_factory=Sft)
    dpo: Dpo = field(default_factory=Dpo)
    grpo: Grpo = field(default_factory=Grpo)
    lora: dict[str, Any] | None = None
    """Arguments of `peft.LoraConfig`; None trains all weights."""
    evaluation: Evaluation = field(default_factory=Evaluation)
    launch: Launch = field(default_factory=Launch)

    def shown(self) -> dict[str, Any]:
        """Return the plan as JSON would hold it."""
        return dataclasses.asdict(self)

    @property
    def digest(self) -> str:
        """What tells plans apart, whatever they are called."""
        text = json.dumps({**self.shown(), "name": ""}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


_PARTS: Mapping[str, type[Any]] = {
    "model": Model,
    "environment": Environment,
    "data": Data,
    "sft": Sft,
    "dpo": Dpo,
    "grpo": Grpo,
    "evaluation": Evaluation,
    "launch": Launch,
}


class _Loader(yaml.SafeLoader):
    """Reads 2e-6 as a number, which YAML 1.1 takes for a word."""


_Loader.yaml_implicit_resolvers = {
    key: list(value) for key, value in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


_CHOICES: Final[Mapping[str, Collection[str]]] = {
    "model.kind": ("tiny", "hub"),
    "model.page": PAGES,
    "model.call": CALLS,
    "model.dtype": ("float32", "bfloat16", "float16"),
    "environment.view": VIEWS,
    "grpo.credit": ("episode", "turn"),
    "grpo.reward": ("return", "score"),
    "evaluation.split": SPLITS,
}
_LEAST: Final[Mapping[str, float]] = {
    **dict.fromkeys(("model.layers", "model.hidden", "model.vocabulary"), 1),
    **dict.fromkeys(("data.demonstrations", "data.preferences", "data.incidents"), 1),
    "data.habit": 0,
    **dict.fromkeys(("environment.turns_max", "environment.completion_tokens_max"), 1),
    **dict.fromkeys(("environment.turn_tokens_max", "environment.output_chars_max", "environment.halves"), 1),
    "environment.timeout_s": 0.001,
    "grpo.prompts": 1,
    **dict.fromkeys(("grpo.resample", "grpo.replay", "grpo.rows_at_once"), 0),
    **dict.fromkeys(("evaluation.episodes", "evaluation.batch"), 1),
}


def read(text: str, where: str = "") -> Any:
    """Return what a text in YAML says; 2e-6 is a number.

    Raises:
        PlanError: if it is no YAML.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise PlanError(f"{where or text!r} is no YAML: {' '.join(str(error).split())}") from None


def load(path: Path, overrides: Sequence[str] = ()) -> Plan:
    """Return the plan in a file, changed by overrides such as `grpo.arguments.max_steps=5`.

    Raises:
        PlanError: for an unknown key, or a value of the wrong type.
    """
    try:
        given = read(path.read_text(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"the plan {path} cannot be read: {getattr(error, 'strerror', error)}") from None
    if not isinstance(given, dict):
        raise PlanError(
            f"{path} holds no plan: give keys and values such as training/configs/cpu-tiny.yaml has"
        )
    for override in overrides:
        key, is_given, text = override.partition("=")
        if not is_given:
            raise PlanError(f"{override!r} is not KEY=VALUE")
        _put(given, key.split("."), read(text, override))
    return parsed(given)


def parsed(given: Mapping[str, Any]) -> Plan:
    """Return the plan that a mapping describes.

    Raises:
        PlanError: as above.
    """
    whole = dict(given)
    if not isinstance(whole.get("name"), str):
        raise PlanError("name: give the plan a name")
    for name, part in _PARTS.items():
        if name in whole:
            if not isinstance(whole[name] or {}, dict):
                raise PlanError(f"{name}: {whole[name]!r} has no keys; known: {_names(part)}")
            whole[name] = _made(part, whole[name] or {}, f"{name}.")
    whole["tasks"] = _tasks(whole.get("tasks"))
    plan: Plan = _made(Plan, whole, "")
    if plan.lora is not None and not isinstance(plan.lora, dict):
        raise PlanError(f"lora: {plan.lora!r} has no keys; give arguments of peft.LoraConfig, or null")
    _refuse_values(plan)
    return plan


def _tasks(given: Any) -> tuple[tuple[str, str], ...]:
    pairs = given if isinstance(given, (list, tuple)) else ()
    if not pairs or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise PlanError("tasks: name at least one pair of suite and task, such as [[tron, easy]]")
    for suite, task in pairs:
        try:
            find_task(str(suite), str(task))
        except UnknownName as error:
            raise PlanError(f"tasks: {error}") from None
    return tuple((str(suite), str(task)) for suite, task in pairs)


def _refuse_values(plan: Plan) -> None:
    """Raise for a value of the right type that nothing could be done with."""

    def value(key: str) -> Any:
        part, _, name = key.partition(".")
        return getattr(getattr(plan, part), name)

    for key, choices in _CHOICES.items():
        if value(key) not in choices:
            raise PlanError(f"{key}: {value(key)!r} is none of {', '.join(choices)}")
    for key, least in _LEAST.items():
        if not value(key) >= least:
            raise PlanError(f"{key}: {value(key)!r} is too little, give at least {least:g}")
    if plan.data.habit > 1:
        raise PlanError(f"data.habit: {plan.data.habit!r} is no probability")
    if plan.model.kind == "hub" and not plan.model.name:
        raise PlanError("model.name: name a model on the hub or a folder")
    for url in plan.environment.urls:
        if not str(url).startswith(("http://", "https://")):
            raise PlanError(f"environment.urls: {url!r} is no URL such as http://127.0.0.1:8000")
    try:
        reset_options(plan.environment.options)
    except InvalidInput as error:
        raise PlanError(f"environment.{error}") from None


def _names(part: type[Any]) -> str:
    return ", ".join(entry.name for entry in dataclasses.fields(part))


_KINDS: Final = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    tuple: "list",
    dict: "set of keys and values",
}


def _made(part: type[Any], given: Mapping[str, Any], where: str) -> Any:
    known = {entry.name: entry for entry in dataclasses.fields(part)}
    fields = {}
    for name, value in given.items():
        if name not in known:
            raise PlanError(f"unknown key {where}{name}; known: {', '.join(known)}")
        default, factory = known[name].default, known[name].default_factory
        if factory is dict:
            default = {}
            value = default if value is None else value
        if isinstance(value, list):
            value = tuple(value)
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        is_kept = default is dataclasses.MISSING or default is None or isinstance(value, type(default))
        if not is_kept or (isinstance(value, bool) and not isinstance(default, bool)):
            raise PlanError(f"{where}{name}: {value!r} is no {_KINDS[type(default)]}")
        fields[name] = value
    return part(**fields)


def _put(given: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        inner = given.setdefault(name, {})
        if not isinstance(inner, dict):
            raise PlanError(f"{'.'.join(path)}: {name} has no keys")
        given = inner
    given[path[-1]] = value
