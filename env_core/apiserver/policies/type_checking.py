"""Checks the expressions of a policy against the types that it matches; what is found goes into its status.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from env_core.apiserver.policies._declared_types import declared_types
from env_core.apiserver.policies.expressions import NAMESPACE, OBJECTS, REQUEST, field_type, with_variables
from env_core.apiserver.schema import resources, schema_for
from env_core.cel import DYN, CompileProblem, Environment, Type, checked_type, struct
from env_core.cel.libraries.authorizer import AUTHORIZER
from env_core.world import Object

TYPES_MAX: Final = 10


@dataclass(frozen=True, slots=True, order=True)
class _Gvk:
    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        """Return the form that Go prints."""
        return f"{self.group}/{self.version}, Kind={self.kind}"


def type_warnings(policy: Object, nanoseconds: int) -> list[Object]:
    """Return `status.typeChecking.expressionWarnings`.

    Args:
        policy: a ValidatingAdmissionPolicy.
        nanoseconds: of the current second; the generated names of types end in it.
    """
    spec = policy["spec"]
    environments = [(gvk, _environment(spec, gvk, nanoseconds)) for gvk in _types_to_check(spec)]
    warnings: list[Object] = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for field in ("expression", "messageExpression"):
            text = validation.get(field)
            found = [_complaint(text, environment) for _, environment in environments] if text else []
            lines = [
                f"{gvk}: {complaint}\n"
                for (gvk, _), complaint in zip(environments, found, strict=False)
                if complaint
            ]
            if lines:
                warnings.append(
                    {"fieldRef": f"spec.validations[{index}].{field}", "warning": "\n".join(lines)}
                )
    return warnings


def _complaint(text: str, environment: Environment) -> str:
    try:
        checked_type(text, environment)
    except CompileProblem as problem:
        return problem.message
    return ""


def _environment(spec: Mapping[str, Any], gvk: _Gvk, nanoseconds: int) -> Environment:
    objects: dict[str, Mapping[str, Type]] = dict(OBJECTS)
    variables = {"namespaceObject": NAMESPACE, "request": REQUEST, "authorizer": AUTHORIZER}
    variables["object"] = variables["oldObject"] = _declared(gvk, nanoseconds, objects)
    param_kind = spec.get("paramKind")
    if param_kind is not None:
        group, _, version = (param_kind.get("apiVersion") or "").rpartition("/")
        named = _Gvk(group, version, param_kind.get("kind") or "")
        variables["params"] = _declared(named, nanoseconds, objects)
    base = Environment(variables, objects)
    fields: dict[str, Type] = {}
    for variable in spec.get("variables") or ():
        try:
            output: Type | None = checked_type(variable["expression"], with_variables(base, dict(fields)))
        except CompileProblem:
            output = None
        fields[variable["name"]] = field_type(output)
    return with_variables(base, fields)


def _declared(gvk: _Gvk, nanoseconds: int, objects: dict[str, Mapping[str, Type]]) -> Type:
    schema = schema_for(gvk.group, gvk.version, gvk.kind)
    if schema is None:
        return DYN
    name = f"{gvk.kind}{nanoseconds}"
    objects.update(declared_types(schema, name))
    return struct(name)


def _types_to_check(spec: Mapping[str, Any]) -> list[_Gvk]:
    found: set[_Gvk] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        for gvk, _ in zip(_rule_types(rule), range(TYPES_MAX), strict=False):
            found.add(gvk)
        if len(found) >= TYPES_MAX:
            break
    return [gvk for gvk in sorted(found) if schema_for(gvk.group, gvk.version, gvk.kind) is not None]


def _rule_types(rule: Mapping[str, Any]) -> Iterator[_Gvk]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in text for text in (*groups, *versions)):
        return
    plurals = [text for text in rule.get("resources") or () if "*" not in text and "/" not in text]
    for group in sorted(groups):
        for version in sorted(versions):
            for plural in sorted(plurals):
                yield from _kinds_for(group, version, plural)


def _kinds_for(group: str, version: str, plural: str) -> Iterator[_Gvk]:
    """Yield the kinds of a resource as the REST mapper finds them; the core group stands for any."""
    for row in resources():
        if row["plural"] == plural and row["version"] == version and group in ("", row["group"]):
            yield _Gvk(row["group"], row["version"], row["kind"])
