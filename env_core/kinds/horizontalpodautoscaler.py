"""Horizontal pod autoscalers: a workload's size from its metrics."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds import _horizontalpodautoscaler_strategy as strategy
from env_core.kinds._columns_hpa import COLUMNS
from env_core.kinds._describe_hpa import describe

KIND = Kind(
    group="autoscaling",
    version="v2",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
    singular="horizontalpodautoscaler",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
    has_generation=True,
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    columns=COLUMNS,
    describe=describe,
    source="k8s.io/api autoscaling/v2 HorizontalPodAutoscaler, 1.37",
)
