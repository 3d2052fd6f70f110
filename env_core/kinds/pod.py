"""Pods: what runs."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, SubresourceWrite
from env_core.kinds import _pod_strategy as strategy
from env_core.kinds._columns_pod import COLUMNS
from env_core.kinds._describe_pod import describe
from env_core.world import Object


def _is_on_host_network(obj: Object) -> str:
    return "true" if obj["spec"].get("hostNetwork") else "false"


KIND = Kind(
    group="",
    version="v1",
    kind="Pod",
    plural="pods",
    singular="pod",
    short_names=("po",),
    categories=("all",),
    subresources=(
        "attach",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "exec",
        "log",
        "portforward",
        "proxy",
        "resize",
        "status",
    ),
    has_generation=True,
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    validate_update=strategy.validate_update,
    prepare_status=strategy.prepare_status,
    validate_status=strategy.validate_status,
    warnings=strategy.warnings,
    # People seldom write pods again: upstream does not look.
    update_warnings=lambda _new, _old: [],
    grace=strategy.grace,
    writes={
        "resize": SubresourceWrite(strategy.prepare_resize, strategy.validate_resize),
        "ephemeralcontainers": SubresourceWrite(
            strategy.prepare_ephemeral_containers, strategy.validate_ephemeral_containers
        ),
    },
    field_labels=(
        "metadata.name",
        "metadata.namespace",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    field_values={"spec.hostNetwork": _is_on_host_network},
    columns=COLUMNS,
    describe=describe,
    returns_deleted=True,
    source="k8s.io/api core/v1 Pod, 1.37",
)
