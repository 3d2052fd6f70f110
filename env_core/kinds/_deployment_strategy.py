"""Defaults, preparation and validation of deployments.

Source: k8s.io/kubernetes pkg/apis/apps and pkg/registry/apps/deployment; recorded in tests/golden/l0.
"""

from __future__ import annotations

import orjson

from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._pod_warnings import name_warnings, template_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

_QUARTER = "25%"
_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)


def default(obj: Object) -> Object:
    """Fill in a deployment's defaults."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec)
    changes: Object = {}
    for key, value in (("replicas", 1), ("revisionHistoryLimit", 10), ("progressDeadlineSeconds", 600)):
        if new.get(key) is None:
            changes[key] = value
    strategy = new.get("strategy") or {}
    defaulted = _default_strategy(strategy)
    if defaulted is not strategy:
        changes["strategy"] = defaulted
    if changes:
        new = {**new, **changes}
    return obj if new is spec else {**obj, "spec": new}


def _default_strategy(strategy: Object) -> Object:
    kind = strategy.get("type") or "RollingUpdate"
    if kind != "RollingUpdate":
        return strategy
    rolling = strategy.get("rollingUpdate") or {}
    surge, unavailable = rolling.get("maxSurge"), rolling.get("maxUnavailable")
    if strategy.get("type") and surge is not None and unavailable is not None:
        return strategy
    return {
        **strategy,
        "type": kind,
        "rollingUpdate": {
            **rolling,
            "maxSurge": _QUARTER if surge is None else surge,
            "maxUnavailable": _QUARTER if unavailable is None else unavailable,
        },
    }


def prepare_create(obj: Object) -> Object:
    """Start without a status."""
    return {**obj, "status": {}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check a deployment."""
    spec = obj.get("spec") or {}
    found = fields.non_negative(spec, ("replicas",), "spec")
    found += rules.selector_and_template(spec, "deployment", "ReplicaSet")
    found += _strategy_problems(spec.get("strategy") or {})
    found += fields.non_negative(
        spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), "spec"
    )
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        text = "must be greater than minReadySeconds"
        found.append(invalid("spec.progressDeadlineSeconds", deadline, text))
    return found


def _strategy_problems(strategy: Object) -> list[Problem]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is None:
            return []
        text = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden("spec.strategy.rollingUpdate", text)]
    if kind != "RollingUpdate":
        return [
            fields.unsupported(
                "spec.strategy", "", ("Recreate", "RollingUpdate"), value=_strategy_text(strategy)
            )
        ]
    field = "spec.strategy.rollingUpdate"
    if rolling is None:
        return [required(field, "this should be defaulted and never be nil")]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    found = fields.int_or_percent(unavailable, f"{field}.maxUnavailable")
    found += fields.int_or_percent(surge, f"{field}.maxSurge")
    if fields.number_in(unavailable) == 0 and fields.number_in(surge) == 0:
        found.append(invalid(f"{field}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0"))
    return found + fields.at_most_all(unavailable, f"{field}.maxUnavailable")


def _strategy_text(strategy: Object) -> str:
    rolling = strategy.get("rollingUpdate")
    shown: Object = {"Type": strategy.get("type") or "", "RollingUpdate": None}
    if rolling is not None:
        shown["RollingUpdate"] = {
            "MaxUnavailable": rolling.get("maxUnavailable", 0),
            "MaxSurge": rolling.get("maxSurge", 0),
        }
    return orjson.dumps(shown).decode()


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed deployment."""
    found = validate(new)
    return found + rules.unchanged_field(new.get("spec") or {}, old.get("spec") or {}, "selector")


def validate_status(new: Object, old: Object) -> list[Problem]:
    """Check a status write."""
    status = new.get("status") or {}
    found = fields.non_negative(status, _COUNTS, "status")
    text = "cannot be greater than status.replicas"
    found += rules.not_above(
        status, ("updatedReplicas", "readyReplicas", "availableReplicas"), "replicas", text
    )
    found += rules.not_above(
        status, ("availableReplicas",), "readyReplicas", "cannot be greater than readyReplicas"
    )
    return found + rules.collision_count_kept(new, old)


def _template_warnings(obj: Object) -> list[str]:
    return template_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template")


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in a new object: its name, and the pod template."""
    return [*name_warnings(obj), *_template_warnings(obj)]


update_warnings = with_new_generation(_template_warnings)
