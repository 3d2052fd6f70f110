"""Everything about one incident that does not change while it is worked on."""

from __future__ import annotations

from dataclasses import dataclass, field

from env_core.cluster import Cluster
from env_core.suites._model import ResetOptions
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Baseline, Elsewhere, everything_kept


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
