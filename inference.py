"""The baseline: plays the tasks of a kubedrill server with a model, or without a key by rules, and prints one line per event.

It reaches the environment through the client alone. Standard output carries the [START], [STEP] and [END] records and nothing else.

    python inference.py                                            the three official tasks, against a server that it starts
    python inference.py --task hard --env-base-url http://host:8000
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

try:
    from kubedrill.client import KubeEnv
except ModuleNotFoundError:
    # From a bare checkout: the client lies beside this file.
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "client"))
    from kubedrill.client import KubeEnv

from kubedrill.http import HttpError, KubeHttpClient, graded
from kubedrill.policies import Policy, PolicyError
from kubedrill.policies.heuristic import HeuristicPolicy
from kubedrill.policies.scripted import ScriptedPolicy

ROOT = Path(__file__).resolve().parent
BENCHMARK = "kubedrill"
TASKS = ("easy", "medium", "hard")
API_BASE_URL = "https://router.huggingface.co/v1"
MODEL_NAME = "Qwen/Qwen2.5-72B-Instruct"
SEED = 11
RUN_S_MAX = 18 * 60.0
SERVER_S_MAX = 60.0
SCORE_MIN, SCORE_MAX = 0.01, 0.99
"""Reported scores lie strictly between 0 and 1."""


@dataclass
class Played:
    """One episode, as it went."""

    task: str
    seed: int
    model: str
    success: bool = False
    score: float = SCORE_MIN
    rewards: list[float] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    error: str | None = None


def one_line(text: str) -> str:
    """Return the text without line breaks and runs of blanks."""
    return " ".join(text.split())


def record(line: str) -> None:
    """Print one record, at once."""
    print(line, flush=True)


def note(line: str) -> None:
    """Tell a person how it goes."""
    print(line, file=sys.stderr, flush=True)


def clamped(score: float) -> float:
    """Return the score as it is reported."""
    return min(max(score, SCORE_MIN), SCORE_MAX)


def step_line(number: int, action: str, reward: float, *, is_done: bool, error: str | None) -> str:
    """Return the record of one step."""
    said = one_line(error) if error else "null"
    return f"[STEP] step={number} action={one_line(action)} reward={reward:.2f} done={str(is_done).lower()} error={said or 'null'}"


def end_line(played: Played) -> str:
    """Return the record of an episode's end."""
    rewards = ",".join(f"{reward:.2f}" for reward in played.rewards)
    return f"[END] success={str(played.success).lower()} steps={len(played.rewards)} score={played.score:.3f} rewards={rewards}"


def play(env: Any, policy: Policy, played: Played, arguments: argparse.Namespace, ends_at_s: float) -> None:
    """Play one episode on a connected client, printing a record for each step; fills in `played`."""
    fields = {
        "task": played.task,
        "seed": played.seed,
        "suite": arguments.suite,
        "hard_reset": arguments.hard_reset or None,
    }
    result = env.reset(**{key: value for key, value in fields.items() if value is not None})
    while not result.done and time.monotonic() < ends_at_s:
        if arguments.max_steps and len(played.rewards) >= arguments.max_steps:
            break
        action = policy.act(result.observation)
        if action is None:
            break
        result = env.step(action)
        seen, reward = result.observation, float(result.reward)
        played.rewards.append(reward)
        played.actions.append(action)
        failure = (
            (seen.output.strip().splitlines() or [f"exit code {seen.exit_code}"])[-1]
            if seen.exit_code
            else None
        )
        record(step_line(len(played.rewards), action, reward, is_done=result.done, error=failure))
        score = seen.service_probe.score if seen.service_probe else float("nan")
        note(f"  {played.task} {seen.step_count}/{seen.steps_max}: exit {seen.exit_code}, service {score:g}")
    state = env.state()
    played.success = state.oracle_verdict == "success"
    if state.oracle_score is not None:
        played.score = clamped(state.oracle_score)
    elif env.base_url and env.episode_id:
        played.score = clamped(
            graded(
                env.base_url, env.episode_id, env.episode_token or "", token=os.environ.get("KUBEDRILL_TOKEN")
            )
        )


def episode(
    connect: Any, policy: Policy, task: str, seed: int, arguments: argparse.Namespace, ends_at_s: float
) -> Played:
    """Play one episode from its [START] to its [END], whatever happens in between."""
    played = Played(task=task, seed=seed, model=policy.name)
    record(f"[START] task={task} env={BENCHMARK} model={one_line(policy.name)}")
    try:
        with contextlib.closing(connect()) as env:
            play(env, policy, played, arguments, ends_at_s)
    except Exception as error:
        played.error = f"{type(error).__name__}: {one_line(str(error))}"
        note(f"{task}: {played.error}")
    finally:
        record(end_line(played))
    return played


def policy_for(arguments: argparse.Namespace, variables: Mapping[str, str], ends_at_s: float) -> Policy:
    """Return a fresh policy for one episode: the model if there is a key, else the rules."""
    model = variables.get("MODEL_NAME") or MODEL_NAME
    plan = variables.get("TRON_LLM_PLAN", "")
    if arguments.policy != "heuristic" and plan.strip():
        return ScriptedPolicy.from_plan(plan, name="plan")
    key = variables.get("API_KEY") or variables.get("HF_TOKEN") or variables.get("OPENAI_API_KEY")
    if arguments.policy == "heuristic" or not key:
        return HeuristicPolicy()
    from openai import OpenAI

    from kubedrill.policies.llm import LlmPolicy

    client = OpenAI(api_key=key, base_url=variables.get("API_BASE_URL") or API_BASE_URL)
    return LlmPolicy(client, model, ends_at_s=ends_at_s, note=note)


@contextlib.contextmanager
def server(arguments: argparse.Namespace, variables: Mapping[str, str]) -> Iterator[Any]:
    """Yield a function that connects a synchronous client: to the URL given, to an image, or to a server started for the run.

    Raises:
        RuntimeError: if the server does not come up.
    """
    token = variables.get("KUBEDRILL_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else None
    url = None if arguments.local_env else arguments.env_base_url or variables.get("ENV_URL")
    image = variables.get("LOCAL_IMAGE_NAME") or variables.get("IMAGE_NAME")
    if url:
        yield lambda: KubeEnv(base_url=url, headers=headers).sync()
    elif image and not arguments.local_env:
        holder = KubeEnv.from_docker_image(image).sync()
        try:
            yield lambda: KubeEnv(base_url=holder.base_url, headers=headers).sync()
        finally:
            holder.close()
    else:
        with child_server(variables) as local:
            yield lambda: KubeEnv(base_url=local, headers=headers).sync()


@contextlib.contextmanager
def child_server(variables: Mapping[str, str]) -> Iterator[str]:
    """Start the server of this checkout on a free port, yield its URL, and stop it.

    Raises:
        RuntimeError: if it does not answer in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    paths = [str(ROOT), str(ROOT / "client"), variables.get("PYTHONPATH", "")]
    environment = {**variables, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-m", "server.app", "--host", "127.0.0.1", "--port", str(port)]
    # Its words go to standard error: standard output is for the records.
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sys.stderr.fileno())
    url = f"http://127.0.0.1:{port}"
    try:
        ends_at_s = time.monotonic() + SERVER_S_MAX
        while not _is_healthy(url):
            if process.poll() is not None or time.monotonic() > ends_at_s:
                raise RuntimeError(f"the server did not start (exit code {process.poll()})")
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_healthy(url: str) -> bool:
    try:
        with KubeHttpClient(url, timeout_s=2.0) as client:
            return client.is_healthy()
    except (HttpError, OSError):
        return False


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's choices."""
    parser = argparse.ArgumentParser(description="Play kubedrill's tasks with the baseline.")
    parser.add_argument(
        "--task",
        "--task-id",
        default="all",
        help="easy, medium, hard, all of them (default), or another task of the suite",
    )
    parser.add_argument("--suite", default=None, help="the suite (default: the server's)")
    parser.add_argument(
        "--seed", type=int, default=SEED, help=f"the seed of the first episode (default: {SEED})"
    )
    parser.add_argument(
        "--episodes", type=int, default=1, help="episodes per task, with successive seeds (default: 1)"
    )
    parser.add_argument(
        "--env-base-url",
        "--url",
        default=None,
        help="a running server (default: ENV_URL, else an own one is started)",
    )
    parser.add_argument(
        "--local-env", action="store_true", help="start an own server whatever the environment says"
    )
    parser.add_argument(
        "--policy",
        choices=("llm", "heuristic"),
        default=None,
        help="default: llm if there is a key, else heuristic",
    )
    parser.add_argument(
        "--max-steps", type=int, default=0, help="stop after so many steps (default: the task's own limit)"
    )
    parser.add_argument("--hard-reset", action="store_true", help="ask the backend to rebuild its cluster")
    parser.add_argument("--json-out", type=Path, default=None, help="also write the results to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what the command line asks for; returns 0 unless no episode could be begun."""
    chosen = parsed(arguments)
    variables = dict(os.environ)
    ends_at_s = time.monotonic() + RUN_S_MAX
    if chosen.policy != "heuristic" and not any(
        variables.get(name) for name in ("API_KEY", "HF_TOKEN", "OPENAI_API_KEY", "TRON_LLM_PLAN")
    ):
        note("no API_KEY, HF_TOKEN or OPENAI_API_KEY is set: the rule-based policy plays")
    tasks = TASKS if chosen.task == "all" else (chosen.task,)
    rounds = [(task, chosen.seed + offset) for task in tasks for offset in range(max(1, chosen.episodes))]
    results: list[Played] = []
    try:
        with server(chosen, variables) as connect:
            for index, (task, seed) in enumerate(rounds):
                # What is left is shared out evenly, so that one slow task does not eat the time of the next.
                now_s = time.monotonic()
                until_s = now_s + (ends_at_s - now_s) / (len(rounds) - index)
                results.append(
                    episode(connect, policy_for(chosen, variables, until_s), task, seed, chosen, until_s)
                )
    except (RuntimeError, OSError, PolicyError) as error:
        note(f"{type(error).__name__}: {error}")
        for task, seed in rounds[len(results) :]:
            played = Played(
                task=task, seed=seed, model=variables.get("MODEL_NAME") or MODEL_NAME, error=str(error)
            )
            record(f"[START] task={task} env={BENCHMARK} model={one_line(played.model)}")
            record(end_line(played))
            results.append(played)
        return 1
    finally:
        if chosen.json_out is not None:
            chosen.json_out.write_text(
                json.dumps([asdict(played) for played in results], indent=2) + "\n", encoding="utf-8"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
