"""Which requests the signers of Kubernetes itself take, and what they say of others.

Source: k8s.io/kubernetes pkg/apis/certificates helpers.go (ValidateKubeletServingCSR, ValidateKubeletClientCSR) and
pkg/controller/certificates/signer/signer.go (validAPIServerClientUsages), 1.37.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from env_core.controllers._certificate_requests import (
    API_CLIENT,
    KUBELET_CLIENT,
    KUBELET_SERVING,
    node_problem,
    usage_problem,
)
from env_core.objects.x509_requests import CertificateRequest

_OPTIONAL: Final = ("digital signature", "key encipherment")


def kubelet_client_problem(request: CertificateRequest, usages: tuple[str, ...]) -> str:
    """Return why a request is none of a kubelet for its client certificate, "" when it is."""
    organization, common_name = node_problem((request.common_name, request.organizations))
    for is_there, what in (
        (request.dns_names, "DNS"),
        (request.emails, "Email"),
        (request.addresses, "IP"),
        (request.uris, "URI"),
    ):
        if not organization and is_there:
            return f"{what} subjectAltNames are not allowed"
    return organization or common_name or usage_problem(frozenset(usages), "client auth")


def kubelet_serving_problem(request: CertificateRequest, usages: tuple[str, ...]) -> str:
    """Return why a request is none of a kubelet for its serving certificate, "" when it is."""
    organization, common_name = node_problem((request.common_name, request.organizations))
    if organization:
        return organization
    if not request.dns_names and not request.addresses:
        return "DNS or IP subjectAltName is required"
    for is_there, what in ((request.emails, "Email"), (request.uris, "URI")):
        if is_there:
            return f"{what} subjectAltNames are not allowed"
    return usage_problem(frozenset(usages), "server auth") or common_name


def api_client_problem(_request: CertificateRequest, usages: tuple[str, ...]) -> str:
    """Return why a request is none for a client of the API, "" when it is."""
    for usage in usages:
        if usage not in (*_OPTIONAL, "client auth"):
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


CHECKS: Final[Mapping[str, Callable[[CertificateRequest, tuple[str, ...]], str]]] = {
    API_CLIENT: api_client_problem,
    KUBELET_CLIENT: kubelet_client_problem,
    KUBELET_SERVING: kubelet_serving_problem,
}
"""By signer."""
