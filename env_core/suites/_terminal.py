"""An incident worked on at a terminal and through the API: carry out, let time pass, price; suites judge and show.

Source: SEEDS TR-12 to TR-33, whose rules of time and price hold for every suite with a terminal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from env_core.apiserver import errors
from env_core.cluster import Cluster
from env_core.dataplane.tunnel import Exchanged, exchange
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest, Upgrade
from env_core.rest.rendering import status_response
from env_core.scenarios.platform import ON_CALL
from env_core.sim.work import SETTLING_MAX
from env_core.suites import _refusals as refusals
from env_core.suites._calls import READS_PER_STEP, Call, as_write
from env_core.suites._lines import Meter, Rules, cut, reviewed_line, text_of
from env_core.suites._model import Called, Step
from env_core.suites._pricing import REFUSED, STEP_COST_MIN
from env_core.suites._watch import Watch
from env_core.tools.terminal import TIMED_OUT, Terminal
from env_core.world import Interrupted, Object, Output

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


class TerminalIncident(ABC):
    """What every incident with a terminal shares. Suites add what the agent sees, and the judge."""

    __slots__ = (
        "_has_acted",
        "_last_action",
        "_last_reward",
        "_paid",
        "_reads",
        "_steps",
        "_terminal",
        "cluster",
    )

    RULES: Rules

    def __init__(self, cluster: Cluster, terminal: Terminal) -> None:
        self.cluster = cluster
        self._terminal = terminal
        self._steps = 0
        self._reads = 0
        self._paid = 0.0
        self._last_action = ""
        self._last_reward = 0.0
        self._has_acted = False

    # What suites add

    @property
    @abstractmethod
    def monitor(self) -> Watch[Any]:
        """The suite's eye on its service."""

    @property
    @abstractmethod
    def steps_max(self) -> int:
        """The steps after which the incident is cut off."""

    @property
    @abstractmethod
    def output_chars_max(self) -> int:
        """Where longer outputs are cut."""

    @abstractmethod
    def _is_over(self) -> bool:
        """Whether what was done so far ends the incident; asked after every change."""

    @property
    @abstractmethod
    def _is_judged(self) -> bool:
        """Whether there is a final verdict."""

    @abstractmethod
    def _closed(self, reward: float, terms: dict[str, float]) -> float:
        """Judge the incident if it has not been, and return the last step's reward. `_paid` is what the service's terms add up to."""

    @abstractmethod
    def _observation(self, output: Output, *, is_done: bool) -> Object:
        """Return what the agent sees."""

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
        before = self.monitor.last.score
        output, cost, is_rejected, has_changed = self._run(command)
        self._has_acted = self._has_acted or has_changed
        if not is_rejected:
            self._let_time_pass(has_changed=has_changed)
        service = self.monitor.look()
        reward = round(service.score - before + cost, 3)
        is_repaired = has_changed and self._is_over()
        is_last = is_repaired or self._steps >= self.steps_max
        terms = {"service": round(service.score - before, 3), "cost": round(cost, 3)}
        self._paid = round(self._paid + terms["service"], 3)
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
        call = self.RULES.check_call(request)
        if call.refusal:
            why = errors.status(403, "Forbidden", call.refusal)
            return Called(answer=status_response(why), is_action=True, step=self._ended(request, REFUSED))
        if call.reads_records:
            self.monitor.catch_up()
        revision = self.cluster.store.revision
        answer = RestApi(self.cluster.server).handle(request, ON_CALL)
        if self.cluster.store.revision != revision and not call.is_mutating:
            call = as_write(request)
        if not call.is_action or isinstance(answer, Upgrade):
            return Called(answer=answer, is_action=call.is_action)
        return Called(answer=answer, is_action=True, step=self._after(request, call, is_paced=is_paced))

    def run(self, request: HttpRequest, stdin: str, *, is_paced: bool) -> tuple[Output, Called]:
        """Carry out a command in a container, with all of its input."""
        call = self.RULES.check_call(request)
        self.monitor.catch_up()
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
        call = self.RULES.check_call(request)
        self.monitor.catch_up()
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
        while cluster.now_ms < end_ms and not self._is_judged:
            look_ms = cluster.now_ms - cluster.now_ms % LOOK_MS + LOOK_MS
            self.monitor.catch_up()
            if not self._pass(min(look_ms, end_ms) - cluster.now_ms):
                break
            if cluster.now_ms == look_ms and self._has_acted:
                before = self.monitor.last.score
                service = self.monitor.look()
                if self._is_over():
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
        self.monitor.catch_up()
        self._pass(READ_MS // READS_PER_STEP)
        self._reads += 1
        return None if self._reads % READS_PER_STEP else self._ended(request, call.cost)

    def _ended(self, request: HttpRequest, cost: float) -> Step:
        """Return the step that a request ends."""
        self._steps += 1
        before = self.monitor.last.score
        service = self.monitor.look()
        reward = round(service.score - before + cost, 3)
        action = f"{request.method} {request.target.partition('?')[0]}"
        terms = {"service": round(service.score - before, 3), "cost": round(cost, 3)}
        is_repaired = self._has_acted and self._is_over()
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
        is_last = is_repaired or self._steps >= self.steps_max
        named = dict(terms or {"service": reward, "cost": 0.0})
        self._paid = round(self._paid + named["service"], 3)
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

    def digest(self) -> str:
        """Return the chained digest of everything that has happened."""
        return self.cluster.digest()

    def _continue(self, origin: TerminalIncident) -> None:
        """Take over the counts of the incident that this one is a fork of."""
        self._steps = origin._steps
        self._reads = origin._reads
        self._paid = origin._paid
        self._last_action = origin._last_action
        self._last_reward = origin._last_reward
        self._has_acted = origin._has_acted

    # Acting

    def _run(self, command: str) -> tuple[Output, float, bool, bool]:
        meter = Meter(self.RULES)
        try:
            review = reviewed_line(self.RULES, command)
            if review.refusal is not None:
                raise review.refusal.with_traceback(None)
            if not review.is_reading:
                self.monitor.catch_up()
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
            self.monitor.catch_up()
        if not has_changed:
            self._pass(READ_MS)
            return
        cluster = self.cluster
        with cluster.work.limited(SETTLING_MAX), suppress(Interrupted):
            cluster.advance(SETTLE_MIN_MS)
            cluster.settle(SETTLE_QUIET_MS, SETTLE_MAX_MS - SETTLE_MIN_MS)

    def _pass(self, duration_ms: int) -> bool:
        """Let time pass and return whether all of it has: a cluster that does too much is slow."""
        with self.cluster.work.limited(SETTLING_MAX):
            try:
                self.cluster.advance(duration_ms)
            except Interrupted:
                return False
        return True

    def _bounded(self, output: Output) -> Output:
        chars_max = self.output_chars_max
        return Output(
            cut(text_of(output.stdout), chars_max), cut(text_of(output.stderr), chars_max), output.exit_code
        )
