"""A compiled MutatingAdmissionPolicy, and what it makes of an object.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/mutating (compilation.go, patch/smd.go, patch/json_patch.go); the
texts are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import merge_type
from env_core.apiserver.managedfields.mergetypes import MergeType, Shape
from env_core.apiserver.managedfields.merging import merged, problems_text
from env_core.apiserver.policies.conditions import Conditions
from env_core.apiserver.policies.evaluation import BUDGET, Evaluation, OutOfBudget
from env_core.apiserver.policies.expressions import (
    APPLY_CONFIGURATION,
    JSON_PATCH,
    Compiled,
    Composition,
    admission_environment,
    compile_for,
    compose,
)
from env_core.cel import CelError, misnamed
from env_core.objects._patch_problem import PatchError
from env_core.objects.patch_json import apply_json_patch
from env_core.world import Object

_TEST_FAILED = "testing value"


class Failed(Exception):
    """A mutation could not be made; the text is the API server's."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mutation: an expression, and whether it makes a JSON patch or an apply configuration."""

    compiled: Compiled
    is_json_patch: bool


@dataclass(frozen=True, slots=True)
class CompiledMutations:
    """The expressions of a policy."""

    spec: Mapping[str, Any]
    composition: Composition
    conditions: Conditions | None
    mutations: tuple[Mutation, ...]

    @property
    def is_run_again(self) -> bool:
        """Whether the policy wants to see what was changed after it."""
        return self.spec.get("reinvocationPolicy") == "IfNeeded"

    def concerns(self, bindings: Object) -> bool:
        """Whether the match conditions are met.

        Raises:
            Failed: that cannot be told.
        """
        if self.conditions is None:
            return True
        matched = self.conditions.outcome(bindings, self.composition)
        if matched.error:
            raise Failed(matched.error)
        return matched.is_met

    def patched(self, mutation: Mutation, kind: Kind, bindings: Object) -> Object:
        """Return what one mutation makes of `object`, not defaulted.

        Raises:
            Failed: the expression or the patch cannot be used.
        """
        value = self._value(mutation, bindings)
        wrong = misnamed(mutation.compiled.text)
        if wrong:
            raise Failed(f"type mismatch: {wrong}")
        obj: Object = bindings["object"]
        if mutation.is_json_patch:
            return _json_patched(obj, value)
        return _applied(kind, obj, value)

    def _value(self, mutation: Mutation, bindings: Object) -> Any:
        try:
            (value,) = Evaluation(bindings, self.composition, BUDGET).all((mutation.compiled,))
        except OutOfBudget as problem:
            raise Failed(str(problem)) from None
        if isinstance(value, CelError):
            raise Failed(value.message)
        return value


def _json_patched(obj: Object, operations: Any) -> Object:
    patch = [
        {key: value for key, value in each.items() if key == "value" or value != ""} for each in operations
    ]
    try:
        patched: Object = apply_json_patch(obj, patch)
    except PatchError as problem:
        text = problem.why or problem.message
        if text.startswith(_TEST_FAILED):
            return obj  # a test that fails lets the object be as it is
        raise Failed(f"JSON Patch: {text}") from None
    return patched


def _applied(kind: Kind, obj: Object, configuration: Object) -> Object:
    type_ = merge_type(kind)
    whole = {**configuration, "apiVersion": obj.get("apiVersion"), "kind": obj.get("kind")}
    text = problems_text(type_, whole)
    if text:
        raise Failed(f"error applying patch: failed to convert patch object to typed object: {text}")
    atomics = list(_atomics(type_, configuration, ""))
    if atomics:
        what = f"may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
        raise Failed(f"error applying patch: invalid ApplyConfiguration: {what}")
    result: Object = merged(type_, obj, whole)
    return result


def _atomics(type_: MergeType, value: Any, path: str) -> Iterator[str]:
    """Yield the places of values that would take the place of a whole list or map."""
    if type_.shape is Shape.LEAF:
        if (isinstance(value, dict) and type_.scalar == "map") or (
            isinstance(value, list) and type_.scalar == "list"
        ):
            yield path
        return
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _atomics(type_.below(name), item, f"{path}.{name}")
    elif isinstance(value, list) and type_.element is not None:
        for index, item in enumerate(value):
            yield from _atomics(type_.element, item, f"{path}[{index}]")


def compiled_mutations(policy: Object) -> CompiledMutations:
    """Compile all expressions of a policy; those that do not compile say so when they are evaluated."""
    return _compiled(orjson.dumps(policy["spec"]))


@lru_cache(maxsize=128)
def _compiled(spec_json: bytes) -> CompiledMutations:
    spec = orjson.loads(spec_json)
    has_params = spec.get("paramKind") is not None
    base = admission_environment(has_params=has_params, has_authorizer=True)
    composition = compose(spec.get("variables") or (), base)
    full = composition.environment(
        admission_environment(has_params=has_params, has_authorizer=True, has_patches=True)
    )
    conditions = spec.get("matchConditions")
    return CompiledMutations(
        spec=spec,
        composition=composition,
        conditions=Conditions.of(conditions, composition.environment(base), spec.get("failurePolicy"))
        if conditions
        else None,
        mutations=tuple(
            Mutation(compile_for(each["jsonPatch"]["expression"], full, JSON_PATCH), is_json_patch=True)
            if each.get("patchType") == "JSONPatch"
            else Mutation(
                compile_for(each["applyConfiguration"]["expression"], full, APPLY_CONFIGURATION),
                is_json_patch=False,
            )
            for each in spec.get("mutations") or ()
        ),
    )
