"""What the controllers of certificate signing requests share: whose they are, what was decided, when they try again.

Source: k8s.io/kubernetes pkg/controller/certificates certificate_controller.go, certificate_controller_utils.go.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from typing import Final

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Key, Requeue
from env_core.objects.conditions import conditions_of
from env_core.world import Object

REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
IDENTITY: Final = "certificate-controller"
KUBELET_CLIENT: Final = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING: Final = "kubernetes.io/kubelet-serving"
API_CLIENT: Final = "kubernetes.io/kube-apiserver-client"
BASE_DELAY_MS: Final = 200
DELAY_MAX_MS: Final = 1_000_000
_DOUBLINGS_MAX: Final = 13
_FAILURES: Final = "failures"
_NODES: Final = "system:nodes"
_OF_NODE: Final = "system:node:"


class Undone(Exception):
    """A request could not be handled: it is tried again later."""


def patient(
    reconcile: Callable[[Component, Key], Requeue | None],
) -> Callable[[Component, Key], Requeue | None]:
    """Return `reconcile` with failures turned into retries: after 200 ms, doubled each time, at most 1000 s."""

    @wraps(reconcile)
    def guarded(component: Component, key: Key) -> Requeue | None:
        table = component.table(_FAILURES)
        try:
            requeue = reconcile(component, key)
        except (StatusError, Undone):
            failures: int = table.get(key) or 0
            table[key] = failures + 1
            return Requeue(min(BASE_DELAY_MS << min(failures, _DOUBLINGS_MAX), DELAY_MAX_MS))
        table.pop(key)
        return requeue

    return guarded


def has_condition(request: Object, kind: str) -> bool:
    """Whether a request was approved, denied, or has failed."""
    return any(row.get("type") == kind for row in conditions_of(request))


def certificate_of(request: Object) -> str:
    """Return the certificate that was issued, as PEM; "" for none."""
    text = str((request.get("status") or {}).get("certificate") or "")
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def node_problem(subject: tuple[str, tuple[str, ...]]) -> tuple[str, str]:
    """Return what is wrong with the organisation and with the common name of a node's certificate, "" where nothing is."""
    common_name, organizations = subject
    return (
        "" if organizations == (_NODES,) else f"subject organization is not {_NODES}",
        "" if common_name.startswith(_OF_NODE) else f"subject common name does not begin with {_OF_NODE}",
    )


def usage_problem(usages: frozenset[str], purpose: str) -> str:
    """Return what is wrong with the usages of a kubelet's certificate, "" when nothing is."""
    required = ("digital signature", "key encipherment", purpose)
    if usages in (frozenset(required), frozenset((required[0], purpose))):
        return ""
    return f"usages did not match [{' '.join(sorted(required))}]"
