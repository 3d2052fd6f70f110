"""Rules for the CEL expressions of admission policies and webhooks.

Source: k8s.io/kubernetes pkg/apis/admissionregistration/validation/validation.go, 1.37; texts in
tests/golden/promql/cel.jsonl.gz.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from env_core.apiserver.policies.expressions import (
    Compiled,
    admission_environment,
    compile_for,
    field_type,
    with_variables,
)
from env_core.cel import BOOL, NULL_TYPE, STRING, Environment, Type, escaped
from env_core.objects import names
from env_core.objects.problems import (
    INTERNAL,
    Problem,
    duplicate,
    invalid,
    required,
    too_many,
)
from env_core.world import Object

CONDITIONS_MAX: Final = 64
ANNOTATIONS_MAX: Final = 20
ANNOTATION_BYTES_MAX: Final = 5 * 1024
_NOT_SPECIFIED: Final = "expression is not specified"
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


@dataclass(slots=True)
class Expressions:
    """Compiles expressions one after another, the variables first; `stored` ones are under the older rules."""

    has_params: bool
    stored: frozenset[str] = frozenset()
    has_variables: bool = False
    fields: dict[str, Type] = field(default_factory=dict)

    def compile(
        self, text: str, *returns: Type, has_authorizer: bool = True, has_patches: bool = False
    ) -> Compiled:
        """Compile an expression that may use the variables so far."""
        base = self._base(text, has_authorizer=has_authorizer, has_patches=has_patches)
        if self.has_variables:
            base = with_variables(base, dict(self.fields))
        return compile_for(text, base, *returns)

    def compile_condition(self, text: str) -> Compiled:
        """Compile a match condition, which has no variables."""
        return compile_for(text, self._base(text, has_authorizer=True), BOOL)

    def _base(self, text: str, *, has_authorizer: bool, has_patches: bool = False) -> Environment:
        return admission_environment(
            has_params=self.has_params,
            has_authorizer=has_authorizer,
            is_new=text not in self.stored,
            has_patches=has_patches,
        )


def _compile_problems(compiled: Compiled, path: str, text: str) -> list[Problem]:
    problem = compiled.problem
    if problem is None:
        return []
    if problem.is_internal:
        return [Problem(INTERNAL, path, "", problem.message)]
    return [invalid(path, text, problem.message)]


def condition_problems(conditions: Sequence[Object], expressions: Expressions, path: str) -> list[Problem]:
    """Check match conditions."""
    found: list[Problem] = []
    if len(conditions) > CONDITIONS_MAX:
        found.append(too_many(path, len(conditions), CONDITIONS_MAX))
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at = f"{path}[{index}]"
        text, name = (condition.get("expression") or "").strip(), condition.get("name") or ""
        if text:
            found += _compile_problems(expressions.compile_condition(text), f"{at}.expression", text)
        else:
            found.append(required(f"{at}.expression"))
        if not name:
            found.append(required(f"{at}.name"))
            continue
        found += [invalid(f"{at}.name", name, complaint) for complaint in names.is_qualified_name(name)]
        if name in seen:
            found.append(duplicate(f"{at}.name", name))
        seen.add(name)
    return found


def variable_problems(variables: Sequence[Object], expressions: Expressions, path: str) -> list[Problem]:
    """Check the variables of a policy and make them known to the other expressions."""
    found: list[Problem] = []
    for index, variable in enumerate(variables):
        at = f"{path}[{index}]"
        name, text = variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            found.append(required(f"{at}.name", "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name) or escaped(name) == f"__{name}__":
            found.append(invalid(f"{at}.name", name, "name is not a valid CEL identifier"))
        if not text.strip():
            found.append(required(f"{at}.expression", _NOT_SPECIFIED))
            continue
        compiled = expressions.compile(text)
        expressions.fields[name] = field_type(compiled.output)
        found += _compile_problems(compiled, f"{at}.expression", text)
    return found


def mutation_problems(text: str, expressions: Expressions, path: str, *returns: Type) -> list[Problem]:
    """Check the expression of a mutation, which must evaluate to a patch."""
    return _compile_problems(expressions.compile(text, *returns, has_patches=True), path, text)


def validation_problems(validation: Object, expressions: Expressions, path: str) -> list[Problem]:
    """Check the expression and the message of a validation."""
    found: list[Problem] = []
    text = validation.get("expression") or ""
    if text.strip():
        found += _compile_problems(expressions.compile(text, BOOL), f"{path}.expression", text)
    else:
        found.append(required(f"{path}.expression", _NOT_SPECIFIED))
    text = validation.get("messageExpression") or ""
    if text.strip():
        compiled = expressions.compile(text, STRING, has_authorizer=False)
        found += _compile_problems(compiled, f"{path}.messageExpression", text)
    elif text:
        found.append(invalid(f"{path}.messageExpression", text, "must be non-empty if specified"))
    text = validation.get("message") or ""
    if text and not text.strip():
        found.append(invalid(f"{path}.message", text, "message must be non-empty if specified"))
    elif "\n" in text.strip() or "\r" in text.strip():
        found.append(invalid(f"{path}.message", text, "must not contain line breaks"))
    return found


def annotation_problems(
    annotations: Sequence[Object], expressions: Expressions, policy: str, path: str
) -> list[Problem]:
    """Check the audit annotations of a policy."""
    found: list[Problem] = []
    if len(annotations) > ANNOTATIONS_MAX:
        text = f"must not have more than {ANNOTATIONS_MAX} auditAnnotations"
        found.append(invalid(path, list(annotations), text))
    seen: set[str] = set()
    for index, annotation in enumerate(annotations):
        at, key = f"{path}[{index}]", annotation.get("key") or ""
        qualified = f"{policy}/{key}"
        found += [
            invalid(f"{at}.key", qualified, complaint) for complaint in names.is_qualified_name(qualified)
        ]
        found += _value_problems(
            annotation.get("valueExpression") or "", expressions, f"{at}.valueExpression"
        )
        if key in seen:
            found.append(duplicate(f"{at}.key", key))
        seen.add(key)
    return found


def _value_problems(text: str, expressions: Expressions, path: str) -> list[Problem]:
    trimmed = text.strip()
    if not trimmed:
        return [required(path, "valueExpression is not specified")]
    if len(trimmed.encode()) > ANNOTATION_BYTES_MAX:
        return [required(path, f"must not exceed {ANNOTATION_BYTES_MAX} bytes in length")]
    return _compile_problems(expressions.compile(trimmed, STRING, NULL_TYPE), path, text)
