"""The TRL glue with the real trainer: a tiny random model, a real server, two steps. Needs the trainer's environment."""

import pytest

from training.replicas import Replicas
from training.rollouts import Action, Settings
from training.sampling import TransformersPolicy
from training.trl_rollouts import episode_reward, rollout_func

trl = pytest.importorskip("trl", reason="the trainer's environment is not installed: make train-venv")
import torch  # noqa: E402 - only where TRL is
import transformers  # noqa: E402 - only where TRL is
from datasets import Dataset  # noqa: E402 - only where TRL is
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402 - only where TRL is

# The libraries warn of their own future.
pytestmark = pytest.mark.filterwarnings("default")

COMMANDS = [
    "kubectl -n tron get pods",
    "kubectl -n tron rollout restart deployment nginx",
    "kubectl -n tron scale deployment nginx --replicas=2",
    "kubectl frobnicate",
]
WORDS = ["<pad>", "<end>", "<unk>", "reply", "page", *(f"c{index}" for index in range(len(COMMANDS)))]


class Words:
    """A token is a command; the environment answers with one word."""

    eos = 1

    def prompt_ids(self, request, observation):
        return [4, 3]

    def parse(self, token_ids):
        number = token_ids[0] - 5
        return Action(COMMANDS[number]) if len(token_ids) == 2 and 0 <= number < len(COMMANDS) else None

    def reply_ids(self, observation):
        return [3]


def trainer_for(replicas, tmp_path, **given):
    torch.manual_seed(0)
    words = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<end>", pad_token="<pad>", unk_token="<unk>", padding_side="left"
    )
    model = transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            vocab_size=len(WORDS),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=0,
        )
    )
    rows = [
        {"prompt": [{"role": "user", "content": "", "task": {"suite": "tron", "task": "easy", "seed": seed}}]}
        for seed in range(8)
    ]
    return trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows),
        reward_funcs=[episode_reward],
        rollout_func=rollout_func(Words(), replicas, Settings(turns_max=4, turn_tokens_max=2)),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            use_cpu=True,
            bf16=False,
            max_steps=2,
            per_device_train_batch_size=32,
            num_generations=8,
            max_completion_length=64,
            learning_rate=1e-2,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            activation_checkpointing=False,
            disable_tqdm=True,
            **given,
        ),
    )


@pytest.fixture(scope="module")
def replicas():
    with Replicas.started(1) as started:
        yield started


def test_two_steps_of_grpo_move_the_model(replicas, tmp_path):
    trainer = trainer_for(replicas, tmp_path)
    before = [value.detach().clone() for value in trainer.model.parameters()]
    trainer.train()
    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert len(logged) == 2
    assert logged[0]["env/unscorable_frac"] == 0
    assert logged[0]["reward"] < 0
    assert logged[0]["env/failures"] == 0
    assert logged[0]["reward"] == pytest.approx(logged[0]["episode/return"], abs=1e-5)
    after = list(trainer.model.parameters())
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))
    assert all(torch.isfinite(value).all() for value in after)


def test_log_probabilities_are_those_of_the_model(replicas, tmp_path):
    trainer = trainer_for(replicas, tmp_path, temperature=0.7)
    contexts = [[4, 3], [4, 3, 5, 1, 3], [4, 3]]
    for context, turn in zip(contexts, TransformersPolicy(trainer).generate(contexts, 3), strict=True):
        assert len(turn.token_ids) == len(turn.logprobs) <= 3
        assert turn.is_cut is (turn.token_ids[-1] != 1)
        with torch.no_grad():
            logits = trainer.model(torch.tensor([context + turn.token_ids])).logits[0] / 0.7
        expected = logits.log_softmax(-1)[len(context) - 1 : -1]
        sampled = [row[token].item() for row, token in zip(expected, turn.token_ids, strict=True)]
        assert turn.logprobs == pytest.approx(sampled, abs=1e-4)
