"""promql/cel: CEL expressions alone, and the ValidatingAdmissionPolicy that has one as its only validation.

As recorded, alice may only `get`, and policies are evaluated even where the API server would not store them. Audit
annotations under Kubernetes' own key (what the action Audit leaves) are not in the recordings.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from env_core.apiserver.admission.validating_admission_policy import ADMISSION, FAILURE_KEY
from env_core.apiserver.errors import StatusError, invalid
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.policies.evaluation import Variables
from env_core.apiserver.policies.expressions import admission_environment, compile_for, compose
from env_core.apiserver.policies.requests import bindings_of, namespace_object
from env_core.apiserver.policies.type_checking import type_warnings
from env_core.apiserver.request import NO_OPTIONS, Identity
from env_core.apiserver.strict import decode
from env_core.cel import CelError
from env_core.cel._conversions import rfc3339_nano
from env_core.cel._values import Duration, Timestamp, type_name
from env_core.kinds.validatingadmissionpolicy import KIND as POLICY
from env_core.kinds.validatingadmissionpolicybinding import KIND as BINDING
from env_core.world import Object
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import registry, server

ANSWERS: Final = (
    "createError", "createErrors", "typeCheckingWarnings", "compileError", "outputType", "valueType", "value", "valueText",
    "evalError", "cost", "allowed", "status", "warnings", "auditAnnotations",
)  # fmt: skip
_ALICE: Final = Identity("alice", ("dev", "system:authenticated"))
_NAME: Final = "demo-policy.example.com"
_NANOS: Final = 7
_SAFE_MAX: Final = 2**53
_NAMESPACE: Final[Object] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"env": "prod"}},
    "spec": {},
    "status": {},
}
_LIMITS: Final[Object] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "shop"},
    "data": {"maxReplicas": "5", "registry": "registry.example.com/"},
}


@dataclass(frozen=True, slots=True)
class _GetOnly:
    """Both the judge of an expression and the authorizer of the server: only `get` is allowed."""

    def decide(self, _identity: Identity, verb: str, *_what: str) -> _Answer:
        return _Answer(*self.path(verb))

    decide_path = decide

    def of_service_account(self, _namespace: str, _name: str) -> _GetOnly:
        return self

    def path(self, verb: str, *_what: str) -> tuple[bool, str]:
        return (True, "RBAC: allowed") if verb == "get" else (False, "")

    resource = path


@dataclass(frozen=True, slots=True)
class _Answer:
    is_allowed: bool
    reason: str


class _NoJson(Exception):
    """The value has no JSON form."""


def _json(value: Any) -> Any:
    """Return the protobuf JSON of a value."""
    if isinstance(value, list):
        return [_json(each) for each in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise _NoJson
        return {key: _json(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Duration):
        seconds, rest = divmod(abs(value.nanoseconds), 10**9)
        sign = "-" if value.nanoseconds < 0 else ""
        return f"{sign}{seconds}{f'.{rest:09d}' if rest else ''}s"
    if isinstance(value, Timestamp):
        return rfc3339_nano(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_MAX:
        return str(int(value))
    if isinstance(value, (bool, int, str, float)) or value is None:
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            raise _NoJson
        return value
    raise _NoJson


def _text(value: Any) -> str:
    """Return how Go's %v prints a value that has no JSON form."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{_text(key)}:{_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, float):
        return "+Inf" if value > 0 else "-Inf"
    return str(value)


def _alone(record: Record, attributes: Attributes, judge: _GetOnly) -> Record:
    """Evaluate the expression without the policy around it."""
    policy = record["policy"]
    base = admission_environment(has_params="params" in policy, has_authorizer=True)
    composition = compose(policy.get("variables") or (), base)
    compiled = compile_for(policy["expression"], composition.environment(base))
    if compiled.program is None:
        return {"compileError": str(compiled.problem)}
    got: Record = {"outputType": str(compiled.program.output)}
    params = _LIMITS if "params" in policy else None
    bindings = bindings_of(attributes, judge, params) | {"namespaceObject": namespace_object(attributes)}
    variables = Variables(composition.compiled, bindings)
    outcome = compiled.program.counted({**bindings, "variables": variables})
    cost = outcome.cost + variables.spent()
    if cost:
        got["cost"] = cost
    if isinstance(outcome.value, CelError):
        text = f"expression '{policy['expression']}' resulted in error: {outcome.value.message}"
        return {**got, "evalError": text}
    got["valueType"] = type_name(outcome.value)
    try:
        got["value"] = _json(outcome.value)
    except _NoJson:
        got["valueText"] = _text(outcome.value)
    return got


def _policy(record: Record, group: str, version: str, plural: str) -> Object:
    policy = record["policy"]
    validation = {
        key: policy[key] for key in ("expression", "message", "messageExpression", "reason") if key in policy
    }
    rule = {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["*"],
        "resources": [plural],
    }
    spec: Object = {
        "failurePolicy": policy.get("failurePolicy", "Fail"),
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [validation] if policy["expression"] else [],
    }
    for key in ("variables", "matchConditions", "auditAnnotations"):
        if key in policy:
            spec[key] = policy[key]
    if "params" in policy:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    made = {
        "apiVersion": POLICY.api_version,
        "kind": POLICY.kind,
        "metadata": {"name": _NAME, "resourceVersion": "1"},
        "spec": spec,
    }
    return POLICY.default(made)


def _binding(record: Record) -> Object:
    spec: Object = {
        "policyName": _NAME,
        "validationActions": record["policy"].get("validationActions", ["Deny"]),
    }
    if "params" in record["policy"]:
        spec["paramRef"] = {"name": "limits", "namespace": "shop", "parameterNotFoundAction": "Deny"}
    return {
        "apiVersion": BINDING.api_version,
        "kind": BINDING.kind,
        "metadata": {"name": "demo-binding.example.com"},
        "spec": spec,
    }


def _judge(record: Record, folder: Folder) -> Comparison:
    objects = folder.companion("promql/cel_objects.json")
    shown = objects[record["object"] or record["oldObject"]]
    kind = registry().by_gvk(shown["apiVersion"], shown["kind"])
    assert kind is not None

    def read(name: str) -> Object | None:
        if not name:
            return None
        body = json.loads(json.dumps(objects[name]))
        return decode(body, kind.group, kind.version, kind.kind, "Ignore").object

    new, old = read(record["object"]), read(record.get("oldObject", ""))
    policy = _policy(record, kind.group, kind.version, kind.plural)
    made = server([_NAMESPACE, _LIMITS, policy, _binding(record)])
    judge = made.authorizer = _GetOnly()  # type: ignore[assignment]
    metadata = shown["metadata"]
    attributes = Attributes(
        record["operation"], kind, metadata.get("namespace", ""), metadata["name"], "", new, old, _ALICE,
        NO_OPTIONS, made.store, made.streams, made.loop.now_ms, made,
    )  # fmt: skip
    got = _alone(record, attributes, judge) if record["policy"]["expression"] else {}
    problems = POLICY.validate(policy)
    if problems:
        got["createError"] = invalid(POLICY.group, POLICY.kind, _NAME, problems).message
        got["createErrors"] = [problem.text() for problem in problems]
    warnings = type_warnings(policy, _NANOS)
    if warnings:
        got["typeCheckingWarnings"] = [
            {**each, "warning": re.sub(rf"\b([A-Z]\w*?){_NANOS}\b", r"\1<nanos>", each["warning"])}
            for each in warnings
        ]
    assert ADMISSION.validate is not None
    try:
        ADMISSION.validate(attributes)
        got["allowed"] = True
    except StatusError as error:
        got["allowed"] = False
        got["status"] = {
            key: value for key, value in error.status.items() if key not in ("apiVersion", "kind")
        }
    if made.remarks.warnings:
        got["warnings"] = made.remarks.warnings
    notes = {key: text for key, text in made.remarks.annotations.items() if key != FAILURE_KEY}
    if notes:
        got["auditAnnotations"] = notes
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="promql/cel", files=("promql/cel.jsonl",), answers=ANSWERS, judge=_judge)
