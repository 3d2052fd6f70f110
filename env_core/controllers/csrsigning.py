"""Signs approved requests for certificates of clients of the API and of kubelets, with the cluster's own authority.

Source: k8s.io/kubernetes pkg/controller/certificates/signer/signer.go and authority/policies.go (one loop for each signer there),
--cluster-signing-duration 8760h; that it takes less than a second: tests/golden/l2/flows (tls-csr).
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._certificate_checks import CHECKS
from env_core.controllers._certificate_requests import (
    IDENTITY,
    REQUESTS,
    Undone,
    certificate_of,
    has_condition,
    patient,
)
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers.rootcacert import CERTIFICATE
from env_core.objects import x509_making
from env_core.objects.conditions import conditions_of
from env_core.objects.x509 import Certificate, certificates
from env_core.objects.x509_requests import CertificateRequest, RequestProblem, of_object
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

LONGEST_MS: Final = 8_760 * 3_600_000
SHORTEST_MS: Final = 600_000
BACKDATE_MS: Final = 300_000
SHORT_MS: Final = 8 * 3_600_000
"""Certificates that live less long are not cut by what they are dated back."""


@lru_cache(maxsize=1)
def _authority() -> Certificate:
    return certificates(CERTIFICATE)[0]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    request = component.cache.get(REQUESTS, "", key.name)
    if request is None or certificate_of(request):
        return None
    if not has_condition(request, "Approved") or has_condition(request, "Denied"):
        return None
    check = CHECKS.get(request["spec"].get("signerName", ""))
    if check is None or has_condition(request, "Failed"):
        return None
    try:
        asked = of_object(request)
    except RequestProblem:
        raise Undone from None
    problem = check(asked, tuple(request["spec"].get("usages") or ()))
    if problem:
        _refuse(component, request, problem)
    else:
        _sign(component, request, asked)
    return None


def _refuse(component: Component, request: Object, problem: str) -> None:
    row = {
        "type": "Failed",
        "status": "True",
        "reason": "SignerValidationFailure",
        "message": problem,
        "lastUpdateTime": rfc3339(component.now_ms),
    }
    status = {**(request.get("status") or {}), "conditions": [*conditions_of(request), row]}
    component.api.update_status(REQUESTS, "", {**request, "status": status})


def _sign(component: Component, request: Object, asked: CertificateRequest) -> None:
    authority, now_ms = _authority(), component.now_ms
    spec = request["spec"]
    lasts_ms = lifetime_ms(spec.get("expirationSeconds"))
    ends_ms = now_ms + lasts_ms - (0 if lasts_ms < SHORT_MS else BACKDATE_MS)
    if now_ms >= authority.not_after_ms:
        # The authority itself has expired: nothing is signed any more.
        raise Undone
    pem = x509_making.certificate(
        x509_making.Wanted(
            seed=request["metadata"]["uid"].encode(),
            issuer=authority.subject,
            subject=asked.subject,
            not_before_ms=now_ms - BACKDATE_MS,
            not_after_ms=min(ends_ms, authority.not_after_ms),
            public_key=asked.public_key,
            usages=spec.get("usages") or (),
            dns_names=asked.dns_names,
            addresses=asked.addresses,
            emails=asked.emails,
            uris=asked.uris,
            authority_id=authority.key_id,
        )
    )
    status = {**(request.get("status") or {}), "certificate": base64.b64encode(pem.encode()).decode()}
    component.api.update_status(REQUESTS, "", {**request, "status": status})


def lifetime_ms(seconds: int | None) -> int:
    """Return how long a certificate lives of which so many seconds were asked for."""
    if seconds is None:
        return LONGEST_MS
    return min(max(seconds * 1_000, SHORTEST_MS), LONGEST_MS)


CONTROLLER = Controller(
    name="csrsigning",
    identity=IDENTITY,
    watches=((REQUESTS, own_key),),
    reconcile=patient(_reconcile),
    source="k8s.io/kubernetes pkg/controller/certificates/signer; tests/golden/l2/flows (tls-csr)",
)
