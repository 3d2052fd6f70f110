"""The agent's mix: twenty steps, two of them rollouts, the rest alternating reads.

Source: KUBERNETES §5, DESIGN §5. Nothing in it repairs an incident, so no episode ends before its steps are up.
"""

from __future__ import annotations

from dataclasses import replace

from env_core.episode import Episode, StepResult, find_task
from env_core.suites import ResetOptions

TASKS = ("easy", "medium", "hard")
STEPS = 20
RESTART = "kubectl -n tron rollout restart deploy/nginx"
_TAGS = ("nginx:1.28-alpine", "nginx:1.27-alpine", "nginx:1.26-alpine")
_READS = (
    "kubectl -n tron get pods -o wide",
    "kubectl -n tron describe deploy nginx",
    "kubectl -n tron get events",
    "kubectl -n tron logs deploy/nginx -c redis-bridge --tail=20",
    "kubectl -n tron get svc,ep",
    "kubectl -n tron top pods",
    "kubectl -n tron exec deploy/nginx -c redis-bridge -- env",
    "curl -s http://tron.localhost/data",
    "kubectl -n tron get deploy nginx -o yaml",
)
_RESTART_AT = 6
_IMAGE_AT = 14


def command(step: int, episode: int = 0) -> str:
    """Return the command of a step (0 to 19); the tag of the second rollout goes by the episode."""
    at = step % STEPS
    if at == _RESTART_AT:
        return RESTART
    if at == _IMAGE_AT:
        return f"kubectl -n tron set image deploy/nginx nginx={_TAGS[(episode + step // STEPS) % len(_TAGS)]}"
    reads_before = at - (at > _RESTART_AT) - (at > _IMAGE_AT)
    return _READS[reads_before % len(_READS)]


def is_rollout(line: str) -> bool:
    """Whether a command of the mix starts a rollout."""
    return " rollout restart " in line or " set image " in line


def begin(task: str, seed: int, *, steps_max: int = 1_000_000) -> Episode:
    """Return an episode of the tron suite that does not end by its number of steps before `steps_max`.

    The official tasks end after 12 to 18 steps; the mix is 20 long, and a verdict has its own row.
    """
    suite, found = find_task("tron", task)
    longer = replace(found, steps_max=steps_max)
    options = ResetOptions()
    return Episode(suite, longer, seed, "", options, suite.begin(longer, seed, options))


def step(episode: Episode, line: str) -> StepResult:
    """Carry out one command of the mix.

    Raises:
        RuntimeError: if the episode ended by it, or nobody knows the command; the figures would mean nothing.
    """
    result = episode.step(line)
    if result.is_done:
        raise RuntimeError(f"the mix ended an episode of {episode.task.id}, seed {episode.seed}, at {line!r}")
    return result
