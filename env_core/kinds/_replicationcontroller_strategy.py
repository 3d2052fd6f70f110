"""Defaults, preparation and validation of replication controllers.

Source: k8s.io/kubernetes pkg/apis/core/v1 defaults, pkg/apis/core/validation; recorded in tests/golden/l2.
"""

from __future__ import annotations

from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._pod_warnings import name_warnings, template_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.kinds._replicaset_strategy import status_problems
from env_core.objects.problems import Problem, required
from env_core.world import Object


def default(obj: Object) -> Object:
    """Fill in defaults; labels and selector come from the template where there are none."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec) if spec.get("template") is not None else spec
    if new.get("replicas") is None:
        new = {**new, "replicas": 1}
    metadata = obj.get("metadata") or {}
    labels = ((new.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        if not new.get("selector"):
            new = {**new, "selector": labels}
        if not metadata.get("labels"):
            return {**obj, "metadata": {**metadata, "labels": labels}, "spec": new}
    return obj if new is spec else {**obj, "spec": new}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status."""
    return {**obj, "status": {"replicas": 0}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check a replication controller."""
    spec = obj.get("spec") or {}
    found = fields.non_negative(spec, ("minReadySeconds",), "spec")
    selector = spec.get("selector")
    if not selector:
        found.append(required("spec.selector"))
    found += fields.non_negative(spec, ("replicas",), "spec")
    if spec.get("template") is None:
        return [*found, required("spec.template")]
    found += rules.template_problems(spec, {"matchLabels": selector} if selector else {})
    return found + rules.always_running(spec, "ReplicationController")


def validate_update(new: Object, _old: Object) -> list[Problem]:
    """Check a changed replication controller."""
    return validate(new)


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check a status write."""
    return status_problems(new.get("status") or {})


def _template_warnings(obj: Object) -> list[str]:
    return template_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template")


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in a new object: its name, and the pod template."""
    return [*name_warnings(obj), *_template_warnings(obj)]


update_warnings = with_new_generation(_template_warnings)
