"""Replication controllers: the forerunner of replica sets."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Scale
from env_core.kinds import _replicationcontroller_strategy as strategy
from env_core.kinds._columns_workload import REPLICATIONCONTROLLER
from env_core.kinds._describe_workload import describe_replicationcontroller

KIND = Kind(
    group="",
    version="v1",
    kind="ReplicationController",
    plural="replicationcontrollers",
    singular="replicationcontroller",
    short_names=("rc",),
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
    field_labels=("metadata.name", "metadata.namespace", "status.replicas"),
    columns=REPLICATIONCONTROLLER,
    describe=describe_replicationcontroller,
    source="k8s.io/api core/v1 ReplicationController, 1.37",
)
