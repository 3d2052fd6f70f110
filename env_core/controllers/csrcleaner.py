"""Deletes requests for certificates that nobody needs any more: every hour it looks through them all.

When within the hour shows nowhere in the API; here it is the full one.

Source: k8s.io/kubernetes pkg/controller/certificates/cleaner/cleaner.go.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._certificate_requests import IDENTITY, REQUESTS, certificate_of
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects.conditions import conditions_of
from env_core.objects.x509 import CertificateProblem, certificates
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

POLL_MS: Final = 3_600_000
DECIDED_MS: Final = 3_600_000
PENDING_MS: Final = 24 * 3_600_000


def _reconcile(component: Component, key: Key) -> Requeue | None:
    request = component.cache.get(REQUESTS, "", key.name)
    if request is None:
        return None
    now_ms = component.now_ms
    if now_ms % POLL_MS == 0 and is_over(request, now_ms):
        component.api.delete(REQUESTS, "", key.name)
        return None
    return Requeue(POLL_MS - now_ms % POLL_MS)


def is_over(request: Object, now_ms: int) -> bool:
    """Whether a request was handled long enough ago, or was not for too long, or its certificate has expired."""
    rows = conditions_of(request)
    if not rows:
        return _is_older(request["metadata"].get("creationTimestamp"), PENDING_MS, now_ms)
    pem = certificate_of(request)
    for row in rows:
        kind = row.get("type")
        is_decided = kind in ("Denied", "Failed") or (kind == "Approved" and bool(pem))
        if is_decided and _is_older(row.get("lastUpdateTime"), DECIDED_MS, now_ms):
            return True
    return bool(pem) and any(row.get("type") == "Approved" for row in rows) and _has_expired(pem, now_ms)


def _is_older(stamp: str | None, age_ms: int, now_ms: int) -> bool:
    return bool(stamp) and now_ms - parse_ms(str(stamp)) > age_ms


def _has_expired(pem: str, now_ms: int) -> bool:
    try:
        found = certificates(pem)
    except CertificateProblem:
        return False
    return bool(found) and now_ms > found[0].not_after_ms


CONTROLLER = Controller(
    name="csrcleaner",
    identity=IDENTITY,
    watches=((REQUESTS, own_key),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/certificates/cleaner",
)
