"""Plans and the launcher: what is written in a plan or on a command line arrives, and what nobody knows is refused."""

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from env_core.episode import find_task
from training import launcher
from training.plan import PlanError, load, parsed, read

TRAINING = Path(launcher.__file__).parent
PLANS = sorted(path for path in (TRAINING / "configs").glob("*.yaml") if path.name != "fsdp2.yaml")
MULTINODE = TRAINING / "configs" / "qwen3-8b-multinode.yaml"
LEAST = {"name": "x", "tasks": [["tron", "easy"]]}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_plan_loads_and_its_tasks_exist(path):
    plan = load(path)
    assert plan.name == path.stem
    for suite, task in plan.tasks:
        find_task(suite, task)
    limit = plan.grpo.arguments["max_completion_length"]
    assert plan.environment.completion_tokens_max <= limit
    assert plan.evaluation.split != "train"


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_key_of_a_plan_is_in_what_is_resolved(path):
    written, resolved = read(path.read_text()), load(path).shown()
    for part, content in written.items():
        if isinstance(content, dict):
            for key, value in content.items():
                kept = resolved[part][key]
                assert (list(kept) if isinstance(kept, tuple) else kept) == value, f"{part}.{key}"


def test_overrides_reach_the_deepest_key_and_change_the_digest():
    path = TRAINING / "configs" / "cpu-tiny.yaml"
    changed = load(
        path, ["grpo.arguments.max_steps=5", "seed=3", "environment.urls=[http://a:1]", "lora={r: 4}"]
    )
    assert changed.grpo.arguments["max_steps"] == 5
    assert (changed.seed, changed.environment.urls, changed.lora) == (3, ("http://a:1",), {"r": 4})
    assert changed.digest != load(path).digest


@pytest.mark.parametrize(
    "given",
    [
        {"colour": 1},
        {"grpo": {"argument": {}}},
        {"environment": {"replicas": "two"}},
        {"model": {"layers": True}},
        {"tasks": []},
    ],
)
def test_what_nobody_knows_is_refused(given):
    with pytest.raises(PlanError):
        parsed({**LEAST, **given})


def test_the_launcher_passes_every_argument(capsys):
    changes = ["grpo.arguments.learning_rate=2e-6", "name=a b"]
    words = [str(MULTINODE), "train", "--head", "n1", "--vllm", "n3", "--rank", "1"]
    words += [word for change in changes for word in ("--set", change)]
    launcher.main([*words, "--", "--out", "/data/my run", "--resume"])
    command = shlex.split(capsys.readouterr().out)
    plan = load(MULTINODE)
    begin, script = command[: command.index("-m")], command[command.index("-m") :]
    for name, value in (
        ("--num_processes", plan.launch.processes),
        ("--num_machines", plan.launch.machines),
        ("--machine_rank", 1),
        ("--main_process_ip", "n1"),
        ("--config_file", plan.launch.accelerate),
    ):
        assert begin[begin.index(name) + 1] == str(value)
    assert (Path(launcher.__file__).parents[1] / plan.launch.accelerate).is_file()
    assert script[:3] == ["-m", "training.grpo", str(MULTINODE)]
    assert script[-3:] == ["--out", "/data/my run", "--resume"]
    given = [script[place + 1] for place, word in enumerate(script) if word == "--set"]
    arrived = load(MULTINODE, given)
    assert arrived.name == "a b"
    assert arrived.grpo.arguments["learning_rate"] == 2e-6
    assert arrived.grpo.arguments["vllm_server_host"] == "n3"
    assert list(arrived.environment.urls) == launcher.urls(plan, "n1")
    assert len(arrived.environment.urls) == plan.environment.replicas


def test_the_launcher_starts_what_the_trainers_connect_to(capsys):
    plan = load(MULTINODE)
    ports = set()
    for index in range(plan.environment.replicas):
        launcher.main([str(MULTINODE), "server", "--index", str(index)])
        words = shlex.split(capsys.readouterr().out)
        ports.add(words[words.index("--port") + 1])
    assert {url.rpartition(":")[2] for url in launcher.urls(plan, "n1")} == ports
    launcher.main([str(MULTINODE), "vllm"])
    words = shlex.split(capsys.readouterr().out)
    assert words[words.index("--port") + 1] == str(plan.grpo.arguments["vllm_server_port"])
    assert list(plan.launch.vllm) == words[-len(plan.launch.vllm) :]


def test_the_launch_files_use_the_launcher():
    subprocess.run(["bash", "-n", TRAINING / "launch" / "slurm.sh"], check=True)
    objects = [
        entry for entry in yaml.safe_load_all((TRAINING / "launch" / "kubernetes.yaml").read_text()) if entry
    ]
    plan = load(MULTINODE)
    by_kind = {(entry["kind"], entry["metadata"]["name"]): entry for entry in objects}
    assert by_kind["StatefulSet", "kubedrill"]["spec"]["replicas"] == plan.environment.replicas
    job = by_kind["Job", "trainer"]["spec"]
    assert job["completions"] == job["parallelism"] == plan.launch.machines
    served = by_kind["Deployment", "vllm"]["spec"]["template"]["spec"]["containers"][0]["ports"][0]
    assert served["containerPort"] == plan.grpo.arguments["vllm_server_port"]
