"""Controllers that run in pods of the cluster act with the rights of their own service account."""

from __future__ import annotations

from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.request import Identity
from env_core.apiserver.tokens import account_groups
from env_core.objects import meta
from env_core.world import Object


def as_account(component: Component, workload: Object, agent: str) -> ApiClient:
    """Return the API as a workload's pods have it, with the name under which they write."""
    namespace = meta.namespace(workload)
    account = workload["spec"]["template"]["spec"].get("serviceAccountName") or "default"
    identity = Identity(f"system:serviceaccount:{namespace}:{account}", account_groups(namespace))
    return ApiClient(component.api.api, identity, agent)
