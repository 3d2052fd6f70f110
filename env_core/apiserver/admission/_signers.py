"""Who may do something with a signer of certificates.

Source: k8s.io/kubernetes plugin/pkg/admission/certificates util.go (IsAuthorizedForSignerName): the signer itself, or all of its domain.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.plugin import Attributes

REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"


def may_use(attributes: Attributes, verb: str, signer: str) -> bool:
    """Whether the writer may do `verb` with a signer."""
    if attributes.server is None:
        return True
    names = (signer, f"{signer.partition('/')[0]}/*")
    authorizer = attributes.server.authorizer
    return any(
        authorizer.allowed(attributes.identity, verb, "certificates.k8s.io", "signers", name=name)
        for name in names
    )
