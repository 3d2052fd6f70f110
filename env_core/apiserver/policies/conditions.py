"""`matchConditions`: whether a policy or a webhook looks at a write, said in CEL.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from env_core.apiserver.policies.evaluation import MATCH_BUDGET, Evaluation, OutOfBudget
from env_core.apiserver.policies.expressions import Compiled, Composition, compile_for
from env_core.cel import BOOL, CelError, Environment
from env_core.world import Object


@dataclass(frozen=True, slots=True)
class Matched:
    """Whether all conditions are met, or why that cannot be told."""

    is_met: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The compiled conditions of a policy or a webhook."""

    expressions: tuple[Compiled, ...]
    is_ignored_on_error: bool

    @classmethod
    def of(
        cls, conditions: Sequence[Mapping[str, Any]], environment: Environment, failure_policy: str | None
    ) -> Conditions:
        """Compile conditions."""
        compiled = tuple(compile_for(each["expression"], environment, BOOL) for each in conditions)
        return cls(compiled, failure_policy == "Ignore")

    def outcome(self, bindings: Object, composition: Composition | None = None) -> Matched:
        """Evaluate the conditions; one that is not met outweighs others that fail."""
        try:
            values = Evaluation(bindings, composition, MATCH_BUDGET).all(self.expressions)
        except OutOfBudget as problem:
            return self._unknown([str(problem)])
        if any(value is False for value in values):
            return Matched(False)
        texts = [value.message for value in values if isinstance(value, CelError)]
        return self._unknown(texts) if texts else Matched(True)

    def _unknown(self, texts: list[str]) -> Matched:
        if self.is_ignored_on_error:
            return Matched(False)
        texts = list(dict.fromkeys(texts))
        return Matched(False, texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
