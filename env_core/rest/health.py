"""The health endpoints: /healthz, /livez, /readyz and their checks. Everything is always well.

Source: tests/golden/l2/facts/misc.json.gz.
"""

from __future__ import annotations

from env_core.rest.message import HttpResponse
from env_core.rest.queries import Query
from env_core.rest.rendering import text_response

ENDPOINTS = ("healthz", "livez", "readyz")
_HOOKS = (
    "start-apiserver-admission-initializer", "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer", "priority-and-fairness-filter", "storage-object-count-tracker-hook",
    "start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced",
    "start-system-namespaces-controller", "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller", "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector", "storage-readiness",
    "start-legacy-token-tracking-controller", "start-service-ip-repair-controllers", "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes", "priority-and-fairness-config-producer", "bootstrap-controller",
    "start-kubernetes-service-cidr-controller", "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers", "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller", "apiservice-registration-controller",
    "apiservice-discovery-controller", "kube-apiserver-autoregistration",
)  # fmt: skip
_LAST_HOOKS = ("apiservice-openapi-controller", "apiservice-openapiv3-controller")
_COMMON = (
    *(f"poststarthook/{name}" for name in _HOOKS),
    "autoregister-completion",
    *(f"poststarthook/{name}" for name in _LAST_HOOKS),
)
_ALIVE = ("ping", "log", "loopback-serving-certificate", "etcd", *_COMMON)
CHECKS = {
    "healthz": _ALIVE,
    "livez": _ALIVE,
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_COMMON, "shutdown"),
}
"""The checks behind each endpoint, in their order."""


def health(parts: list[str], query: Query) -> HttpResponse | None:
    """Answer a health path; None for a check that there is not."""
    endpoint, checks = parts[0], CHECKS[parts[0]]
    if len(parts) > 1:
        return text_response(200, "ok") if "/".join(parts[1:]) in checks else None
    if "verbose" not in query.first:
        return text_response(200, "ok")
    excluded = query.all("exclude")
    lines = [f"[+]{name} excluded: ok" if name in excluded else f"[+]{name} ok" for name in checks]
    return text_response(200, "\n".join([*lines, f"{endpoint} check passed\n"]))
