"""What has to hold for a model to learn from episodes: the text it gets, the tokens it learns, the reward, the seeds, the checkpoints."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the trainer's environment is not installed: make train-venv")
os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import torch
from peft.helpers import rescale_adapter_scale

from kubedrill.models import KubeObservation
from training import data, dpo, grpo, models, rollouts, sft
from training.credit import turn_advantages, turn_index
from training.curriculum import Progress, _cut, _paste
from training.dialect import CALLS, TOOLS, call_of, json_call, result_of
from training.errors import UsageError
from training.evaluate import collect, tally
from training.plan import PlanError, load
from training.replicas import Replicas
from training.rollouts import EpisodeRequest, Turn
from training.scaling import scaled
from training.surface import CASES, SUITE

CONFIGS = Path(models.__file__).parent / "configs"
SMALL = [
    "data.demonstrations=48",
    "data.incidents=8",
    "data.preferences=8",
    "model.layers=1",
    "model.hidden=64",
    "sft.arguments.max_steps=80",
    "sft.arguments.warmup_steps=5",
    "sft.arguments.learning_rate=4e-3",
    "sft.arguments.per_device_train_batch_size=8",
    "grpo.prompts=8",
    "grpo.arguments.max_steps=4",
    "grpo.arguments.per_device_train_batch_size=8",
    "grpo.arguments.num_generations=4",
    "grpo.arguments.num_iterations=1",
    "environment.turns_max=5",
]
"""Just enough imitation for episodes to differ in what they earn."""


@pytest.fixture(scope="module")
def plan():
    return load(CONFIGS / "cpu-tiny.yaml", SMALL)


@pytest.fixture(scope="module")
def rows(plan):
    return data.demonstrations(plan)


@pytest.fixture(scope="module")
def imitating(plan, rows, tmp_path_factory):
    return sft.train(plan, rows, tmp_path_factory.mktemp("sft"))


@pytest.fixture(scope="module")
def tokenizer(imitating):
    return models.saved_tokenizer(imitating)


@pytest.fixture(scope="module")
def dialect(plan, tokenizer):
    return models.dialect_for(plan, tokenizer)


@pytest.fixture(scope="module")
def replicas():
    with Replicas.started(2) as started:
        yield started


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def alike(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


PAGE = KubeObservation(
    incident_brief="PagerDuty P1: http://tron.localhost answers, but with errors.", steps_max=12
)
REQUEST = EpisodeRequest("tron", "easy", 11)

# What the model reads


def test_every_tool_that_is_offered_is_in_the_text(dialect, tokenizer):
    text = tokenizer.decode(dialect.prompt_ids(REQUEST, PAGE))
    for tool in TOOLS:
        assert tool["function"]["name"] in text
    assert "http://tron.localhost" in text


def test_what_is_joined_in_a_rollout_is_what_the_template_writes(dialect, tokenizer, rows):
    for row in rows[:8]:
        ids = dialect.prompt_ids(REQUEST, PAGE)
        messages = dialect.messages(PAGE)
        for index, (command, output) in enumerate(zip(row.commands, row.outputs, strict=True)):
            messages += [call_of(command), result_of(output)]
            turn = tokenizer.encode(f"<tool_call> {command} </tool_call>", add_special_tokens=False)
            assert dialect.parse([*turn, dialect.eos]).command == command
            ids += [*turn, dialect.eos, *dialect.reply_ids(KubeObservation(output=output, step_count=index))]
        whole = tokenizer.apply_chat_template(
            messages, tools=TOOLS, add_generation_prompt=True, tokenize=True, return_dict=False
        )
        assert ids == whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "done",
        '<tool_call>{"name": "rm", "arguments": {"command": "x"}}</tool_call>',
        "<tool_call>{</tool_call>",
        '<tool_call>{"name": "run_command"}</tool_call>',
        '<tool_call>{"name": "run_command", "arguments": {"command": 1}}</tool_call>',
        '<tool_call>{"name": "run_command", "arguments": {"command": "a"}}</tool_call>' * 2,
    ],
)
def test_what_is_no_call_is_none(text):
    assert json_call(text) is None


def test_a_call_in_the_style_of_qwen_is_read():
    text = 'I look first.\n<tool_call>\n{"name": "run_command", "arguments": {"command": "kubectl get pods"}}\n</tool_call>'
    assert json_call(text).command == "kubectl get pods"
    assert set(CALLS) == {"plain", "json"}


# What the model learns from


def test_imitation_learns_the_turns_of_the_model_alone(tokenizer, rows):
    row = rows[0]
    encoded = tokenizer.apply_chat_template(
        row.messages, tools=TOOLS, return_dict=True, return_assistant_tokens_mask=True
    )
    learned = [
        token
        for token, is_own in zip(encoded["input_ids"], encoded["assistant_masks"], strict=True)
        if is_own
    ]
    said = [f"<tool_call> {command} </tool_call><|im_end|>" for command in row.commands]
    if row.messages[-1]["content"] == data.LEAVING:
        said.append(f" {data.LEAVING}<|im_end|>")
    assert tokenizer.decode(learned) == "".join(said)


class Scripted:
    """Says the lines of a script, whatever it reads."""

    def __init__(self, tokenizer, script):
        self._turns = [
            [
                *tokenizer.encode(f"<tool_call> {line} </tool_call>", add_special_tokens=False),
                tokenizer.eos_token_id,
            ]
            for line in script
        ]
        self._said = -1

    def generate(self, contexts, max_new_tokens):
        self._said += 1
        turn = self._turns[self._said]
        return [Turn(turn, [-0.5] * len(turn)) for _ in contexts]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.task)
def test_reward_can_be_had_and_missed(case, tokenizer, dialect, replicas):
    plan = load(CONFIGS / "cpu-tiny.yaml")
    settings = dataclasses.replace(plan.environment, halves=1, turn_tokens_max=100)
    request = EpisodeRequest(SUITE, case.task, 2_003, dict(plan.environment.options))
    script = case.script(2_003)
    (good,) = rollouts.run([request], Scripted(tokenizer, script), dialect, replicas, settings)
    assert (good.ended, good.score) == ("done", 1.0)
    missed = ["kubectl -n tron get pods", "kubectl -n tron get svc"]
    (bad,) = rollouts.run(
        [request], Scripted(tokenizer, missed), dialect, replicas, dataclasses.replace(settings, turns_max=2)
    )
    assert (bad.ended, bad.score) == ("steps", None)
    rewards = grpo.reward_function(plan.grpo)(
        episode_reward=[good.reward, bad.reward, None],
        episode_score=[good.score, bad.score, None],
        episode_ended=[good.ended, bad.ended, "unscorable"],
        episode_metrics=[{}] * 3,
    )
    assert rewards[0] > 0.3 > rewards[1]
    assert rewards[2] is None
    own = [token for token, is_own in zip(good.completion_ids, good.env_mask, strict=True) if is_own]
    assert tokenizer.decode(own) == "".join(f"<tool_call> {line} </tool_call><|im_end|>" for line in script)


def test_credit_by_turns_adds_up_to_the_episode():
    mask = torch.tensor([[1, 1, 0, 1, 0, 1], [1, 0, 0, 1, 1, 0]])
    assert turn_index(mask).tolist() == [[0, 0, -1, 1, -1, 2], [0, -1, -1, 1, 1, -1]]
    advantages = turn_advantages([[0.0, 1.0], [0.0, 0.0]], mask, 2, 1.0)
    # The first two turns led to the reward, so they share its advantage; the third turn has nothing to be compared with.
    assert advantages[0, 0] == advantages[0, 3] > 0.9
    assert advantages[1, 0] == advantages[1, 4] < -0.9
    assert advantages[0, 5] == 0
    assert (advantages[mask == 0] == 0).all()
    assert not torch.isnan(turn_advantages([None, [1.0]], mask, 2, 1.0)).any()


def test_a_kept_group_takes_the_place_of_a_dead_one():
    out = {
        "prompt_ids": torch.ones(4, 2, dtype=torch.long),
        "prompt_mask": torch.ones(4, 2, dtype=torch.long),
        "completion_ids": torch.full((4, 3), 7),
        "completion_mask": torch.ones(4, 3, dtype=torch.long),
        "tool_mask": torch.ones(4, 3, dtype=torch.long),
        "advantages": torch.tensor([1.0, -1.0, 0.0, 0.0]),
    }
    wide = {
        name: torch.nn.functional.pad(rows, (0, 2)) if rows.dim() > 1 else rows for name, rows in out.items()
    }
    kept = _cut(wide, 0, 2)
    _paste(out, 2, kept, pad=0)
    assert out["completion_ids"].tolist() == [[7, 7, 7, 0, 0]] * 4
    assert out["prompt_ids"].tolist() == [[0, 0, 1, 1]] * 2 + [[1, 1, 0, 0]] * 2
    assert out["advantages"].tolist() == [1.0, -1.0, 1.0, -1.0]


def test_the_curriculum_prefers_what_succeeds_sometimes():
    progress = Progress(0)
    for task, share in (("never", 0.0), ("sometimes", 0.5), ("always", 1.0)):
        progress.add(task, share)
    rows = {"never": [0], "sometimes": [1], "always": [2]}
    drawn = [progress.draw(rows, 1, index) for index in range(400)]
    assert drawn.count(1) > 2 * drawn.count(0) > 0
    assert drawn == [progress.draw(rows, 1, index) for index in range(400)]


# Seeds and checkpoints


def learned(plan, start, replicas, out, **given):
    return weights(grpo.train(plan, start, replicas, out, **given))


def test_seeds_are_honoured_and_a_resumed_run_equals_an_uninterrupted_one(
    plan, imitating, replicas, tmp_path
):
    saving = load(
        CONFIGS / "cpu-tiny.yaml",
        [*SMALL, "grpo.arguments.save_strategy=steps", "grpo.arguments.save_steps=2", "grpo.curriculum=true"],
    )
    whole = learned(saving, imitating, replicas, tmp_path / "whole")
    assert not alike(whole, weights(imitating))
    # As if the machine had gone down after the second step: the same run, of which the last checkpoint is lost.
    again = tmp_path / "again"
    second = learned(saving, imitating, replicas, again)
    assert alike(whole, second)
    for path in (again / "grpo-state").glob("checkpoint-4"):
        path.rename(again / "lost")
    assert alike(whole, learned(saving, imitating, replicas, again, resume=True))
    other = dataclasses.replace(saving, seed=1)
    assert not alike(whole, learned(other, imitating, replicas, tmp_path / "other"))


def test_the_options_run_together_with_lora(imitating, replicas, tmp_path):
    options = [
        "grpo.arguments.beta=0.04",
        "grpo.resample=1",
        "grpo.replay=2",
        "grpo.credit=turn",
        "grpo.curriculum=true",
        "grpo.arguments.max_steps=2",
    ]
    chosen = load(
        CONFIGS / "cpu-tiny.yaml",
        [*SMALL, *options, "lora={r: 2, lora_alpha: 4, target_modules: all-linear}"],
    )
    folder = grpo.train(chosen, imitating, replicas, tmp_path)
    assert (folder / "adapter_model.safetensors").is_file()
    history = json.loads((folder / "log.json").read_text())["history"]
    assert {"kl", "frac_rows_alive", "frac_groups_replayed", "episode/success"} <= history[0].keys()
    full, half = (models.trained(chosen, place) for place in (folder, scaled(folder, tmp_path / "half", 0.5)))
    bare = models.saved_model(chosen, imitating)
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        unscaled, of_half, of_full = (model(ids).logits for model in (bare, half, full))
    assert not torch.equal(unscaled, of_full)
    with torch.no_grad(), rescale_adapter_scale(full, 0.5):
        assert torch.equal(full(ids).logits, of_half)
    with pytest.raises(UsageError, match="there already"):
        scaled(folder, tmp_path / "half", 0.5)


def test_the_drift_from_the_start_is_measured_without_a_penalty_for_it(imitating, replicas, tmp_path):
    chosen = load(CONFIGS / "cpu-tiny.yaml", [*SMALL, "grpo.arguments.learning_rate=1e-2"])
    assert chosen.grpo.measure_kl
    assert not chosen.grpo.arguments.get("beta")
    folder = grpo.train(chosen, imitating, replicas, tmp_path)
    first, *_, last = json.loads((folder / "log.json").read_text())["history"][:4]
    assert abs(first["kl"]) < 1e-5 < 1e-2 < last["kl"]


def test_preferences_make_the_repair_likelier(plan, imitating, tmp_path):
    chosen = load(
        CONFIGS / "cpu-tiny.yaml",
        [
            *SMALL,
            "dpo.arguments.max_steps=6",
            "dpo.arguments.per_device_train_batch_size=8",
            "dpo.arguments.learning_rate=1e-3",
        ],
    )
    folder = dpo.train(chosen, data.preferences(chosen), imitating, tmp_path)
    history = [
        entry
        for entry in json.loads((folder / "log.json").read_text())["history"]
        if "rewards/margins" in entry
    ]
    assert history[-1]["rewards/margins"] > 0


# Paths that need a GPU: the arguments are checked, nothing runs


@pytest.mark.parametrize("name", ["qwen3-8b-1xa100", "qwen3-8b-multinode"])
@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo"])
def test_the_plans_for_gpus_name_arguments_that_exist(name, stage, tmp_path):
    chosen = load(CONFIGS / f"{name}.yaml")
    whole = json.loads(models.resolved(chosen, tmp_path, stage))
    made = next(value for key, value in whole.items() if key.endswith("Config") and key != "LoraConfig")
    for key, value in getattr(chosen, stage).arguments.items():
        assert made[key] == value, key


def test_an_argument_that_does_not_exist_is_refused(tmp_path):
    chosen = load(CONFIGS / "cpu-tiny.yaml", ["grpo.arguments.beam_size=2"])
    with pytest.raises(PlanError, match="beam_size"):
        models.resolved(chosen, tmp_path, "grpo")


# Counting


def test_what_a_policy_solves_becomes_a_data_set(plan, imitating, replicas, tmp_path):
    chosen = dataclasses.replace(plan, evaluation=dataclasses.replace(plan.evaluation, episodes=32))
    rows = collect(chosen, imitating, replicas)
    assert rows
    assert all(row.is_solved and row.kind == "sampled" for row in rows)
    data.write(tmp_path / "set", rows, {})
    assert data.check(data.read(tmp_path / "set"), chosen) == len(rows)


def test_unscorable_episodes_do_not_count():
    incidents = [data.Incident("tron", "easy", seed) for seed in range(3)]
    results = [
        rollouts.EpisodeResult(reward=1.0, score=1.0, ended="done", actions=["a", "b", "c"]),
        rollouts.EpisodeResult(reward=0.0, score=None, ended="steps", actions=["a"]),
        rollouts.EpisodeResult(ended="unscorable"),
    ]
    found = tally(incidents, results)
    assert (found.successes, found.n, found.unscorable, found.calls_solved_min) == (1, 2, 1, 3)
    assert found.by_task == {"easy": (1, 2)}
