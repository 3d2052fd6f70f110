"""The CEL expressions of admission policies and webhooks: what they may use, and what compiling one comes to.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/cel/{compile,composition}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from env_core.cel import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL_TYPE,
    STRING,
    TIMESTAMP,
    CompileProblem,
    Environment,
    Program,
    Type,
    checked_type,
    compile_expression,
    list_of,
    map_of,
    struct,
)
from env_core.cel.libraries.authorizer import AUTHORIZER, RESOURCE_CHECK

REQUEST: Final = struct("kubernetes.AdmissionRequest")
NAMESPACE: Final = struct("kubernetes.Namespace")
VARIABLES: Final = struct("kubernetes.variables")
_KIND: Final = struct("kubernetes.GroupVersionKind")
_RESOURCE: Final = struct("kubernetes.GroupVersionResource")
_USER: Final = struct("kubernetes.UserInfo")
_NAMESPACE_META: Final = struct("kubernetes.NamespaceMetadata")
_NAMESPACE_SPEC: Final = struct("kubernetes.NamespaceSpec")
_NAMESPACE_STATUS: Final = struct("kubernetes.NamespaceStatus")
_NAMESPACE_CONDITION: Final = struct("kubernetes.NamespaceCondition")
_STRINGS: Final = list_of(STRING)
_TEXTS: Final = map_of(STRING, STRING)

OBJECTS: Final[Mapping[str, Mapping[str, Type]]] = {
    _KIND.name: {"group": STRING, "version": STRING, "kind": STRING},
    _RESOURCE.name: {"group": STRING, "version": STRING, "resource": STRING},
    _USER.name: {"username": STRING, "uid": STRING, "groups": _STRINGS, "extra": map_of(STRING, _STRINGS)},
    REQUEST.name: {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": STRING,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
    NAMESPACE.name: {"metadata": _NAMESPACE_META, "spec": _NAMESPACE_SPEC, "status": _NAMESPACE_STATUS},
    _NAMESPACE_META.name: {
        "name": STRING,
        "generateName": STRING,
        "namespace": STRING,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "UID": STRING,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": STRING,
        "finalizers": _STRINGS,
    },
    _NAMESPACE_SPEC.name: {"finalizers": _STRINGS},
    _NAMESPACE_STATUS.name: {"conditions": list_of(_NAMESPACE_CONDITION), "phase": STRING},
    _NAMESPACE_CONDITION.name: {
        "status": STRING,
        "type": STRING,
        "lastTransitionTime": TIMESTAMP,
        "message": STRING,
        "reason": STRING,
    },
}
"""The object types that every environment of admission has."""

_KEPT_TYPES: Final = frozenset(
    {BOOL, BYTES, DOUBLE, DURATION, INT, NULL_TYPE, STRING, TIMESTAMP, Type("uint", "uint")}
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression with its program, or with what stops it from becoming one."""

    text: str
    program: Program | None
    problem: CompileProblem | None = None

    @property
    def output(self) -> Type | None:
        """The type of the value, None without a program."""
        return None if self.program is None else self.program.output


APPLY_CONFIGURATION: Final = struct("Object")
JSON_PATCH: Final = list_of(struct("JSONPatch"))
"""What the expressions of mutations must evaluate to."""


@lru_cache(maxsize=16)
def admission_environment(
    *, has_params: bool, has_authorizer: bool, is_new: bool = False, has_patches: bool = False
) -> Environment:
    """Return what the expressions of admission may use.

    Args:
        has_params: whether there is `params`.
        has_authorizer: whether there are `authorizer` and `authorizer.requestResource`.
        is_new: whether what only stored expressions may use is refused.
        has_patches: whether there are the types that mutations are made of.
    """
    variables = {"object": DYN, "oldObject": DYN, "namespaceObject": NAMESPACE, "request": REQUEST}
    if has_params:
        variables["params"] = DYN
    if has_authorizer:
        variables |= {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK}
    return Environment(variables, OBJECTS, is_new, has_patches)


def compile_for(text: str, environment: Environment, *returns: Type) -> Compiled:
    """Compile an expression that must evaluate to one of the types given, to any if there are none."""
    try:
        program = compile_expression(text, environment)
    except CompileProblem as problem:
        if problem.is_internal:
            mismatch = _mismatch(checked_type(text, environment), returns)
            problem = problem if mismatch is None else mismatch
        return Compiled(text, None, problem)
    mismatch = _mismatch(program.output, returns)
    return Compiled(text, program) if mismatch is None else Compiled(text, None, mismatch)


def _mismatch(output: Type, returns: tuple[Type, ...]) -> CompileProblem | None:
    if not returns or output in returns:
        return None
    wanted = str(returns[0]) if len(returns) == 1 else f"one of [{' '.join(map(str, returns))}]"
    return CompileProblem(f"must evaluate to {wanted} but got {output}")


@dataclass(frozen=True, slots=True)
class Composition:
    """The variables of a policy, each of which may use those before it."""

    compiled: Mapping[str, Compiled]
    fields: Mapping[str, Type]

    def environment(self, base: Environment) -> Environment:
        """Return `base` with `variables`."""
        return with_variables(base, self.fields)


def with_variables(base: Environment, fields: Mapping[str, Type]) -> Environment:
    """Return an environment in which `variables` has these fields."""
    return base.with_variables({"variables": VARIABLES}, {VARIABLES.name: fields})


def compose(variables: Sequence[Mapping[str, Any]], base: Environment) -> Composition:
    """Compile the variables of a policy in their order."""
    compiled: dict[str, Compiled] = {}
    fields: dict[str, Type] = {}
    for variable in variables:
        name = variable["name"]
        made = compile_for(variable["expression"], with_variables(base, dict(fields)))
        compiled[name] = made
        fields[name] = field_type(made.output)
    return Composition(compiled, fields)


def field_type(output: Type | None) -> Type:
    """Return the type that a variable has for other expressions: simple types, lists and maps are kept."""
    if output is None:
        return DYN
    if output in _KEPT_TYPES:
        return output
    if output.kind == "list":
        return list_of(field_type(output.parameters[0]))
    if output.kind == "map":
        return map_of(*map(field_type, output.parameters))
    return DYN
