"""Defaults, preparation and validation of replica sets.

Source: k8s.io/kubernetes pkg/apis/apps and pkg/registry/apps/replicaset; recorded in tests/golden/l0.
"""

from __future__ import annotations

from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._pod_warnings import name_warnings, template_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.objects.problems import Problem
from env_core.world import Object

_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "terminatingReplicas",
    "observedGeneration",
)


def default(obj: Object) -> Object:
    """Fill in a replica set's defaults."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec)
    if new.get("replicas") is None:
        new = {**new, "replicas": 1}
    return obj if new is spec else {**obj, "spec": new}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status."""
    return {**obj, "status": {"replicas": 0}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check a replica set."""
    spec = obj.get("spec") or {}
    found = fields.non_negative(spec, ("replicas", "minReadySeconds"), "spec")
    return found + rules.selector_and_template(spec, "replica set", "ReplicaSet")


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed replica set."""
    found = validate(new)
    return found + rules.unchanged_field(new.get("spec") or {}, old.get("spec") or {}, "selector")


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check a status write."""
    return status_problems(new.get("status") or {})


def status_problems(status: Object) -> list[Problem]:
    """Check the counts of a replica set's or replication controller's status."""
    found = fields.non_negative(status, _COUNTS, "status")
    counts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    found += rules.not_above(status, counts, "replicas", "cannot be greater than status.replicas")
    return found + rules.not_above(
        status, ("availableReplicas",), "readyReplicas", "cannot be greater than readyReplicas"
    )


def _template_warnings(obj: Object) -> list[str]:
    return template_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template")


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in a new object: its name, and the pod template."""
    return [*name_warnings(obj), *_template_warnings(obj)]


update_warnings = with_new_generation(_template_warnings)
