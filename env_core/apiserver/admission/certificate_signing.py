"""CertificateSigning: who writes the certificate or the conditions of a request must be allowed to for its signer."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.admission._signers import REQUESTS, may_use
from env_core.apiserver.plugin import Admission, Attributes
from env_core.objects.conditions import conditions_of


def _validate(attributes: Attributes) -> None:
    old, new = attributes.old, attributes.object
    assert old is not None
    assert new is not None
    certificates = ((each.get("status") or {}).get("certificate") or "" for each in (old, new))
    if len(set(certificates)) == 1 and conditions_of(old) == conditions_of(new):
        return
    signer = str((old.get("spec") or {}).get("signerName") or "")
    if not may_use(attributes, "sign", signer):
        raise refusal(attributes, f'user not permitted to sign requests with signerName "{signer}"')


ADMISSION = Admission(
    name="CertificateSigning",
    order=251,
    operations=("UPDATE",),
    resources=(REQUESTS,),
    subresources=("status",),
    validate=_validate,
    source="k8s.io/kubernetes plugin/pkg/admission/certificates/signing",
)
