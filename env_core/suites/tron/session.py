"""One tron incident: what the agent sees of it, what it is worth, and when it is repaired.

Source: SEEDS TR-12 to TR-33.
"""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import ON_CALL
from env_core.sim.timefmt import rfc3339
from env_core.suites._terminal import OUTPUT_CHARS_DEFAULT, TerminalIncident
from env_core.suites.tron import observing, refusals
from env_core.suites.tron._case import Case
from env_core.suites.tron._harm import is_harmful
from env_core.suites.tron._scenario import NAMESPACE
from env_core.tools.terminal import Terminal
from env_core.verify.verdict import Churn, Verdict, delete_pods, judge
from env_core.verify.view import View
from env_core.world import Object, Output

WORKAROUND_BONUS = 0.1
"""What a healthy service earns above doing nothing when the repair is not durable. Source: DESIGN §3.8."""


class TronIncident(TerminalIncident):
    """The incident that a tron episode drives."""

    __slots__ = ("_case", "_verdict", "_watch")

    RULES = refusals.RULES

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        watch: observing.Watch,
        terminal: Terminal | None = None,
    ) -> None:
        super().__init__(cluster, terminal or Terminal(cluster, ON_CALL, namespace="default"))
        self._case = case
        self._watch = watch
        self._verdict: Verdict | None = None

    @property
    def monitor(self) -> observing.Watch:
        """The monitor of the two paths."""
        return self._watch

    @property
    def steps_max(self) -> int:
        """The steps after which the incident is cut off."""
        return self._case.steps_max

    @property
    def output_chars_max(self) -> int:
        """Where longer outputs are cut."""
        return self._case.options.max_output_chars or OUTPUT_CHARS_DEFAULT

    def _closed(self, reward: float, terms: dict[str, float]) -> float:
        """Judge the incident if it has not been, and return the last step's reward."""
        if self._verdict is None:
            self._verdict = self._judge()
        if not self._case.options.terminal_reward:
            return reward
        gain = round(self.score() - self.floor(), 3)
        terms["terminal"] = gain
        return round(reward + gain, 3)

    def public_state(self) -> Object:
        """Return the suite's part of `/state`; what would tell the answer is null until the end."""
        is_over = self._verdict is not None
        return {
            "task": self._case.task_id,
            "scenario_id": self._case.scenario_id if is_over else None,
            "last_action": self._last_action,
            "last_reward": self._last_reward,
            "service_score": self._watch.last.score,
            "oracle_score": self.score() if is_over else None,
            "oracle_verdict": self._verdict_word() if is_over else None,
            "oracle_summary": self._verdict.reasons() if self._verdict is not None else None,
        }

    def score(self) -> float:
        """Return the final score in [0, 1] as it would be now, judged on a fork."""
        verdict = self._verdict if self._verdict is not None else self._judge()
        service = self._watch.last.score
        if verdict.is_repaired and service == observing.HEALTHY:
            return 1.0
        mean = round((verdict.share + service) / 2, 4)
        if self._case.options.reward_mode == "seed":
            return mean
        if is_harmful(verdict, self._case, self.cluster):
            return 0.0
        floor = self.floor()
        if not self._has_acted:
            return floor  # Symptoms that come and go must not make looking on worth more or less.
        if service == observing.HEALTHY and floor < mean:
            return round(min(floor + WORKAROUND_BONUS, mean), 4)
        return min(mean, floor)

    def floor(self) -> float:
        """Return the final score of doing nothing, judged on the world as it was at reset."""
        case = self._case
        if not case.floors:
            verdict = judge(case.untouched, case.repairs(), case.keeps(), self._churns())
            case.floors.append(round((verdict.share + case.scenario.score_after) / 2, 4))
        return case.floors[0]

    def fork(self) -> TronIncident:
        """Return an independent copy."""
        cluster = self.cluster.fork()
        copy = TronIncident(self._case, cluster, self._watch.fork(cluster), self._terminal.fork(cluster))
        copy._continue(self)
        copy._verdict = self._verdict
        return copy

    # Judging

    @property
    def _is_judged(self) -> bool:
        return self._verdict is not None

    def _is_over(self) -> bool:
        if self._watch.last.score != observing.HEALTHY:
            return False
        view = View(self.cluster.fork())
        if not all(check.holds(view) for check in (*self._case.repairs(), *self._case.keeps())):
            return False
        verdict = self._judge()
        if verdict.is_repaired:
            self._verdict = verdict
        return verdict.is_repaired

    def _judge(self) -> Verdict:
        return judge(self.cluster, self._case.repairs(), self._case.keeps(), self._churns())

    @staticmethod
    def _churns() -> tuple[Churn, ...]:
        return (delete_pods(NAMESPACE),)

    def _verdict_word(self) -> str:
        assert self._verdict is not None
        return (
            "success"
            if self._verdict.is_repaired and self._watch.last.score == observing.HEALTHY
            else "failure"
        )

    # Seeing

    def _observation(self, output: Output, *, is_done: bool) -> Object:
        return {
            "task_id": self._case.task_id,
            "incident_brief": self._case.brief,
            "recent_change_hint": self._case.hint,
            "step_count": self._steps,
            "steps_max": self._case.steps_max,
            "now": rfc3339(self.cluster.now_ms),
            "last_action": self._last_action,
            "last_reward": self._last_reward,
            "output": output.stdout + output.stderr,
            "exit_code": output.exit_code,
            "service_probe": self._watch.last.shown(),
            "cluster_summary": self._watch.summary(),
            "done": is_done,
        }
