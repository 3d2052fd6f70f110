"""What the seed documents call things, and what they are called here. Source: SEEDS GN-19, §0.3."""

from __future__ import annotations

from typing import Final

LATER: Final = "later"
"""The mark of a name that a later phase brings."""

FILES: Final = (
    ("tron `tron/`", "`env_core/suites/tron/`"),
    ("tron `tron_openenv/`", "`server/`"),
    ("tron `baseline/`", "`client/kubedrill/policies/`"),
    ("tron `graders/`", "`server/graders.py`"),
    ("tron `eval/demo.py`", "`kubedrill demo` (`client/kubedrill/cli/`)"),
    (
        "tron `eval/run_eval.py`, `eval/summarize_results.py`",
        "`kubedrill eval`, `kubedrill report`, same flags and output files: later",
    ),
    ("tron `scripts/space_smoke.sh`", "`tests/e2e/space_smoke.py`"),
    ("tron `tests/test_e2e.py`", "`tests/e2e/`"),
    ("tron `app/test_client.sh`", "`tests/e2e/`"),
    (
        "tron `setup.sh`, `cleanup.sh`, `scripts/container-entrypoint.sh`, remote machine scripts",
        "`live/scripts/`: later",
    ),
    ("AgentGym `env.sh`, `scripts/*`", "`live/scripts/`: later"),
    ("AgentGym `python -m agentgym.cli <cmd>`, `agentgym.eval.report`", "`kubedrill <cmd>`: later"),
    (
        "AgentGym `operator/`, `deploy/helm/`, `slurm/`",
        "`live/operator/`, `live/deploy/helm/`, `live/deploy/slurm/`: later",
    ),
    ("DIME `inference.py`; OpsSim `inference.py`", "`inference.py` with `--suite`"),
    ("DIME `train_grpo_unsloth.py`; OpsSim `train_grpo.py`", "`training/grpo.py`"),
    ("OpsSim `train_sft.py`", "`training/sft.py`"),
    ("OpsSim `generate_sft_dataset.py`", "`training/demonstrations.py`: later"),
    ("OpsSim `run_trained_inference.py`", "`training/evaluate.py`"),
    ("OpsSim `submit_hf_job.py`", "`live/scripts/`: later"),
)
"""(the seed's path, ours). A path of ours without the mark exists; a test looks."""

ALIASES: Final = (
    ("reset field `task_id`", "`task`", "`server/environment.py`"),
    ("reset field `suite`, with or without its version", "`suite`", "`server/environment.py`"),
    ("reset and step field `episode_id`, also a header or a query parameter", "`X-Episode-Id`", "`server/http.py`"),
    ("step body `{\"command\": …}`", "`run_command`", "`client/kubedrill/models.py`"),
    ("step body `{\"tool\": …, \"arguments\": {…}}`", "`arguments`", "`client/kubedrill/models.py`"),
    ("step body `{\"action\": {…}}` (OpenEnv)", "`action`", "`client/kubedrill/models.py`"),
    ("health word `ok`", "`healthy`", "`tests/e2e/space_smoke.py`"),
    ("port 7860 of the tron image", "`PORTS_OF_THE_IMAGE`", "`server/settings.py`"),
    ("`PORT`", "`PORT`", "`server/settings.py`"),
    ("flag `--task`", "`--task`", "`inference.py`"),
    ("flag `--seed`", "`--seed`", "`inference.py`"),
    ("flag `--env-base-url`", "`--env-base-url`", "`inference.py`"),
    ("flag `--local-env`", "`--local-env`", "`inference.py`"),
    ("flag `--hard-reset`", "`--hard-reset`", "`inference.py`"),
    ("flag `--json-out`", "`--json-out`", "`inference.py`"),
    ("flag `--scenario` of the demo", "`--scenario`", "`client/kubedrill/cli/__init__.py`"),
    ("`API_BASE_URL`, default of OpenEnv's baseline", "`API_BASE_URL`", "`inference.py`"),
    ("`MODEL_NAME`", "`MODEL_NAME`", "`inference.py`"),
    ("key `API_KEY`", "`API_KEY`", "`inference.py`"),
    ("key `HF_TOKEN`", "`HF_TOKEN`", "`inference.py`"),
    ("key `OPENAI_API_KEY`", "`OPENAI_API_KEY`", "`inference.py`"),
    ("`ENV_URL`", "`ENV_URL`", "`inference.py`"),
    ("`LOCAL_IMAGE_NAME`", "`LOCAL_IMAGE_NAME`", "`inference.py`"),
    ("`IMAGE_NAME`", "`IMAGE_NAME`", "`inference.py`"),
    ("`TRON_LLM_PLAN`", "`TRON_LLM_PLAN`", "`inference.py`"),
    ("`TASK_ID`, `STEP_COMMAND` of the smoke test", "`STEP_COMMAND`", "`tests/e2e/space_smoke.py`"),
)  # fmt: skip
"""(the seed's name, ours, the file that reads it). A test looks for ours in the file."""
