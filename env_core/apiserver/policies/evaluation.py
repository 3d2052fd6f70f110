"""Evaluates the expressions of a policy one after another, as far as the budget goes.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/cel/{activation,composition,condition}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from env_core.apiserver.policies.expressions import Compiled, Composition
from env_core.cel import CelError, LazyMap
from env_core.objects.problems import quoted

BUDGET: Final = 10_000_000
"""What all validations of a policy may cost together, and all its messages with them."""
MATCH_BUDGET: Final = 2_500_000
"""What all match conditions may cost together.

Source of both: k8s.io/apiserver v0.37 pkg/apis/cel/config.go.
"""
_SPENT: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


class OutOfBudget(Exception):
    """The expressions cost more than all of them together may."""

    def __init__(self) -> None:
        super().__init__(_SPENT)


class Variables(LazyMap):
    """`variables`: each is evaluated when it is first asked for."""

    __slots__ = ("_bindings", "_compiled", "_known", "_spent")

    def __init__(self, compiled: Mapping[str, Compiled], bindings: Mapping[str, Any]) -> None:
        self._bindings = {**bindings, "variables": self}
        self._compiled = compiled
        self._known: dict[str, Any] = {}
        self._spent = 0

    def find(self, key: str) -> tuple[Any, bool]:
        """Return the value of a variable, and whether there is one of that name."""
        if key not in self._known:
            compiled = self._compiled.get(key)
            if compiled is None:
                return None, False
            self._known[key] = self._value(key, compiled)
        return self._known[key], True

    def _value(self, name: str, compiled: Compiled) -> Any:
        if compiled.program is None:
            return CelError(f"composited variable {quoted(name)} fails to compile: {compiled.problem}")
        outcome = compiled.program.counted(self._bindings)
        self._spent += outcome.cost
        if isinstance(outcome.value, CelError):
            return CelError(f"composited variable {quoted(name)} fails to evaluate: {outcome.value.message}")
        return outcome.value

    def spent(self) -> int:
        """Return what variables have cost since this was last asked."""
        spent, self._spent = self._spent, 0
        return spent


class Evaluation:
    """Evaluates expressions over the same bindings; `left` is what they may still cost together."""

    __slots__ = ("_bindings", "_variables", "left")

    def __init__(self, bindings: Mapping[str, Any], composition: Composition | None, budget: int) -> None:
        self._variables = Variables({} if composition is None else composition.compiled, bindings)
        self._bindings = {**bindings, "variables": self._variables}
        self.left = budget

    def all(self, expressions: Iterable[Compiled | None]) -> list[Any]:
        """Return the value of each expression, or a `CelError` in the API server's words; None for None.

        Raises:
            OutOfBudget: the budget is spent.
        """
        return [None if each is None else self._one(each) for each in expressions]

    def _one(self, expression: Compiled) -> Any:
        if expression.program is None:
            return CelError(f"compilation error: {expression.problem}")
        outcome = expression.program.counted(self._bindings)
        for cost in (self._variables.spent(), outcome.cost):
            if cost > self.left:
                raise OutOfBudget
            self.left -= cost
        if isinstance(outcome.value, CelError):
            return CelError(f"expression '{expression.text}' resulted in error: {outcome.value.message}")
        return outcome.value
