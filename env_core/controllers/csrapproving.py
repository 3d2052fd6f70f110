"""Approves the requests of kubelets for client certificates, when who asks may have them without anybody's look.

Source: k8s.io/kubernetes pkg/controller/certificates/approver/sarapprove.go.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._certificate_checks import kubelet_client_problem
from env_core.controllers._certificate_requests import (
    IDENTITY,
    KUBELET_CLIENT,
    REQUESTS,
    Undone,
    certificate_of,
    has_condition,
    patient,
)
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.objects.conditions import conditions_of
from env_core.objects.x509_requests import CertificateRequest, RequestProblem, of_object
from env_core.world import Object

_REVIEWS: Final = "subjectaccessreviews.authorization.k8s.io"
_SELF: Final = ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview.")
_NODE: Final = ("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview.")


def _reconcile(component: Component, key: Key) -> Requeue | None:
    request = component.cache.get(REQUESTS, "", key.name)
    if request is None or certificate_of(request):
        return None
    if has_condition(request, "Approved") or has_condition(request, "Denied"):
        return None
    if request["spec"].get("signerName") != KUBELET_CLIENT:
        return None
    try:
        asked = of_object(request)
    except RequestProblem:
        raise Undone from None
    rights = _rights(request, asked)
    for right, message in rights:
        if _may(component, request, right):
            _approve(component, request, message)
            return None
    if rights:
        # The rights may come: it is looked at again and again.
        raise Undone
    return None


def _rights(request: Object, asked: CertificateRequest) -> tuple[tuple[str, str], ...]:
    spec = request["spec"]
    if kubelet_client_problem(asked, tuple(spec.get("usages") or ())):
        return ()
    return (_SELF, _NODE) if spec.get("username") == asked.common_name else (_NODE,)


def _may(component: Component, request: Object, right: str) -> bool:
    spec = request["spec"]
    review: Object = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": spec.get("username", ""),
            "groups": list(spec.get("groups") or ()),
            "resourceAttributes": {
                "group": "certificates.k8s.io",
                "resource": "certificatesigningrequests",
                "subresource": right,
                "verb": "create",
            },
        },
    }
    answer = component.api.create(_REVIEWS, "", review)
    return bool((answer.get("status") or {}).get("allowed"))


def _approve(component: Component, request: Object, message: str) -> None:
    row = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
    status = {**(request.get("status") or {}), "conditions": [*conditions_of(request), row]}
    component.api.update(REQUESTS, "", {**request, "status": status}, subresource="approval")


CONTROLLER = Controller(
    name="csrapproving",
    identity=IDENTITY,
    watches=((REQUESTS, own_key),),
    reconcile=patient(_reconcile),
    source="k8s.io/kubernetes pkg/controller/certificates/approver",
)
