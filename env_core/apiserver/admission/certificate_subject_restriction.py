"""CertificateSubjectRestriction: no certificate of a client of the API makes it a member of system:masters."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.admission._signers import REQUESTS
from env_core.apiserver.plugin import Admission, Attributes
from env_core.objects.x509_requests import of_object

_SIGNER = "kubernetes.io/kube-apiserver-client"
_MASTERS = "system:masters"


def _validate(attributes: Attributes) -> None:
    body = attributes.object
    assert body is not None
    if (body.get("spec") or {}).get("signerName") != _SIGNER:
        return
    if _MASTERS in of_object(body).organizations:
        raise refusal(attributes, f"use of {_SIGNER} signer with {_MASTERS} group is not allowed")


ADMISSION = Admission(
    name="CertificateSubjectRestriction",
    order=270,
    operations=("CREATE",),
    resources=(REQUESTS,),
    validate=_validate,
    source="k8s.io/kubernetes plugin/pkg/admission/certificates/subjectrestriction",
)
