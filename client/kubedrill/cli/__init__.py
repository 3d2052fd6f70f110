"""The `kubedrill` command: look at a server's tasks, and play a demonstration by rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import httpx

from kubedrill.cli.play import play
from kubedrill.client import KubeEnv
from kubedrill.http import HttpError, KubeHttpClient

_URL = "http://127.0.0.1:8000"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    parser = argparse.ArgumentParser(prog="kubedrill", description="Work with a kubedrill server.")
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("tasks", help="list the tasks of a server")
    demo = commands.add_parser("demo", help="play one episode by rules and show every step")
    for command in (listed, demo):
        command.add_argument("--url", "--env-base-url", default=_URL, help=f"the server (default: {_URL})")
    demo.add_argument("--task", "--task-id", "--scenario", default="easy", help="the task (default: easy)")
    demo.add_argument("--seed", type=int, default=11, help="the seed (default: 11)")
    playing = commands.add_parser("play", help="repair an incident with your own kubectl, k9s or Helm")
    playing.add_argument("task", help="the task, say easy, medium or hard")
    playing.add_argument("--seed", type=int, default=None, help="the seed (default: the task's own)")
    playing.add_argument(
        "--url", "--env-base-url", default="", help="a running server (default: one is started)"
    )
    playing.add_argument("--token", default="", help="the server's token, if it asks for one")
    playing.add_argument("--speed", type=float, default=1.0, help="virtual seconds per second (default: 1)")
    playing.add_argument("--kubeconfig", default="", help="where to write it (default: a new directory)")
    given = parser.parse_args(arguments)
    try:
        if given.command == "play":
            return play(
                given.task,
                seed=given.seed,
                url=given.url.rstrip("/"),
                speed=given.speed,
                kubeconfig=given.kubeconfig,
                token=given.token,
            )
        return _tasks(given.url) if given.command == "tasks" else _demo(given.url, given.task, given.seed)
    except httpx.TransportError as error:
        sys.stderr.write(f"kubedrill: no server answers ({error}); start one with python -m server.app\n")
        return 1
    except (HttpError, RuntimeError, OSError) as error:
        sys.stderr.write(f"kubedrill: {error}\n")
        return 1


def _tasks(url: str) -> int:
    with KubeHttpClient(url) as client:
        for task in client.tasks():
            sys.stdout.write(
                f"{task.id:12} {task.suite:10} {task.max_agent_steps:3} steps  {task.description}\n"
            )
    return 0


def _demo(url: str, task: str, seed: int) -> int:
    from kubedrill.policies.heuristic import HeuristicPolicy

    policy = HeuristicPolicy()
    with KubeEnv(base_url=url).sync() as env:
        result = env.reset(task=task, seed=seed)
        sys.stdout.write(f"{result.observation.incident_brief}\n{result.observation.recent_change_hint}\n")
        while not result.done:
            command = policy.act(result.observation)
            if command is None:
                break
            result = env.step(command)
            sys.stdout.write(f"\n$ {command}\n{result.observation.output}\nreward {result.reward}\n")
        state = env.state()
    for reason in policy.reasons:
        sys.stdout.write(f"because {reason}\n")
    sys.stdout.write(f"{state.oracle_verdict or 'unfinished'}, score {state.oracle_score}\n")
    return 0 if state.oracle_verdict == "success" else 2
