"""Jobs: pods that run to completion."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds import _job_strategy as strategy
from env_core.kinds._columns_job import JOB
from env_core.kinds._describe_job import describe_job
from env_core.world import Object


def _succeeded(obj: Object) -> str:
    return str((obj.get("status") or {}).get("succeeded") or 0)


KIND = Kind(
    group="batch",
    version="v1",
    kind="Job",
    plural="jobs",
    singular="job",
    short_names=(),
    categories=("all",),
    subresources=("status",),
    has_generation=True,
    default=strategy.default,
    prepare_create=strategy.prepare_create,
    prepare_update=strategy.prepare_update,
    validate=strategy.validate,
    warnings=strategy.warnings,
    update_warnings=strategy.update_warnings,
    validate_update=strategy.validate_update,
    validate_status=strategy.validate_status,
    field_labels=("metadata.name", "metadata.namespace", "status.successful"),
    field_values={"status.successful": _succeeded},
    columns=JOB,
    describe=describe_job,
    source="k8s.io/api batch/v1 Job, 1.37",
)
