"""Defaults, preparation and validation of cron jobs.

Source: k8s.io/kubernetes pkg/apis/batch and pkg/registry/batch/cronjob; recorded in tests/golden/l0.
"""

from __future__ import annotations

from env_core.kinds import _field_rules as fields
from env_core.kinds._internal_types import selector_text
from env_core.kinds._job_strategy import job_spec_problems, job_spec_warnings
from env_core.kinds._pod_warnings import name_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.objects.cron_schedule import has_time_zone, schedule_complaint
from env_core.objects.problems import INVALID, Problem, invalid, required
from env_core.objects.time_zones import is_time_zone
from env_core.world import Object

_DEFAULTS = (
    ("concurrencyPolicy", "Allow"),
    ("suspend", False),
    ("successfulJobsHistoryLimit", 3),
    ("failedJobsHistoryLimit", 1),
)
_POLICIES = ("Allow", "Forbid", "Replace")
_NAME_LENGTH_MAX = 52


def default(obj: Object) -> Object:
    """Fill in a cron job's defaults; those of its jobs wait until they are made."""
    spec = obj.get("spec") or {}
    changes: Object = {key: value for key, value in _DEFAULTS if spec.get(key) in (None, "")}
    template = spec.get("jobTemplate") or {}
    job_spec = template.get("spec") or {}
    defaulted = with_default_template(job_spec)
    if defaulted is not job_spec:
        changes["jobTemplate"] = {**template, "spec": defaulted}
    return {**obj, "spec": {**spec, **changes}} if changes else obj


def prepare_create(obj: Object) -> Object:
    """Start without a status."""
    return {**obj, "status": {}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check a new cron job."""
    name = (obj.get("metadata") or {}).get("name") or ""
    found = _spec_problems(obj.get("spec") or {}, may_name_zone=False)
    if len(name) > _NAME_LENGTH_MAX:
        text = f"must be no more than {_NAME_LENGTH_MAX} characters"
        found.append(invalid("metadata.name", name, text))
    return found


def _spec_problems(spec: Object, *, may_name_zone: bool) -> list[Problem]:
    found: list[Problem] = []
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    if not schedule:
        found.append(required("spec.schedule"))
    else:
        found += _schedule_problems(schedule, has_zone=zone is not None, may_name_zone=may_name_zone)
    found += fields.non_negative(spec, ("startingDeadlineSeconds",), "spec")
    if zone is not None:
        found += _zone_problems(zone)
    policy = spec.get("concurrencyPolicy") or ""
    if policy not in _POLICIES:
        field = "spec.concurrencyPolicy"
        found.append(fields.unsupported(field, policy, _POLICIES) if policy else required(field))
    found += _template_problems((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")
    return found + fields.non_negative(spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"), "spec")


def _schedule_problems(schedule: str, *, has_zone: bool, may_name_zone: bool) -> list[Problem]:
    complaint = "" if has_time_zone(schedule) else schedule_complaint(schedule)
    found = [invalid("spec.schedule", schedule, complaint)] if complaint else []
    if has_time_zone(schedule):
        if not may_name_zone:
            text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            found.append(invalid("spec.schedule", schedule, text))
        elif has_zone:
            text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            found.append(invalid("spec.schedule", schedule, text))
    return found


def _zone_problems(zone: str) -> list[Problem]:
    field = "spec.timeZone"
    if not zone:
        return [invalid(field, zone, "timeZone must be nil or non-empty string")]
    if zone.lower() == "local":
        text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        return [invalid(field, zone, text)]
    return [] if is_time_zone(zone) else [invalid(field, zone, f"unknown time zone {zone}")]


def _template_problems(spec: Object, field: str) -> list[Problem]:
    found = job_spec_problems(spec, field)
    selector = spec.get("selector")
    if selector is not None:
        text = "`selector` will be auto-generated"
        found.append(Problem(INVALID, f"{field}.selector", selector_text(selector), text))
    if spec.get("manualSelector"):
        found.append(fields.unsupported(f"{field}.manualSelector", "", ("nil", "false"), value="true"))
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed cron job; one whose schedule names a time zone may keep that."""
    before = (old.get("spec") or {}).get("schedule") or ""
    return _spec_problems(new.get("spec") or {}, may_name_zone=has_time_zone(before))


def validate_status(_new: Object, _old: Object) -> list[Problem]:
    """Check a status write; nothing can be wrong with one."""
    return []


def _spec_warnings(obj: Object) -> list[str]:
    job_spec = ((obj.get("spec") or {}).get("jobTemplate") or {}).get("spec") or {}
    return job_spec_warnings(job_spec, "spec.jobTemplate.spec")


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in a new cron job: its name, and the spec of its jobs."""
    return [*name_warnings(obj), *_spec_warnings(obj)]


update_warnings = with_new_generation(_spec_warnings)
