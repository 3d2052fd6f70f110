"""A compiled ValidatingAdmissionPolicy, and what it says to a write.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/validating/{plugin,validator}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson

from env_core.apiserver.policies.conditions import Conditions
from env_core.apiserver.policies.evaluation import BUDGET, Evaluation, OutOfBudget
from env_core.apiserver.policies.expressions import (
    Compiled,
    Composition,
    admission_environment,
    compile_for,
    compose,
)
from env_core.cel import BOOL, NULL_TYPE, STRING, CelError
from env_core.world import Object

INVALID: Final = "Invalid"
MESSAGE_BYTES_MAX: Final = 5 * 1024


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a validation says no: its message, the reason of the answer, the index of the validation."""

    message: str
    reason: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """What a policy says of one write: denials, audit annotations (key, value), errors of the latter."""

    denials: tuple[Denial, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    annotation_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """The expressions of a policy."""

    spec: Mapping[str, Any]
    composition: Composition
    conditions: Conditions | None
    validations: tuple[Compiled, ...]
    messages: tuple[Compiled | None, ...]
    annotations: tuple[Compiled, ...]

    @property
    def is_ignored_on_error(self) -> bool:
        """Whether the write goes on where an expression cannot be evaluated."""
        return self.spec.get("failurePolicy") == "Ignore"

    def findings(self, bindings: Object, namespace: Object | None) -> Findings:
        """Evaluate the policy.

        Args:
            bindings: the variables, `namespaceObject` null, as match conditions see them.
            namespace: what `namespaceObject` is to everything else.
        """
        if self.conditions is not None:
            matched = self.conditions.outcome(bindings, self.composition)
            if matched.error:
                return self._failed(matched.error)
            if not matched.is_met:
                return Findings()
        bindings = {**bindings, "namespaceObject": namespace}
        evaluation = Evaluation(bindings, self.composition, BUDGET)
        try:
            values = evaluation.all(self.validations)
        except OutOfBudget as problem:
            return self._failed(str(problem))
        messages = self._messages(bindings, evaluation.left)
        denials = []
        for index, value in enumerate(values):
            denial = self._denial(index, value, messages)
            if denial is not None:
                denials.append(denial)
        try:
            notes = Evaluation(bindings, self.composition, BUDGET).all(self.annotations)
        except OutOfBudget as problem:
            return self._failed(str(problem))
        return Findings(tuple(denials), *self._annotated(notes))

    def _failed(self, message: str) -> Findings:
        return Findings() if self.is_ignored_on_error else Findings((Denial(message),))

    def _messages(self, bindings: Object, budget: int) -> list[Any] | str:
        """Return the values of the message expressions, or why there are none."""
        try:
            return Evaluation(bindings, self.composition, budget).all(self.messages)
        except OutOfBudget as problem:
            return f"failed messageExpression: {problem}"

    def _denial(self, index: int, value: Any, messages: list[Any] | str) -> Denial | None:
        problem = value.message if isinstance(value, CelError) else messages
        if isinstance(problem, str):
            return None if self.is_ignored_on_error else Denial(problem, index=index)
        if value is True:
            return None
        validation = self.spec["validations"][index]
        text = _usable(problem[index])
        text = text or (validation.get("message") or "").strip()
        text = text or f"failed expression: {validation['expression'].strip()}"
        return Denial(text, validation.get("reason") or INVALID, index)

    def _annotated(self, values: list[Any]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        annotations: list[tuple[str, str]] = []
        problems: list[str] = []
        for annotation, value in zip(self.spec.get("auditAnnotations") or (), values, strict=True):
            if isinstance(value, CelError):
                if not self.is_ignored_on_error:
                    problems.append(value.message)
            elif isinstance(value, str) and value.strip():
                annotations.append((annotation["key"], value.strip()))
        return tuple(annotations), tuple(problems)


def _usable(message: Any) -> str:
    """Return what a message expression came to where it may be shown, else ""."""
    if not isinstance(message, str):
        return ""
    text = message.strip()
    return "" if "\n" in text or len(text.encode()) > MESSAGE_BYTES_MAX else text


def compiled_policy(policy: Object) -> CompiledPolicy:
    """Compile all expressions of a policy; those that do not compile say so when they are evaluated."""
    return _compiled(orjson.dumps(policy["spec"]))


@lru_cache(maxsize=128)
def _compiled(spec_json: bytes) -> CompiledPolicy:
    spec = orjson.loads(spec_json)
    has_params = spec.get("paramKind") is not None
    base = admission_environment(has_params=has_params, has_authorizer=True)
    composition = compose(spec.get("variables") or (), base)
    full = composition.environment(base)
    plain = composition.environment(admission_environment(has_params=has_params, has_authorizer=False))
    validations = spec.get("validations") or ()
    conditions = spec.get("matchConditions")
    texts = [validation.get("messageExpression") for validation in validations]
    return CompiledPolicy(
        spec=spec,
        composition=composition,
        conditions=Conditions.of(conditions, full, spec.get("failurePolicy")) if conditions else None,
        validations=tuple(compile_for(each["expression"], full, BOOL) for each in validations),
        messages=tuple(compile_for(text, plain, STRING) if text else None for text in texts),
        annotations=tuple(
            compile_for(each["valueExpression"], full, STRING, NULL_TYPE)
            for each in spec.get("auditAnnotations") or ()
        ),
    )
