"""ValidatingAdmissionWebhook: servers outside the API server that may refuse a write.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/validating/dispatcher.go.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.policies.matching import SUBRESOURCES, is_exempt
from env_core.apiserver.policies.reviews import rejection
from env_core.apiserver.policies.webhooks import CallFailed, Hook, ask, concerns, hooks_of

RESOURCE: Final = "validatingwebhookconfigurations.admissionregistration.k8s.io"
_FAILED_OPEN: Final = "failed-open.validating.webhook.admission.k8s.io/"


def _validate(attributes: Attributes) -> None:
    if not attributes.store.last_write(RESOURCE) or is_exempt(attributes):
        return
    hooks = [hook for hook in hooks_of(attributes, RESOURCE) if concerns(hook, attributes)]
    # All are asked, whatever the others say; the first refusal is the answer.
    problems = [_problem(hook, index, attributes) for index, hook in enumerate(hooks)]
    for problem in problems:
        if problem is not None:
            raise problem


def _problem(hook: Hook, index: int, attributes: Attributes) -> StatusError | None:
    try:
        verdict = ask(hook, attributes, is_mutating=False)
    except StatusError as problem:
        return problem
    except CallFailed as failure:
        if not hook.is_ignored_on_failure:
            return errors.internal(str(failure))
        assert attributes.server is not None
        attributes.server.remarks.annotations[f"{_FAILED_OPEN}round_0_index_{index}"] = hook.name
        return None
    return None if verdict.is_allowed else rejection(hook.name, verdict.result)


ADMISSION = Admission(
    name="ValidatingAdmissionWebhook",
    order=850,
    operations=("CREATE", "UPDATE", "DELETE"),
    subresources=SUBRESOURCES,
    validate=_validate,
    source="k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/validating",
)
