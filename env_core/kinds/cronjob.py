"""Cron jobs: jobs at set times."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds import _cronjob_strategy as strategy
from env_core.kinds._columns_job import CRONJOB
from env_core.kinds._describe_job import describe_cronjob

KIND = Kind(
    group="batch",
    version="v1",
    kind="CronJob",
    plural="cronjobs",
    singular="cronjob",
    short_names=("cj",),
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
    columns=CRONJOB,
    describe=describe_cronjob,
    source="k8s.io/api batch/v1 CronJob, 1.37",
)
