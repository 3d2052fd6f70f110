"""Replica sets: a number of pods from one template."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Scale
from env_core.kinds import _replicaset_strategy as strategy
from env_core.kinds._columns_workload import REPLICASET
from env_core.kinds._describe_workload import describe_replicaset

KIND = Kind(
    group="apps",
    version="v1",
    kind="ReplicaSet",
    plural="replicasets",
    singular="replicaset",
    short_names=("rs",),
    categories=("all",),
    subresources=("scale", "status"),
    has_generation=True,
    scale=Scale(),
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    warnings=strategy.warnings,
    update_warnings=strategy.update_warnings,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    columns=REPLICASET,
    describe=describe_replicaset,
    source="k8s.io/api apps/v1 ReplicaSet, 1.37",
)
