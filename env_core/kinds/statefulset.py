"""Stateful sets: numbered pods, each with claims of its own."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Scale
from env_core.kinds import _statefulset_strategy as strategy
from env_core.kinds._columns_workload import STATEFULSET
from env_core.kinds._describe_workload import describe_statefulset

KIND = Kind(
    group="apps",
    version="v1",
    kind="StatefulSet",
    plural="statefulsets",
    singular="statefulset",
    short_names=("sts",),
    categories=("all",),
    subresources=("scale", "status"),
    has_generation=True,
    scale=Scale(),
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate_name=strategy.validate_name,
    validate=strategy.validate,
    warnings=strategy.warnings,
    update_warnings=strategy.update_warnings,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    columns=STATEFULSET,
    describe=describe_statefulset,
    source="k8s.io/api apps/v1 StatefulSet, 1.37",
)
