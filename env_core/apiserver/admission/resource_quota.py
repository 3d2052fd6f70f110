"""ResourceQuota: refuse what would use more than a namespace's quotas allow."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.apiserver.admission._quota_usage import Usage, covers, tracked, unspecified, usage
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.store import Store
from env_core.objects import quantity
from env_core.objects.quantity import Quantity
from env_core.world import Object

__all__ = ["ADMISSION", "check", "covers", "tracked", "unspecified", "usage"]

QUOTAS = "resourcequotas"
_UPDATABLE = ("services", "persistentvolumeclaims")
_IGNORED = ("events", "events.events.k8s.io")


def check(quota: Object, resource: str, obj: Object, old: Object | None = None) -> str:
    """Return why one quota, by its status, refuses a new object (or the change from `old`); "" if it does not.

    Source: tests/golden/l0/resource_quota.jsonl.gz.
    """
    return _refusal_of(quota, resource, obj, old, (quota.get("status") or {}).get("used") or {})


def _refusal_of(
    quota: Object, resource: str, obj: Object, old: Object | None, used: Mapping[str, str]
) -> str:
    if not covers(quota, resource, obj):
        return ""
    name = quota["metadata"]["name"]
    hard = quota["status"]["hard"]
    names = tracked(resource, hard)
    if resource == "pods":
        missing = unspecified(names, obj)
        if missing:
            return f"failed quota: {name}: {missing}"
    if any(entry not in used for entry in names):
        return f"status unknown for quota: {name}, resources: {','.join(sorted(names))}"
    requested = _delta(quota, resource, obj, old)
    over = [
        entry
        for entry in sorted(requested)
        if entry in hard
        and quantity.from_value(used.get(entry)) + requested[entry] > quantity.from_value(hard[entry])
    ]
    if not over:
        return ""
    asked = ",".join(f"{entry}={requested[entry]}" for entry in over)
    taken = ",".join(f"{entry}={quantity.canonical(used[entry])}" for entry in over)
    limit = ",".join(f"{entry}={quantity.canonical(hard[entry])}" for entry in over)
    return f"exceeded quota: {name}, requested: {asked}, used: {taken}, limited: {limit}"


def _delta(quota: Object, resource: str, obj: Object, old: Object | None) -> Usage:
    wanted = usage(resource, obj)
    if old is not None and covers(quota, resource, old):
        before = usage(resource, old)
        wanted = {
            name: amount - before[name] if name in before else amount for name, amount in wanted.items()
        }
    return {name: amount for name, amount in wanted.items() if amount.sign() > 0}


def _used_now(quota: Object, resource: str, store: Store) -> dict[str, str]:
    """Return the status' usage, raised to what the namespace's objects of this resource use already.

    Upstream charges a quota as it admits, before its controller counts again; here the count itself stands in
    for the charge, so that a burst of creates cannot pass while the status still shows the usage before it.
    """
    used: dict[str, str] = dict((quota.get("status") or {}).get("used") or {})
    names = [name for name in tracked(resource, quota["status"]["hard"]) if name in used]
    totals: dict[str, Quantity] = {}
    for obj in store.list(resource, quota["metadata"]["namespace"]):
        if covers(quota, resource, obj):
            counted = usage(resource, obj)
            for name in names:
                if name in counted:
                    totals[name] = totals[name] + counted[name] if name in totals else counted[name]
    for name, total in totals.items():
        if total > quantity.from_value(used[name]):
            used[name] = str(total)
    return used


def _validate(attributes: Attributes) -> None:
    resource = attributes.kind.resource
    if not attributes.namespace or resource in _IGNORED:
        return
    is_update = attributes.operation == "UPDATE"
    if is_update and resource not in _UPDATABLE:
        return
    quotas = attributes.store.list(QUOTAS, attributes.namespace)
    if not quotas:
        return
    body = attributes.object
    assert body is not None
    for quota in quotas:
        if covers(quota, resource, body):
            used = _used_now(quota, resource, attributes.store)
            why = _refusal_of(quota, resource, body, attributes.old if is_update else None, used)
            if why:
                raise refusal(attributes, why)


ADMISSION = Admission(
    name="ResourceQuota",
    order=900,
    operations=("CREATE", "UPDATE"),
    validate=_validate,
    source="tests/golden/l0/resource_quota.jsonl.gz; tests/golden/l2/flows/quota.json.gz",
)
