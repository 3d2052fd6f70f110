"""Daemon sets: a pod on every matching node."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds import _daemonset_strategy as strategy
from env_core.kinds._columns_workload import DAEMONSET
from env_core.kinds._describe_workload import describe_daemonset

KIND = Kind(
    group="apps",
    version="v1",
    kind="DaemonSet",
    plural="daemonsets",
    singular="daemonset",
    short_names=("ds",),
    categories=("all",),
    subresources=("status",),
    has_generation=True,
    default=strategy.default,
    convert=strategy.convert,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    warnings=strategy.warnings,
    update_warnings=strategy.update_warnings,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    columns=DAEMONSET,
    describe=describe_daemonset,
    source="k8s.io/api apps/v1 DaemonSet, 1.37",
)
