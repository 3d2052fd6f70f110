"""MutatingAdmissionPolicy: changes in CEL that a cluster's administrators want made to what is written.

A policy that changes something lets the plugins before it run once more, and with them the policies that asked for that
(`reinvocationPolicy: IfNeeded`).

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/mutating/{dispatcher,reinvocationcontext}.go and
policy/generic/policy_dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from env_core.apiserver import errors
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.errors import StatusError
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.policies.matching import SUBRESOURCES, is_exempt, matches
from env_core.apiserver.policies.mutation import CompiledMutations, Failed, compiled_mutations
from env_core.apiserver.policies.parameters import Misconfigured, parameter_kind, parameters_of
from env_core.apiserver.policies.requests import UserJudge, bindings_of, namespace_object
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import decode
from env_core.objects.problems import quoted
from env_core.world import Object

POLICIES: Final = "mutatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS: Final = "mutatingadmissionpolicybindings.admissionregistration.k8s.io"
_ORDER: Final = 690
_Key = tuple[str, str, str]
"""A policy, a binding, and what tells its parameters."""


class _Round:
    """One write on its way through all policies, for the first time or once more."""

    __slots__ = ("attributes", "body", "denied", "invoked", "is_changed")

    def __init__(self, attributes: Attributes) -> None:
        body = attributes.object
        assert body is not None
        self.attributes = attributes
        self.body = body
        self.is_changed = False
        self.denied: list[str] = []
        self.invoked: set[_Key] = set()
        """The policies that want to see later changes."""

    def run(self, only: set[_Key] | None) -> None:
        """Let the policies change the object in turn; `only` those with these keys, all for None."""
        for policy, bindings in _bound(self.attributes):
            self._policy(policy, bindings, only)
        if self.denied:
            raise _refused(self.attributes, self.denied)

    def _policy(self, policy: Object, bindings: list[Object], only: set[_Key] | None) -> None:
        server = self.attributes.server
        assert server is not None
        name = policy["metadata"]["name"]
        try:
            kind = parameter_kind(policy["spec"].get("paramKind"), server.registry)
        except Misconfigured as problem:
            self._deny(policy, f"policy {quoted(name)} denied request: failed to configure policy: {problem}")
            return
        compiled = compiled_mutations(policy)
        for binding in bindings:
            if not matches(binding["spec"].get("matchResources") or {}, self.attributes):
                continue
            bound = binding["metadata"]["name"]
            who = f"policy '{name}' with binding '{bound}' denied request"
            try:
                all_parameters = parameters_of(kind, binding["spec"].get("paramRef"), self.attributes)
            except Misconfigured as problem:
                self._deny(policy, f"{who}: failed to configure binding: {problem}")
                continue
            for parameters in all_parameters:
                key = (name, bound, _place(parameters))
                if only is None or key in only:
                    self._apply(policy, compiled, parameters, key, who)

    def _apply(
        self, policy: Object, compiled: CompiledMutations, parameters: Object | None, key: _Key, who: str
    ) -> None:
        before = self.body
        try:
            if not compiled.concerns({**self._bindings(), "params": parameters}):
                return
        except Failed as problem:
            self._deny(policy, f"{who}: {problem}")
            return
        for mutation in compiled.mutations:
            bindings = {
                **self._bindings(),
                "params": parameters,
                "namespaceObject": namespace_object(self.attributes),
            }
            try:
                self.body = self._typed(compiled.patched(mutation, self.attributes.kind, bindings))
            except Failed as problem:
                self._deny(policy, f"{who}: {problem}")
        self.is_changed = self.is_changed or self.body != before
        if compiled.is_run_again:
            self.invoked.add(key)

    def _bindings(self) -> Mapping[str, Any]:
        attributes = self.attributes._replace(object=self.body)
        assert attributes.server is not None
        return bindings_of(attributes, UserJudge(attributes.server.authorizer, attributes.identity))

    def _typed(self, patched: Object) -> Object:
        """Return a patched object as its type has it, with defaults."""
        kind = self.attributes.kind
        if schema_for(kind.group, kind.version, kind.kind) is not None:
            try:
                patched = decode(patched, kind.group, kind.version, kind.kind, "Ignore").object
            except StatusError as problem:
                raise errors.internal(problem.message) from None
        return kind.default(patched)

    def _deny(self, policy: Object, text: str) -> None:
        if policy["spec"].get("failurePolicy") != "Ignore":
            self.denied.append(text)


def _place(parameters: Object | None) -> str:
    metadata = {} if parameters is None else parameters["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def _bound(attributes: Attributes) -> Iterator[tuple[Object, list[Object]]]:
    """Yield the policies that look at a write, with their bindings."""
    bound: dict[str, list[Object]] = {}
    for binding in attributes.store.list(BINDINGS):
        bound.setdefault(binding["spec"].get("policyName") or "", []).append(binding)
    for name in sorted(bound):
        policy = attributes.store.get(POLICIES, "", name)
        if policy is not None and matches(policy["spec"].get("matchConstraints") or {}, attributes):
            yield policy, bound[name]


def _refused(attributes: Attributes, denied: list[str]) -> StatusError:
    error = refusal(attributes, denied[0])
    details = {**error.status["details"], "causes": [{"message": text} for text in denied]}
    return StatusError({**error.status, "message": denied[0], "reason": "Invalid", "details": details})


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if not attributes.store.last_write(BINDINGS) or is_exempt(attributes):
        return body
    first = _Round(attributes)
    if attributes.is_again:
        # Who is to be asked once more is not kept from the first time: those that want to be.
        first.run({key for key in _all_keys(attributes) if _is_run_again(attributes, key)})
        return first.body
    first.run(None)
    if not first.is_changed:
        return body
    server = attributes.server
    assert server is not None
    again = attributes._replace(object=first.body, is_again=True)
    for plugin in server.admission.plugins:
        if plugin.order < _ORDER and plugin.mutate is not None:
            if plugin.handles(again.operation, again.kind.resource, again.subresource):
                again = again._replace(object=plugin.mutate(again))
    second = _Round(again)
    second.run(first.invoked)
    return second.body


def _all_keys(attributes: Attributes) -> Iterator[_Key]:
    server = attributes.server
    assert server is not None
    for policy, bindings in _bound(attributes):
        for binding in bindings:
            try:
                kind = parameter_kind(policy["spec"].get("paramKind"), server.registry)
                found = parameters_of(kind, binding["spec"].get("paramRef"), attributes)
            except Misconfigured:
                continue
            for parameters in found:
                yield policy["metadata"]["name"], binding["metadata"]["name"], _place(parameters)


def _is_run_again(attributes: Attributes, key: _Key) -> bool:
    policy = attributes.store.get(POLICIES, "", key[0])
    return policy is not None and policy["spec"].get("reinvocationPolicy") == "IfNeeded"


ADMISSION = Admission(
    name="MutatingAdmissionPolicy",
    order=_ORDER,
    operations=("CREATE", "UPDATE"),
    subresources=SUBRESOURCES,
    mutate=_mutate,
    source="k8s.io/apiserver v0.37 pkg/admission/plugin/policy/mutating",
)
