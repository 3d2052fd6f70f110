"""A tiny suite that stands in for a real one: a counter, a fault that one command repairs, and commands that misbehave on purpose."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field

from env_core.suites import ResetOptions, Step, Suite, Task

TASKS = (
    *(
        Task(
            id=level,
            difficulty=level,
            name=f"toy {level}",
            description="A toy.",
            default_seed=seed,
            steps_max=steps,
        )
        for level, seed, steps in (("easy", 11, 12), ("medium", 13, 15), ("hard", 17, 18))
    ),
    Task(
        id="telltale-fault",
        difficulty="easy",
        name="toy scenario",
        description="A toy.",
        default_seed=11,
        steps_max=12,
        is_listed=False,
    ),
)


@dataclass
class ToyIncident:
    """Draws from its seed; `kubectl fix` repairs, `kubectl boom` is a bug, `kubectl spin` never returns."""

    task: Task
    seed: int
    options: ResetOptions
    steps: int = 0
    score_now: float = 0.7
    last_action: str = ""
    last_reward: float = 0.0
    chain: str = ""
    is_repaired: bool = False
    said: list[str] = field(default_factory=list)

    def observe(self):
        return self._observation("", 0, is_done=False)

    def act(self, command):
        if command == "kubectl boom":
            raise RuntimeError("the secret reason telltale-fault")
        while command == "kubectl spin":
            pass
        self.steps += 1
        before = self.score_now
        cost = -0.05 if "delete" in command else 0.0
        self.is_repaired = self.is_repaired or command == "kubectl fix"
        self.score_now = 1.0 if self.is_repaired else 0.7
        reward = round(self.score_now - before + cost, 3)
        self.chain = hashlib.sha256(f"{self.chain}{self.seed}{command}".encode()).hexdigest()
        self.last_action, self.last_reward = command, reward
        is_last = self.is_repaired or self.steps >= self.task.steps_max
        return Step(
            observation=self._observation(f"{self.chain}\n", 0, is_done=is_last),
            reward=reward,
            is_terminated=self.is_repaired,
            is_truncated=is_last and not self.is_repaired,
            info={
                "command": command,
                "return_code": 0,
                "stdout": self.chain,
                "stderr": "",
                "rejected": False,
                "timed_out": False,
                "action_cost": cost,
                "repair_complete": self.is_repaired,
            },
            terms={"service": round(self.score_now - before, 3), "cost": cost},
        )

    def public_state(self):
        is_over = self.is_repaired or self.steps >= self.task.steps_max
        return {
            "task": self.task.id if self.task.is_listed else "scenario",
            "scenario_id": "telltale-fault" if is_over else None,
            "last_action": self.last_action,
            "last_reward": self.last_reward,
            "service_score": self.score_now,
            "oracle_score": self.score() if is_over else None,
            "oracle_verdict": ("success" if self.is_repaired else "failure") if is_over else None,
            "oracle_summary": None,
            "answer": "telltale-fault",
        }

    def score(self):
        return 1.0 if self.is_repaired else 0.35

    def digest(self):
        return self.chain

    def fork(self):
        return ToyIncident(
            self.task,
            self.seed,
            self.options,
            self.steps,
            self.score_now,
            self.last_action,
            self.last_reward,
            self.chain,
            self.is_repaired,
        )

    def _observation(self, output, exit_code, *, is_done):
        return {
            "task_id": self.task.id if self.task.is_listed else "scenario",
            "incident_brief": f"Something is broken ({self.seed}).",
            "recent_change_hint": "Nobody has announced a change today.",
            "step_count": self.steps,
            "steps_max": self.task.steps_max,
            "now": "2026-01-01T00:00:00Z",
            "last_action": self.last_action,
            "last_reward": self.last_reward,
            "output": output,
            "exit_code": exit_code,
            "service_probe": {
                "health_status": 200,
                "data_status": 502,
                "http_status": 502,
                "latency_ms": 3,
                "score": self.score_now,
                "error": "",
            },
            "cluster_summary": {
                "pods": "a 1/1 Running",
                "services": "a ClusterIP",
                "deployments": "a 1/1",
                "endpoints": "a <none>",
            },
            "done": is_done,
        }


SUITE = Suite(
    name="tron",
    version=1,
    summary="A toy.",
    tasks=TASKS,
    reward_range=(-2.0, 2.0),
    begin=ToyIncident,
    reference=lambda task, seed: (("kubectl fix",), ("kubectl get pods", "kubectl fix")),
    decoys=lambda task, seed: (("kubectl delete pod",),),
)


def toy_suites():
    return {"tron": SUITE}


def install():
    """Make the toy the only suite of this process."""
    import env_core.episode
    from server import tasks

    env_core.episode.all_suites = toy_suites
    tasks.split_tasks.cache_clear()


if __name__ == "__main__":
    install()
    from server.app import main

    main(sys.argv[1:])
