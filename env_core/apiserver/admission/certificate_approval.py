"""CertificateApproval: who approves or denies a request for a certificate must be allowed to for its signer."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.admission._signers import REQUESTS, may_use
from env_core.apiserver.plugin import Admission, Attributes


def _validate(attributes: Attributes) -> None:
    assert attributes.old is not None
    signer = str((attributes.old.get("spec") or {}).get("signerName") or "")
    if not may_use(attributes, "approve", signer):
        raise refusal(attributes, f'user not permitted to approve requests with signerName "{signer}"')


ADMISSION = Admission(
    name="CertificateApproval",
    order=250,
    operations=("UPDATE",),
    resources=(REQUESTS,),
    subresources=("approval",),
    validate=_validate,
    source="k8s.io/kubernetes plugin/pkg/admission/certificates/approval",
)
