"""The command lines of a run on several machines, made from the plan: server replicas, the vLLM server, the trainers.

    python -m training.launcher training/configs/qwen3-8b-multinode.yaml train --head node1 --vllm node3 --rank 0 -- --out /data/run

prints one; `--exec` becomes it. launch/slurm.sh and launch/kubernetes.yaml start what is printed here and know no arguments.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from training.errors import UsageError
from training.plan import Plan, load
from training.scripting import say, script

SERVER_PORT: Final = 8100
"""The first replica's; one process a port, never several on one."""
RENDEZVOUS_PORT: Final = 29_500


def server(plan: Plan, index: int) -> list[str]:
    """Return the command of a server replica."""
    if not 0 <= index < plan.environment.replicas:
        raise UsageError(f"--index: there are replicas 0 to {plan.environment.replicas - 1}, not {index}")
    return [_python(), "-m", "server.app", "--host", "0.0.0.0", "--port", str(SERVER_PORT + index)]


def urls(plan: Plan, head: str) -> list[str]:
    """Return where the replicas answer if they run on one machine."""
    return [f"http://{head}:{SERVER_PORT + index}" for index in range(plan.environment.replicas)]


def vllm(plan: Plan) -> list[str]:
    """Return the command of the vLLM server that the trainers push their weights to. It needs VLLM_SERVER_DEV_MODE=1."""
    port = plan.grpo.arguments.get("vllm_server_port", 8_000)
    return ["vllm", "serve", plan.model.name, "--host", "0.0.0.0", "--port", str(port), *plan.launch.vllm]


def train(
    plan: Plan,
    config: Path,
    *,
    stage: str,
    head: str,
    servers: Sequence[str],
    vllm_host: str,
    rank: int,
    overrides: Sequence[str],
    rest: Sequence[str],
) -> list[str]:
    """Return the command of a machine's trainers: every override and every further argument reaches the script."""
    launch = plan.launch
    if not 0 <= rank < launch.machines:
        raise UsageError(f"--rank: there are machines 0 to {launch.machines - 1}, not {rank}")
    begin = [_python()]
    if launch.accelerate:
        begin = ["accelerate", "launch", "--config_file", launch.accelerate]
        begin += ["--num_machines", str(launch.machines), "--num_processes", str(launch.processes)]
        begin += ["--machine_rank", str(rank), "--main_process_ip", head]
        begin += ["--main_process_port", str(RENDEZVOUS_PORT), "--rdzv_backend", "static"]
    changes = list(overrides)
    if servers:
        changes.append(f"environment.urls=[{', '.join(servers)}]")
    if vllm_host:
        changes.append(f"grpo.arguments.vllm_server_host={vllm_host}")
    given = [word for change in changes for word in ("--set", change)]
    return [*begin, "-m", f"training.{stage}", str(config), *given, *rest]


def _python() -> str:
    return os.environ.get("KUBEDRILL_PYTHON", "python")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a command, or become it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    rest: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, rest = words[:cut], words[cut + 1 :]
    options = argparse.ArgumentParser(
        prog="python -m training.launcher", description=__doc__.partition("\n")[0]
    )
    options.add_argument("config", type=Path)
    options.add_argument("role", choices=("server", "vllm", "train"))
    options.add_argument("--stage", choices=("sft", "dpo", "grpo"), default="grpo")
    options.add_argument("--index", type=int, default=0, help="which server replica")
    options.add_argument("--head", default="127.0.0.1", help="the trainers' first machine")
    options.add_argument(
        "--servers", nargs="*", help="URLs of the replicas; all on the first machine if left out"
    )
    options.add_argument("--vllm", default="", help="the host of the vLLM server")
    options.add_argument("--rank", type=int, default=0, help="which of the trainers' machines")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed on")
    options.add_argument("--exec", action="store_true", help="run it instead of printing it")
    given = options.parse_args(words)
    plan = load(given.config, given.set)
    if given.role == "server":
        command = server(plan, given.index)
    elif given.role == "vllm":
        command = vllm(plan)
    else:
        command = train(
            plan,
            given.config,
            stage=given.stage,
            head=given.head,
            servers=urls(plan, given.head) if given.servers is None else given.servers,
            vllm_host=given.vllm,
            rank=given.rank,
            overrides=given.set,
            rest=rest,
        )
    if given.exec:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from None
    say(shlex.join(command))


if __name__ == "__main__":
    script(main)
