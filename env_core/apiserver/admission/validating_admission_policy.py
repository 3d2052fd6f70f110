"""ValidatingAdmissionPolicy: rules in CEL that a cluster's administrators write.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/validating/dispatcher.go; texts in
tests/golden/promql/cel.jsonl.gz and tests/golden/l2/errors.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.errors import StatusError
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.policies.matching import SUBRESOURCES, is_exempt, matches
from env_core.apiserver.policies.parameters import Misconfigured, parameter_kind, parameters_of
from env_core.apiserver.policies.policy import INVALID, CompiledPolicy, Denial, Findings, compiled_policy
from env_core.apiserver.policies.requests import UserJudge, bindings_of, namespace_object
from env_core.apiserver.server import ApiServer
from env_core.objects.jsonout import quote, to_compact_json
from env_core.world import Object

POLICIES: Final = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS: Final = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
FAILURE_KEY: Final = "validation.policy.admission.k8s.io/validation_failure"
FAILURES_MAX: Final = 50
ANNOTATION_LENGTH_MAX: Final = 10 * 1024
_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}


@dataclass(slots=True)
class _Dispatch:
    """One write on its way through all policies."""

    attributes: Attributes
    server: ApiServer
    bindings: Object
    denied: list[tuple[str, Denial]] = field(default_factory=list)
    failures: list[Object] = field(default_factory=list)

    def misconfigured(self, policy: Object, binding: Object | None, why: Misconfigured) -> None:
        """Deny a write that a policy cannot be evaluated for, unless such failures are ignored."""
        if policy["spec"].get("failurePolicy") != "Ignore":
            what = "policy" if binding is None else "binding"
            self.denied.append((_who(policy, binding), Denial(f"failed to configure {what}: {why}")))

    def evaluate(self, policy: Object, bindings: Iterable[Object]) -> None:
        """Evaluate a policy that looks at the write."""
        try:
            kind = parameter_kind(policy["spec"].get("paramKind"), self.server.registry)
        except Misconfigured as problem:
            self.misconfigured(policy, None, problem)
            return
        compiled = compiled_policy(policy)
        namespace = namespace_object(self.attributes)
        annotations: dict[str, list[str]] = {}
        for binding in bindings:
            if not matches(binding["spec"].get("matchResources") or {}, self.attributes):
                continue
            try:
                all_parameters = parameters_of(kind, binding["spec"].get("paramRef"), self.attributes)
            except Misconfigured as problem:
                self.misconfigured(policy, binding, problem)
                continue
            for parameters in all_parameters:
                self._apply(policy, binding, compiled, parameters, namespace, annotations)
        for key, values in annotations.items():
            self.server.remarks.annotations[f"{policy['metadata']['name']}/{key}"] = ", ".join(values)

    def _apply(
        self,
        policy: Object,
        binding: Object,
        compiled: CompiledPolicy,
        parameters: Object | None,
        namespace: Any,
        annotations: dict[str, list[str]],
    ) -> None:
        found = compiled.findings({**self.bindings, "params": parameters}, namespace)
        for denial in found.denials:
            for action in binding["spec"].get("validationActions") or ():
                self._act(action, policy, binding, denial)
        self._annotate(found, annotations)
        self.denied += [(_who(policy, binding), Denial(text)) for text in found.annotation_errors]

    def _act(self, action: str, policy: Object, binding: Object, denial: Denial) -> None:
        name, bound = policy["metadata"]["name"], binding["metadata"]["name"]
        if action == "Deny":
            self.denied.append((_who(policy, binding), denial))
        elif action == "Warn":
            self.server.remarks.warn(
                f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {denial.message}"
            )
        elif action == "Audit":
            self.failures.append(
                {
                    "message": denial.message,
                    "policy": name,
                    "binding": bound,
                    "expressionIndex": denial.index,
                    "validationActions": binding["spec"]["validationActions"],
                }
            )

    def _annotate(self, found: Findings, annotations: dict[str, list[str]]) -> None:
        for key, value in found.annotations:
            values = annotations.setdefault(key, [])
            cut = value.encode()[:ANNOTATION_LENGTH_MAX].decode(errors="ignore")
            if cut not in values:
                values.append(cut)

    def finish(self) -> None:
        """Keep the audit's failures and refuse what is denied."""
        if self.failures:
            shown = ",".join(map(_as_json, self.failures[:FAILURES_MAX]))
            self.server.remarks.annotations[FAILURE_KEY] = f"[{shown}]"
        if self.denied:
            raise _refused(self.attributes, *self.denied[0])


def _as_json(failure: Object) -> str:
    return f"{{{','.join(f'{quote(key)}:{to_compact_json(value)}' for key, value in failure.items())}}}"


def _who(policy: Object, binding: Object | None) -> str:
    text = f"ValidatingAdmissionPolicy '{policy['metadata']['name']}'"
    return text if binding is None else f"{text} with binding '{binding['metadata']['name']}'"


def _refused(attributes: Attributes, who: str, denial: Denial) -> StatusError:
    message = f"{who} denied request: {denial.message}"
    error = refusal(attributes, message)
    reason = denial.reason or INVALID
    details = {**error.status["details"], "causes": [{"message": message}]}
    return StatusError(
        {**error.status, "reason": reason, "code": _CODES.get(reason, 422), "details": details}
    )


def _validate(attributes: Attributes) -> None:
    store = attributes.store
    if not store.last_write(BINDINGS) or is_exempt(attributes):
        return
    bound: dict[str, list[Object]] = {}
    for binding in store.list(BINDINGS):
        bound.setdefault(binding["spec"].get("policyName") or "", []).append(binding)
    dispatch: _Dispatch | None = None
    for name in sorted(bound):
        policy = store.get(POLICIES, "", name)
        if policy is None or not matches(policy["spec"].get("matchConstraints") or {}, attributes):
            continue
        if dispatch is None:
            server = attributes.server
            assert server is not None
            judge = UserJudge(server.authorizer, attributes.identity)
            dispatch = _Dispatch(attributes, server, bindings_of(attributes, judge))
        dispatch.evaluate(policy, bound[name])
    if dispatch is not None:
        dispatch.finish()


ADMISSION = Admission(
    name="ValidatingAdmissionPolicy",
    order=800,
    operations=("CREATE", "UPDATE", "DELETE"),
    subresources=SUBRESOURCES,
    validate=_validate,
    source="k8s.io/apiserver v0.37 pkg/admission/plugin/policy/validating",
)
