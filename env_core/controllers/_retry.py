"""What a failed reconcile does: try again, later each time, as client-go's rate-limited work queue does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Key, Requeue

BASE_DELAY_MS = 5
DELAY_MAX_MS = 1_000_000
_DOUBLINGS_MAX = 18
_FAILURES = "failures"


class TryAgain(Exception):
    """What was read contradicts itself: an object's status has not caught up with its spec."""


Reconcile = Callable[[Component, Key], Requeue | None]


def retry(component: Component, key: Key) -> Requeue:
    """Count one more failure of `key` and say when to try again: 5 ms doubled each time, at most 1000 s.

    Source: client-go util/workqueue DefaultTypedControllerRateLimiter.
    """
    table = component.table(_FAILURES)
    failures: int = table.get(key) or 0
    table[key] = failures + 1
    return Requeue(min(BASE_DELAY_MS << min(failures, _DOUBLINGS_MAX), DELAY_MAX_MS))


def forget(component: Component, key: Key) -> None:
    """Forget the failures of `key`: it has succeeded."""
    component.table(_FAILURES).pop(key)


def retrying(reconcile: Reconcile) -> Reconcile:
    """Return `reconcile` with refusals of the API (races, quotas, a namespace that goes) turned into retries."""

    @wraps(reconcile)
    def guarded(component: Component, key: Key) -> Requeue | None:
        try:
            requeue = reconcile(component, key)
        except (StatusError, TryAgain):
            return retry(component, key)
        forget(component, key)
        return requeue

    return guarded


def is_namespace_terminating(error: StatusError) -> bool:
    """Whether the refusal is that the namespace is being deleted, which no retry will change."""
    causes = (error.status.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
