"""MutatingAdmissionWebhook: servers outside the API server that may change a write, or refuse it.

A webhook that changes something lets the other mutating plugins run once more, and with them the webhooks before it
that asked for that (`reinvocationPolicy: IfNeeded`).

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.metadata import is_name_generated
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.policies.matching import is_exempt
from env_core.apiserver.policies.reviews import rejection
from env_core.apiserver.policies.webhooks import CallFailed, Hook, ask, concerns, hooks_of
from env_core.apiserver.strict import decode
from env_core.objects._patch_problem import PatchError
from env_core.objects.patch_json import apply_json_patch, read_json_patch
from env_core.objects.problems import quoted
from env_core.world import Object

RESOURCE: Final = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
_FAILED_OPEN: Final = "failed-open.mutation.webhook.admission.k8s.io/"


class _Rounds:
    """One write on its way through the webhooks, for the first time and, if need be, once more."""

    __slots__ = ("_again", "_invoked", "_round", "body", "is_changed")

    def __init__(self, body: Object) -> None:
        self.body = body
        self.is_changed = False
        self._round = 0
        self._invoked: set[tuple[str, int]] = set()
        self._again: set[tuple[str, int]] = set()

    def run(self, attributes: Attributes) -> None:
        """Ask the webhooks in turn; each sees what those before it have made of the object."""
        for index, hook in enumerate(hooks_of(attributes, RESOURCE)):
            key = (hook.configuration, hook.index)
            if self._round and key not in self._again:
                continue
            current = attributes._replace(object=self.body)
            if not concerns(hook, current):
                continue
            changed = _changed(hook, index, current, self._round)
            if changed is not self.body:
                self.body = changed
                self.is_changed = True
                self._call_again()
            if hook.spec.get("reinvocationPolicy") == "IfNeeded":
                self._invoked.add(key)

    def run_again(self, attributes: Attributes) -> None:
        """Let the other plugins see the changes, and ask those webhooks once more that want to know of changes."""
        server = attributes.server
        assert server is not None
        before = self.body
        for mutate in server.admission.mutating(
            attributes.operation, attributes.kind.resource, attributes.subresource
        ):
            if mutate is not _mutate:
                self.body = mutate(attributes._replace(object=self.body, is_again=True))
        if self.body != before:
            self._call_again()
        self._round = 1
        self.run(attributes)

    def _call_again(self) -> None:
        self._again |= self._invoked
        self._invoked = set()


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if not attributes.store.last_write(RESOURCE) or is_exempt(attributes):
        return body
    rounds = _Rounds(body)
    rounds.run(attributes)
    if rounds.is_changed:
        rounds.run_again(attributes)
    return rounds.body


def _changed(hook: Hook, index: int, attributes: Attributes, round_number: int) -> Object:
    """Return what one webhook makes of the object; the object itself if nothing."""
    body = attributes.object
    assert body is not None
    shown = _without_generated_name(body)
    try:
        verdict = ask(hook, attributes._replace(object=shown), is_mutating=True)
    except CallFailed as failure:
        if not hook.is_ignored_on_failure:
            raise errors.internal(str(failure)) from None
        assert attributes.server is not None
        key = f"{_FAILED_OPEN}round_{round_number}_index_{index}"
        attributes.server.remarks.annotations[key] = hook.name
        return body
    if not verdict.is_allowed:
        raise rejection(hook.name, verdict.result)
    if not verdict.patch:
        return body
    patched = _patched(hook, attributes, shown, verdict.patch)
    if shown is not body and not patched["metadata"].get("name"):
        patched = {**patched, "metadata": {**patched["metadata"], "name": body["metadata"]["name"]}}
    return body if patched == body else patched


def _without_generated_name(body: Object) -> Object:
    """Return the object as it is before the server makes a name up."""
    metadata = body["metadata"]
    if not is_name_generated(metadata):
        return body
    return {**body, "metadata": {key: value for key, value in metadata.items() if key != "name"}}


def _patched(hook: Hook, attributes: Attributes, shown: Object, patch: str) -> Object:
    kind = attributes.kind
    try:
        operations, _ = read_json_patch(patch)
    except PatchError as problem:
        why = f"received undecodable patch in webhook response: {problem.why or problem.message}"
        raise _failed(hook, why) from None
    if not operations:
        return shown
    try:
        patched = apply_json_patch(shown, operations)
    except PatchError as problem:
        raise errors.internal(problem.why or problem.message) from None
    try:
        decoded = decode(patched, kind.group, kind.version, kind.kind, "Ignore").object
    except StatusError as problem:
        raise errors.internal(problem.message) from None
    return kind.default(decoded)


def _failed(hook: Hook, why: str) -> StatusError:
    return errors.internal(f"failed calling webhook {quoted(hook.name)}: {why}")


ADMISSION = Admission(
    name="MutatingAdmissionWebhook",
    order=700,
    operations=("CREATE", "UPDATE"),
    mutate=_mutate,
    source="k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/mutating",
)
