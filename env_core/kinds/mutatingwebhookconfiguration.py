"""Webhooks that may change requests."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import (
    count_of,
    default_webhooks,
    webhooks_problems,
    webhooks_update_problems,
)
from env_core.world import Object


def _default(obj: Object) -> Object:
    return default_webhooks(obj, {"reinvocationPolicy": "Never"})


KIND = Kind(
    group="admissionregistration.k8s.io",
    version="v1",
    kind="MutatingWebhookConfiguration",
    plural="mutatingwebhookconfigurations",
    singular="mutatingwebhookconfiguration",
    categories=("api-extensions",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate_name=subdomain_name,
    validate=webhooks_problems,
    validate_update=webhooks_update_problems,
    columns=(NAME, Column("Webhooks", count_of("webhooks"), type="integer"), AGE),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 MutatingWebhookConfiguration, 1.37; tests/golden/l2",
)
