"""ResourceQuota: refuse what would use more than a namespace's quotas allow."""

from __future__ import annotations

from env_core.apiserver.admission._quota_usage import Usage, covers, tracked, unspecified, usage
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.authz import MASTERS
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.request import ApiRequest, Identity
from env_core.objects import quantity
from env_core.world import Object

__all__ = ["ADMISSION", "check", "covers", "tracked", "unspecified", "usage"]

QUOTAS = "resourcequotas"
_APISERVER = Identity("system:apiserver", (MASTERS,))
_UPDATABLE = ("services", "persistentvolumeclaims")
_IGNORED = ("events", "events.events.k8s.io")


def check(quota: Object, resource: str, obj: Object, old: Object | None = None) -> str:
    """Return why one quota, by its status, refuses a new object (or the change from `old`); "" if it does not.

    Source: tests/golden/l0/resource_quota.jsonl.gz.
    """
    if not covers(quota, resource, obj):
        return ""
    name = quota["metadata"]["name"]
    hard, used = quota["status"]["hard"], quota["status"].get("used") or {}
    names = tracked(resource, hard)
    if resource == "pods":
        missing = unspecified(names, obj)
        if missing:
            return f"failed quota: {name}: {missing}"
    if any(entry not in used for entry in names):
        return f"status unknown for quota: {name}, resources: {','.join(sorted(names))}"
    requested = {
        name: amount for name, amount in _delta(quota, resource, obj, old).items() if amount.sign() > 0
    }
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
    return wanted


def _charge(attributes: Attributes, quota: Object, old: Object | None) -> None:
    """Add what the admitted object uses to a quota's status, before the quota controller counts again.

    A create that fails afterwards stays charged until then, as upstream.
    Source: k8s.io/apiserver pkg/admission/plugin/resourcequota controller.go; tests/golden/l2/flows quota.
    """
    resource, body = attributes.kind.resource, attributes.object
    assert body is not None
    status = quota["status"]
    used: dict[str, str] = dict(status.get("used") or {})
    for name, amount in _delta(quota, resource, body, old).items():
        if name in status["hard"] and amount.sign():
            used[name] = str(quantity.from_value(used.get(name)) + amount)
    if attributes.server is None or used == status.get("used"):
        return
    server = attributes.server
    # The request in hand keeps what was remarked about it.
    remarks, server.remarks = server.remarks, type(server.remarks)()
    server.handle(
        ApiRequest(
            verb="update",
            resource=QUOTAS,
            namespace=attributes.namespace,
            name=quota["metadata"]["name"],
            subresource="status",
            body={**quota, "status": {**status, "used": used}},
            identity=_APISERVER,
            user_agent="kube-apiserver",
        )
    )
    server.remarks = remarks


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
    old = attributes.old if is_update else None
    covering = [quota for quota in quotas if covers(quota, resource, body)]
    for quota in covering:
        why = check(quota, resource, body, old)
        if why:
            raise refusal(attributes, why)
    if not attributes.options.dry_run:
        for quota in covering:
            _charge(attributes, quota, old)


ADMISSION = Admission(
    name="ResourceQuota",
    order=900,
    operations=("CREATE", "UPDATE"),
    validate=_validate,
    source="tests/golden/l0/resource_quota.jsonl.gz; tests/golden/l2/flows/quota.json.gz",
)
