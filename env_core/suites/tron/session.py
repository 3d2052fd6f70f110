"""One tron incident: carry out a command, let time pass, probe, price, and say when it is repaired.

Source: SEEDS TR-12 to TR-33.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from env_core.apiserver import errors
from env_core.cluster import Cluster
from env_core.dataplane.tunnel import Exchanged, exchange
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest, Upgrade
from env_core.rest.rendering import status_response
from env_core.scenarios.platform import ON_CALL
from env_core.sim.timefmt import rfc3339
from env_core.suites._model import Called, Step
from env_core.suites.tron import observing, refusals
from env_core.suites.tron._case import Case
from env_core.suites.tron._harm import is_harmful
from env_core.suites.tron._lines import Meter, cut, reviewed_line, text_of
from env_core.suites.tron._scenario import NAMESPACE
from env_core.suites.tron.calls import READS_PER_STEP, Call, as_write, reviewed
from env_core.suites.tron.pricing import REFUSED, STEP_COST_MIN
from env_core.tools.terminal import TIMED_OUT, Terminal
from env_core.verify.verdict import Churn, Verdict, delete_pods, judge
from env_core.verify.view import View
from env_core.world import Object, Output

READ_MS = 15_000
"""Virtual time that a step takes when it changes nothing."""
COMMAND_LIMIT_MS = 600_000
"""Virtual time that one line may take; waits and sleeps beyond it are cut off."""
LOOK_MS = 5_000
"""How often the monitor looks while time passes by itself."""
SETTLE_MIN_MS = 12_000
SETTLE_QUIET_MS = 3_000
SETTLE_MAX_MS = 30_000
OUTPUT_CHARS_DEFAULT = 16_000
WORKAROUND_BONUS = 0.1
"""What a healthy service earns above doing nothing when the repair is not durable. Source: DESIGN §3.8."""


class TronIncident:
    """The incident that a tron episode drives."""

    __slots__ = (
        "_case",
        "_has_acted",
        "_last_action",
        "_last_reward",
        "_reads",
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
        self._reads = 0
        self._last_action = ""
        self._last_reward = 0.0
        self._verdict: Verdict | None = None
        self._has_acted = False
        self._terminal = terminal or Terminal(cluster, ON_CALL, namespace="default")

    # The Incident protocol

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the incident's clock."""
        return self.cluster.now_ms

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
            reward = self._closed(reward, terms)
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

    def call(self, request: HttpRequest, *, is_paced: bool) -> Called:
        """Answer a REST request of the agent's own client."""
        call = reviewed(request)
        if call.refusal:
            why = errors.status(403, "Forbidden", call.refusal)
            return Called(answer=status_response(why), is_action=True, step=self._ended(request, REFUSED))
        if call.reads_records:
            self._watch.catch_up()
        revision = self.cluster.store.revision
        answer = RestApi(self.cluster.server).handle(request, ON_CALL)
        if self.cluster.store.revision != revision and not call.is_mutating:
            call = as_write(request)
        if not call.is_action or isinstance(answer, Upgrade):
            return Called(answer=answer, is_action=call.is_action)
        return Called(answer=answer, is_action=True, step=self._after(request, call, is_paced=is_paced))

    def run(self, request: HttpRequest, stdin: str, *, is_paced: bool) -> tuple[Output, Called]:
        """Carry out a command in a container, with all of its input."""
        call = reviewed(request)
        self._watch.catch_up()
        answer = RestApi(self.cluster.server).handle(request, ON_CALL)
        output = Output(exit_code=1)
        if isinstance(answer, Upgrade) and answer.request.exec is not None:
            wanted = answer.request._replace(exec=replace(answer.request.exec, stdin=stdin))
            response = self.cluster.call(wanted)
            if response.output is not None:
                output = response.output
            else:
                answer = status_response(response.object)
        step = self._after(request, call, is_paced=is_paced)
        return output, Called(answer=answer, is_action=True, step=step)

    def forward(
        self, request: HttpRequest, port: int, data: bytes, *, is_paced: bool
    ) -> tuple[Exchanged, Called]:
        """Send an HTTP request through a forwarded port of a pod."""
        call = reviewed(request)
        self._watch.catch_up()
        answer = RestApi(self.cluster.server).handle(request, ON_CALL)
        exchanged = Exchanged()
        if isinstance(answer, Upgrade):
            pod = answer.request
            exchanged = exchange(self.cluster.network, pod.namespace, pod.name, port, data)
        step = self._after(request, call, is_paced=is_paced)
        return exchanged, Called(answer=answer, is_action=True, step=step)

    def elapse(self, duration_ms: int) -> Step | None:
        """Let time pass. At every fifth second of the clock the monitor looks, and a durable repair ends the incident."""
        cluster = self.cluster
        end_ms = cluster.now_ms + duration_ms
        while cluster.now_ms < end_ms and self._verdict is None:
            look_ms = cluster.now_ms - cluster.now_ms % LOOK_MS + LOOK_MS
            self._watch.catch_up()
            cluster.advance(min(look_ms, end_ms) - cluster.now_ms)
            if cluster.now_ms == look_ms and self._has_acted:
                before = self._watch.last.score
                service = self._watch.look()
                if self._is_repaired():
                    return self._step("", Output(), round(service.score - before, 3), is_repaired=True)
        return None

    def _after(self, request: HttpRequest, call: Call, *, is_paced: bool) -> Step | None:
        """Let pass what a request takes, and return the step that it makes or completes."""
        if call.is_mutating:
            self._has_acted = True
            if not is_paced:
                self._let_time_pass(has_changed=True)
            return self._ended(request, call.cost)
        if is_paced:
            return None
        self._watch.catch_up()
        self.cluster.advance(READ_MS // READS_PER_STEP)
        self._reads += 1
        return None if self._reads % READS_PER_STEP else self._ended(request, call.cost)

    def _ended(self, request: HttpRequest, cost: float) -> Step:
        """Return the step that a request ends."""
        self._steps += 1
        before = self._watch.last.score
        service = self._watch.look()
        reward = round(service.score - before + cost, 3)
        action = f"{request.method} {request.target.partition('?')[0]}"
        terms = {"service": round(service.score - before, 3), "cost": round(cost, 3)}
        is_repaired = self._has_acted and self._is_repaired()
        return self._step(action, Output(), reward, is_repaired=is_repaired, terms=terms)

    def _step(
        self,
        action: str,
        output: Output,
        reward: float,
        *,
        is_repaired: bool,
        terms: Mapping[str, float] | None = None,
    ) -> Step:
        """Return a step that no command line made, judged if it is the last."""
        is_last = is_repaired or self._steps >= self._case.steps_max
        named = dict(terms or {"service": reward, "cost": 0.0})
        if is_last:
            reward = self._closed(reward, named)
        self._last_action = action
        self._last_reward = reward
        info: Object = {"repair_complete": is_repaired}
        return Step(
            observation=self._observation(output, is_done=is_last),
            reward=reward,
            is_terminated=is_repaired,
            is_truncated=is_last and not is_repaired,
            info=info,
            terms=named,
        )

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

    def digest(self) -> str:
        """Return the chained digest of everything that has happened."""
        return self.cluster.digest()

    def fork(self) -> TronIncident:
        """Return an independent copy."""
        cluster = self.cluster.fork()
        copy = TronIncident(self._case, cluster, self._watch.fork(cluster), self._terminal.fork(cluster))
        copy._steps = self._steps
        copy._reads = self._reads
        copy._last_action = self._last_action
        copy._last_reward = self._last_reward
        copy._verdict = self._verdict
        copy._has_acted = self._has_acted
        return copy

    # Acting

    def _run(self, command: str) -> tuple[Output, float, bool, bool]:
        meter = Meter()
        try:
            review = reviewed_line(command)
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
            cut(text_of(output.stdout), chars_max), cut(text_of(output.stderr), chars_max), output.exit_code
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
