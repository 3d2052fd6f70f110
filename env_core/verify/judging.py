"""The verdict on a repair, reached on forks: does it serve, is it in bounds, and does it stand what ordinary days bring?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from env_core.cluster import Cluster
from env_core.sim.work import VERDICT_MAX
from env_core.verify.checks import Check
from env_core.verify.trials import Trial
from env_core.verify.verdict import TOO_BUSY
from env_core.verify.view import View
from env_core.world import Interrupted

SETTLE_QUIET_MS = 16_000
"""Longer than the slowest look that a controller takes again by itself: 15 s, the volume binder's."""
SETTLE_TIMEOUT_MS = 120_000
STARTS_MS = 300_000
"""How long processes that take their time to start or stop, one after the other, are waited for."""
TRIAL_MS = 20_000
"""How long traffic runs after a trial before the checks are asked again."""


class Outcome(Enum):
    """What an incident came to, best first."""

    REPAIRED = "repaired"
    WORKAROUND = "workaround"
    """It serves within bounds, but a goal or a trial fails."""
    NOT_REPAIRED = "not repaired"
    HARMFUL = "harmful"


class Result(NamedTuple):
    """One named check: `phase` is "now" or the trial after which it was asked, `why` is "" when it held."""

    check: str
    phase: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What is asked of a world. `health`: the service works; `bounds`: nothing else was touched; `goals`: this incident's own."""

    health: tuple[Check, ...]
    bounds: tuple[Check, ...]
    goals: tuple[Check, ...]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An outcome that explains itself. Results after the first failing phase are missing: nothing is tried any more."""

    outcome: Outcome
    results: tuple[Result, ...]

    def reasons(self) -> list[str]:
        """Return why it is no repair, in the order of asking."""
        return [f"{entry.check} ({entry.phase}): {entry.why}" for entry in self.results if entry.why]


def judged(cluster: Cluster, asked: Examination, *, harm: Sequence[str] = ()) -> Judgement:
    """Return the verdict on `cluster` as it is now; nothing in it changes. `harm` says what cannot be made good.

    A cluster that has so much to do that it cannot be told is not repaired.
    """
    fork = cluster.fork()
    results = [Result("harm", "now", why) for why in harm]
    try:
        with fork.work.limited(VERDICT_MAX):
            outcome = _examined(fork, asked, results, is_harmed=bool(harm))
    except Interrupted:
        results.append(Result("rest", "now", TOO_BUSY))
        outcome = Outcome.NOT_REPAIRED
    return Judgement(outcome=Outcome.HARMFUL if harm else outcome, results=tuple(results))


def _examined(fork: Cluster, asked: Examination, results: list[Result], *, is_harmed: bool) -> Outcome:
    """Ask everything of a fork, add to `results` what was found, and return what it comes to but for harm.

    Raises:
        Interrupted: when it takes more work than a verdict may.
    """
    _settle(fork)
    health = _asked(fork, asked.health, "now")
    bounds = _asked(fork, asked.bounds, "now")
    goals = _asked(fork, asked.goals, "now")
    results += (*health, *bounds, *goals)
    serves = not any(entry.why for entry in (*health, *bounds))
    is_standing = serves and not any(entry.why for entry in goals) and not is_harmed
    for trial in asked.trials:
        if not is_standing:
            break
        why = trial.act(fork)
        if why:
            results.append(Result(trial.name, trial.name, why))
            is_standing = False
            break
        _settle(fork)
        fork.advance(TRIAL_MS)
        again = _asked(fork, (*asked.health, *asked.goals), trial.name)
        results += again
        is_standing = not any(entry.why for entry in again)
    if is_standing:
        return Outcome.REPAIRED
    return Outcome.WORKAROUND if serves else Outcome.NOT_REPAIRED


def _settle(fork: Cluster) -> None:
    """Let it come to rest; nothing is written while a process starts or stops, and yet it is not at rest."""
    end_ms = fork.now_ms + STARTS_MS
    while True:
        was_changing = _is_changing(fork)
        fork.settle(SETTLE_QUIET_MS, SETTLE_TIMEOUT_MS)
        if not (was_changing or _is_changing(fork)) or fork.now_ms >= end_ms:
            return


def _is_changing(fork: Cluster) -> bool:
    """Whether some process has not yet opened all of its ports, prepares its pod for others, or is being stopped."""
    for run in fork.runtime.runs.values():
        container = run.container
        if not run.is_running(fork.now_ms):
            continue
        if not all(run.listens_on(each.port, fork.now_ms) for each in run.launch.listeners):
            return True
        pod = fork.store.get("pods", container.namespace, container.pod)
        if pod is None:
            continue
        first = pod["spec"].get("initContainers") or ()
        if "deletionTimestamp" in pod["metadata"] or any(
            each["name"] == container.name and not each.get("restartPolicy") for each in first
        ):
            return True
    return False


def _asked(fork: Cluster, checks: Sequence[Check], phase: str) -> list[Result]:
    view = View(fork)
    found = []
    for check in checks:
        try:
            why = check.fails(view)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            # Fail closed: an object that a check cannot read is not the object that it should be.
            why = f"cannot be read: {type(error).__name__}: {error}"
        found.append(Result(check.name, phase, why))
    return found
