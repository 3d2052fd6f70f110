"""One tron incident: carry out a command, let time pass, probe, price, and say when it is repaired.

Source: SEEDS TR-12 to TR-33.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from env_core.cluster import Cluster
from env_core.scenarios.platform import ON_CALL
from env_core.sim.timefmt import rfc3339
from env_core.suites._model import ResetOptions, Step
from env_core.suites.tron import observing, refusals
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario
from env_core.suites.tron.pricing import STEP_COST_MIN, is_mutating, only_reads_objects, price
from env_core.tools.terminal import TIMED_OUT, Terminal
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Baseline, Elsewhere, everything_kept
from env_core.verify.verdict import Churn, Verdict, delete_pods, judge
from env_core.verify.view import View
from env_core.world import Object, Output

READ_MS = 15_000
"""Virtual time that a step takes when it changes nothing."""
COMMAND_LIMIT_MS = 600_000
"""Virtual time that one line may take; waits and sleeps beyond it are cut off."""
SETTLE_MIN_MS = 12_000
SETTLE_QUIET_MS = 3_000
SETTLE_MAX_MS = 30_000
OUTPUT_CHARS_DEFAULT = 16_000
_BYTES = re.compile("[\ud800-\udfff]")
WORKAROUND_BONUS = 0.1
"""What a healthy service earns above doing nothing when the repair is not durable. Source: DESIGN §3.8."""

_PROTECTED = frozenset(
    {
        "deployments",
        "services",
        "configmaps",
        "ingresses",
        "secrets",
        "namespaces",
        "persistentvolumeclaims",
        "networkpolicies",
        "statefulsets",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything about one incident that does not change while it is worked on."""

    task_id: str
    scenario_id: str
    scenario: Scenario
    params: Params
    steps_max: int
    options: ResetOptions
    baseline: Baseline
    elsewhere: Elsewhere
    brief: str
    hint: str
    untouched: Cluster
    """The world as it was at reset; forked to judge what doing nothing is worth, never changed."""
    floors: list[float] = field(default_factory=list)
    """What doing nothing is worth, once it has been judged: the same for every rollout of the case."""

    def repairs(self) -> tuple[Check, ...]:
        """Return the checks that make a repair."""
        return self.scenario.goals(self.params)

    def keeps(self) -> tuple[Check, ...]:
        """Return the checks that every incident shares: nothing lost, nothing added."""
        allowance = self.scenario.allowance(self.params)
        return everything_kept(NAMESPACE, self.baseline, self.elsewhere, allowance)


class TronIncident:
    """The incident that a tron episode drives."""

    __slots__ = (
        "_case",
        "_has_acted",
        "_last_action",
        "_last_reward",
        "_steps",
        "_terminal",
        "_verdict",
        "_watch",
        "cluster",
    )

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        watch: observing.Watch,
        terminal: Terminal | None = None,
    ) -> None:
        self._case = case
        self.cluster = cluster
        self._watch = watch
        self._steps = 0
        self._last_action = ""
        self._last_reward = 0.0
        self._verdict: Verdict | None = None
        self._has_acted = False
        self._terminal = terminal or Terminal(cluster, ON_CALL, namespace="default")

    # The Incident protocol

    def observe(self) -> Object:
        """Return the initial observation."""
        return self._observation(Output(), is_done=False)

    def act(self, command: str) -> Step:
        """Carry out one command line."""
        self._steps += 1
        before = self._watch.last.score
        output, cost, is_rejected, has_changed = self._run(command)
        self._has_acted = self._has_acted or has_changed
        if not is_rejected:
            self._let_time_pass(has_changed=has_changed)
        service = self._watch.look()
        reward = round(service.score - before + cost, 3)
        is_repaired = has_changed and self._is_repaired()
        is_last = is_repaired or self._steps >= self._case.steps_max
        terms = {"service": round(service.score - before, 3), "cost": round(cost, 3)}
        if is_last:
            if self._verdict is None:
                self._verdict = self._judge()
            if self._case.options.terminal_reward:
                gain = round(self.score() - self.floor(), 3)
                terms["terminal"] = gain
                reward = round(reward + gain, 3)
        self._last_action = command
        self._last_reward = reward
        output = self._bounded(output)
        info: Object = {
            "command": command,
            "return_code": output.exit_code,
            "stdout": output.stdout,
            "stderr": output.stderr,
            "rejected": is_rejected,
            "timed_out": output.exit_code == TIMED_OUT,
            "action_cost": round(cost, 3),
            "repair_complete": is_repaired,
        }
        return Step(
            observation=self._observation(output, is_done=is_last),
            reward=reward,
            is_terminated=is_repaired,
            is_truncated=is_last and not is_repaired,
            info=info,
            terms=terms,
        )

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
        if self._is_harmful(verdict):
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

    def digest(self) -> str:
        """Return the chained digest of everything that has happened."""
        return self.cluster.digest()

    def fork(self) -> TronIncident:
        """Return an independent copy."""
        cluster = self.cluster.fork()
        copy = TronIncident(self._case, cluster, self._watch.fork(cluster), self._terminal.fork(cluster))
        copy._steps = self._steps
        copy._last_action = self._last_action
        copy._last_reward = self._last_reward
        copy._verdict = self._verdict
        copy._has_acted = self._has_acted
        return copy

    # Acting

    def _run(self, command: str) -> tuple[Output, float, bool, bool]:
        meter = _Meter()
        try:
            review = _reviewed(command)
            if review.refusal is not None:
                raise review.refusal.with_traceback(None)
            if not review.is_reading:
                self._watch.catch_up()
            output = self._terminal.run(command, meter.check, COMMAND_LIMIT_MS)
        except RecursionError:
            # The last net below the limits of the parsers: a real program would run out of stack, too.
            output = Output(stderr="Segmentation fault\n", exit_code=139)
        except refusals.Refusal as refusal:
            text = f"refused: {refusal}\n"
            return Output(stderr=text, exit_code=refusals.EXIT_CODE), refusal.cost, True, meter.has_changed
        return output, max(meter.cost, STEP_COST_MIN), False, meter.has_changed

    def _let_time_pass(self, *, has_changed: bool) -> None:
        due_ms = self.cluster.loop.next_ms()
        if due_ms is not None and due_ms <= self.cluster.now_ms + READ_MS:
            self._watch.catch_up()
        if has_changed:
            self.cluster.advance(SETTLE_MIN_MS)
            self.cluster.settle(SETTLE_QUIET_MS, SETTLE_MAX_MS - SETTLE_MIN_MS)
        else:
            self.cluster.advance(READ_MS)

    def _bounded(self, output: Output) -> Output:
        chars_max = self._case.options.max_output_chars or OUTPUT_CHARS_DEFAULT
        return Output(
            _cut(_text(output.stdout), chars_max), _cut(_text(output.stderr), chars_max), output.exit_code
        )

    # Judging

    def _is_repaired(self) -> bool:
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

    def _is_harmful(self, verdict: Verdict) -> bool:
        if any(why.endswith("is gone") or "identity" in why for why in verdict.keeps.values()):
            return True
        allowance = self._case.scenario.allowance(self._case.params)
        for record in self.cluster.server.audit.records():
            if (
                record.user != ON_CALL.name
                or record.code >= 400
                or record.verb not in ("delete", "deletecollection")
            ):
                continue
            plural = record.resource.split(".", 1)[0]
            if plural in _PROTECTED and record.namespace == NAMESPACE and not record.subresource:
                kind = self.cluster.server.registry.by_resource(record.resource)
                resource = kind.resource if kind is not None else record.resource
                is_original = record.name in self._case.baseline.get(resource, {})
                if is_original and not allowance.permits(resource, record.name, "gone"):
                    return True
        return False

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


class _Review(NamedTuple):
    """What can be said of a line before it runs."""

    refusal: refusals.Refusal | None
    is_reading: bool
    """Whether all of its commands only read objects."""


@lru_cache(maxsize=4096)
def _reviewed(line: str) -> _Review:
    commands = Terminal.commands(line)
    try:
        refusals.check_line(line, commands)
    except refusals.Refusal as refusal:
        return _Review(refusal, False)
    return _Review(None, all(map(only_reads_objects, commands)))


class _Price(NamedTuple):
    refusal: refusals.Refusal | None
    cost: float
    is_mutating: bool


@lru_cache(maxsize=4096)
def _priced(argv: tuple[str, ...]) -> _Price:
    words = list(argv)
    try:
        refusals.check_command(words)
    except refusals.Refusal as refusal:
        return _Price(refusal, 0.0, False)
    return _Price(None, price(words), words[:1] == ["kubectl"] and is_mutating(words))


class _Meter:
    """Adds up the prices of the commands that a line really runs; refuses the ones that are out of bounds."""

    __slots__ = ("cost", "has_changed")

    def __init__(self) -> None:
        self.cost = 0.0
        self.has_changed = False

    def check(self, argv: list[str]) -> None:
        """Price one command before it runs.

        Raises:
            Refusal: if it is out of bounds (it may have come out of a substitution).
        """
        known = _priced(tuple(argv))
        if known.refusal is not None:
            raise known.refusal.with_traceback(None)
        self.cost = round(self.cost + known.cost, 3)
        self.has_changed = self.has_changed or known.is_mutating


def _text(text: str) -> str:
    """Return printable Unicode: bytes that are none (lone surrogates, in the shell's strings) become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if _BYTES.search(text) else text


def _cut(text: str, chars_max: int) -> str:
    if len(text) <= chars_max:
        return text
    head = chars_max * 3 // 4
    tail = chars_max - head
    return (
        f"{text[:head]}\n[... {len(text) - chars_max} characters truncated ...]\n{text[len(text) - tail :]}"
    )
