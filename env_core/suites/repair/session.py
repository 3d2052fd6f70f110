"""One incident of the suite: what the agent sees, how it ends, and what it is worth."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import ON_CALL
from env_core.sim.timefmt import rfc3339
from env_core.suites import _calls, _refusals
from env_core.suites._lines import Rules
from env_core.suites._model import Step
from env_core.suites._terminal import OUTPUT_CHARS_DEFAULT, TerminalIncident
from env_core.suites.repair._case import Incident
from env_core.suites.repair.diagnosing import Submission, Unreadable, is_submission, read
from env_core.suites.repair.observing import Watch, sight
from env_core.tools.terminal import Terminal
from env_core.verify.judging import Judgement, Outcome
from env_core.world import Object, Output

FLOOR = 0.2
"""What doing nothing is worth; harm is worth nothing at all."""
WORKAROUND = 0.3
"""What a service that serves again, but will not for long, is worth. Source: DESIGN §3.8."""


def _check_line(line: str) -> None:
    if not line.strip():
        raise _refusals.Refusal("empty command: send one line, such as kubectl get pods")


RULES = Rules(check_line=_check_line, check_command=_refusals.check_command, check_call=_calls.reviewed)


class RepairIncident(TerminalIncident):
    """The incident that an episode of the suite drives.

    The return of an episode is its score less the floor and what the commands cost: what the service's recovery adds on
    the way is taken back by the last step, so that nothing but the verdict pays.
    """

    __slots__ = ("_incident", "_judgement", "_submission", "_watch")

    RULES = RULES

    def __init__(
        self, incident: Incident, cluster: Cluster, watch: Watch, terminal: Terminal | None = None
    ) -> None:
        super().__init__(
            cluster, terminal or Terminal(cluster, ON_CALL, namespace="default", has_node_tool=True)
        )
        self._incident = incident
        self._watch = watch
        self._judgement: Judgement | None = None
        self._submission: Submission | None = None

    @property
    def monitor(self) -> Watch:
        """The monitor of the ways in."""
        return self._watch

    @property
    def steps_max(self) -> int:
        """The steps after which the incident is cut off."""
        return self._incident.task.steps_max

    @property
    def output_chars_max(self) -> int:
        """Where longer outputs are cut."""
        return self._incident.options.max_output_chars or OUTPUT_CHARS_DEFAULT

    def act(self, command: str) -> Step:
        """Carry out one command line; `submit …` ends the incident."""
        if is_submission(command):
            return self._submitted(command)
        return super().act(command)

    def _submitted(self, line: str) -> Step:
        try:
            self._submission = read(line)
        except Unreadable as error:
            self._steps += 1
            return self._step(line, Output(stderr=str(error), exit_code=2), 0.0, is_repaired=False)
        self._steps += 1
        return self._step(line, Output(stdout="submitted\n"), 0.0, is_repaired=True)

    # What ends it

    def _is_over(self) -> bool:
        return False

    @property
    def _is_judged(self) -> bool:
        return self._judgement is not None

    def _closed(self, reward: float, terms: dict[str, float]) -> float:
        if self._judgement is None:
            self._judgement = self._judged()
        terms["terminal"] = round(self.score() - FLOOR - self._paid, 3)
        return round(reward + terms["terminal"], 3)

    def score(self) -> float:
        """Return the final score in [0, 1] as it would be now, judged on a fork."""
        judgement = self._judgement or self._judged()
        if judgement.outcome is Outcome.REPAIRED:
            return 1.0
        if judgement.outcome is Outcome.HARMFUL:
            return 0.0
        if judgement.outcome is Outcome.WORKAROUND and self._has_acted and not self._served_anyway():
            return WORKAROUND
        return FLOOR

    def _judged(self) -> Judgement:
        is_cleared = self._submission is not None and self._submission.says_nothing_is_wrong
        return self._incident.judge(self.cluster, is_cleared=is_cleared)

    def _served_anyway(self) -> bool:
        """Whether the service did well before anybody acted: then nothing was brought back."""
        return self._incident.untouched_outcome() is not Outcome.NOT_REPAIRED

    def public_state(self) -> Object:
        """Return the suite's part of `/state`; what would tell the answer is null until the end."""
        judgement = self._judgement
        is_over = judgement is not None
        summary: Object | None = None
        if judgement is not None:
            summary = {"outcome": judgement.outcome.value, "reasons": judgement.reasons()}
            if self._submission is not None:
                causes = self._incident.variant.fault.causes(self._incident.case)
                summary["diagnosis"] = self._submission.marks(causes)
        variant = self._incident.variant
        return {
            "task": self._incident.shown_task,
            "scenario_id": f"{variant.family.id}/{variant.fault.id}" if is_over else None,
            "modifiers": [laid.modifier.id for laid in self._incident.laid] if is_over else None,
            "last_action": self._last_action,
            "last_reward": self._last_reward,
            "service_score": self._watch.last.score,
            "oracle_score": self.score() if is_over else None,
            "oracle_verdict": None
            if judgement is None
            else ("success" if judgement.outcome is Outcome.REPAIRED else "failure"),
            "oracle_summary": summary,
        }

    def fork(self) -> RepairIncident:
        """Return an independent copy."""
        cluster = self.cluster.fork()
        copy = RepairIncident(
            self._incident, cluster, self._watch.fork(cluster), self._terminal.fork(cluster)
        )
        copy._continue(self)
        copy._judgement = self._judgement
        copy._submission = self._submission
        return copy

    def _observation(self, output: Output, *, is_done: bool) -> Object:
        incident = self._incident
        return {
            "task_id": incident.shown_task,
            "incident_brief": incident.brief,
            "recent_change_hint": incident.hint,
            "step_count": self._steps,
            "steps_max": incident.task.steps_max,
            "now": rfc3339(self.cluster.now_ms),
            "last_action": self._last_action,
            "output": output.stdout + output.stderr,
            "exit_code": output.exit_code,
            "service_levels": self._watch.last.shown(),
            "done": is_done,
        }


def begun(incident: Incident) -> RepairIncident:
    """Return the incident as it stands when the agent is paged; forks of it begin episodes."""
    cluster = incident.untouched.fork()
    watch = Watch(cluster, sight(incident.case.base))
    watch.settle()
    return RepairIncident(incident, cluster, watch)
