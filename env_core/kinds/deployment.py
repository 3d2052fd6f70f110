"""Deployments: replica sets rolled out one after another."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Scale
from env_core.kinds import _deployment_strategy as strategy
from env_core.kinds._columns_workload import DEPLOYMENT
from env_core.kinds._describe_workload import describe_deployment

KIND = Kind(
    group="apps",
    version="v1",
    kind="Deployment",
    plural="deployments",
    singular="deployment",
    short_names=("deploy",),
    categories=("all",),
    subresources=("scale", "status"),
    has_generation=True,
    scale=Scale(),
    has_counted_annotations=True,
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    warnings=strategy.warnings,
    update_warnings=strategy.update_warnings,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    columns=DEPLOYMENT,
    describe=describe_deployment,
    source="k8s.io/api apps/v1 Deployment, 1.37",
)
