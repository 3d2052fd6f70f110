"""Defaults, preparation and validation of daemon sets.

Source: k8s.io/kubernetes pkg/apis/apps and pkg/registry/apps/daemonset; recorded in tests/golden/l0.
"""

from __future__ import annotations

import orjson

from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._internal_types import selector_text
from env_core.kinds._pod_warnings import template_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.kinds._podspec_validation import validate_pod_template
from env_core.objects import selectors
from env_core.objects.label_rules import is_empty_selector, is_usable_selector, selector_problems
from env_core.objects.problems import INVALID, Problem, invalid, required
from env_core.world import Object

GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"
_EMPTY_STATUS = {
    "currentNumberScheduled": 0,
    "desiredNumberScheduled": 0,
    "numberMisscheduled": 0,
    "numberReady": 0,
}
_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def default(obj: Object) -> Object:
    """Fill in a daemon set's defaults."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec)
    if new.get("revisionHistoryLimit") is None:
        new = {**new, "revisionHistoryLimit": 10}
    strategy = new.get("updateStrategy") or {}
    defaulted = _default_strategy(strategy)
    if defaulted is not strategy:
        new = {**new, "updateStrategy": defaulted}
    return obj if new is spec else {**obj, "spec": new}


def _default_strategy(strategy: Object) -> Object:
    kind = strategy.get("type") or "RollingUpdate"
    if kind != "RollingUpdate":
        return strategy
    rolling = strategy.get("rollingUpdate") or {}
    surge, unavailable = rolling.get("maxSurge"), rolling.get("maxUnavailable")
    if strategy.get("type") and surge is not None and unavailable is not None:
        return strategy
    filled = {
        **rolling,
        "maxUnavailable": 1 if unavailable is None else unavailable,
        "maxSurge": 0 if surge is None else surge,
    }
    return {**strategy, "type": kind, "rollingUpdate": filled}


def convert(obj: Object) -> Object:
    """Return the object with the annotation that stands for a field of the internal type, "0" where nothing says."""
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if GENERATION_ANNOTATION in annotations:
        return obj
    return {**obj, "metadata": {**metadata, "annotations": {**annotations, GENERATION_ANNOTATION: "0"}}}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status and the first template generation."""
    return {**_with_generation(obj, 1), "status": dict(_EMPTY_STATUS)}


def prepare_update(new: Object, old: Object) -> Object:
    """Count the template's generation up when it changes."""
    generation = _generation(old)
    if (new.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template"):
        generation += 1
    return _with_generation(new, generation)


def _generation(obj: Object) -> int:
    text = ((obj.get("metadata") or {}).get("annotations") or {}).get(GENERATION_ANNOTATION, "0")
    return int(text) if text.isdigit() else 0


def _with_generation(obj: Object, generation: int) -> Object:
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if annotations.get(GENERATION_ANNOTATION) == str(generation):
        return obj
    annotations = {**annotations, GENERATION_ANNOTATION: str(generation)}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def validate(obj: Object) -> list[Problem]:
    """Check a daemon set."""
    spec = obj.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template") or {}
    found = selector_problems(selector, "spec.selector")
    labels = (template.get("metadata") or {}).get("labels")
    if is_usable_selector(selector) and not selectors.from_object(selector).matches(labels):
        found.append(invalid("spec.template.metadata.labels", labels, rules.MISMATCH))
    if selector is not None and is_empty_selector(selector):
        text = "empty selector is invalid for daemonset"
        found.append(Problem(INVALID, "spec.selector", selector_text(selector), text))
    found += validate_pod_template(template, "spec.template")
    found += rules.always_running(spec, "DaemonSet")
    found += fields.non_negative(spec, ("minReadySeconds",), "spec")
    found += _strategy_problems(spec.get("updateStrategy") or {})
    return found + fields.non_negative(spec, ("revisionHistoryLimit",), "spec")


def _strategy_problems(strategy: Object) -> list[Problem]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        options = ("RollingUpdate", "OnDelete")
        return [fields.unsupported("spec.updateStrategy", "", options, value=_strategy_text(strategy))]
    field = "spec.updateStrategy.rollingUpdate"
    if rolling is None:
        return [required(field)]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    found = fields.int_or_percent(unavailable, f"{field}.maxUnavailable")
    found += fields.int_or_percent(surge, f"{field}.maxSurge")
    found += fields.at_most_all(unavailable, f"{field}.maxUnavailable")
    found += fields.at_most_all(surge, f"{field}.maxSurge")
    if fields.number_in(unavailable) and fields.number_in(surge):
        found.append(invalid(f"{field}.maxSurge", surge, "may not be set when maxUnavailable is non-zero"))
    elif not fields.number_in(unavailable) and not fields.number_in(surge):
        found.append(required(f"{field}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return found


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
    """Check a changed daemon set."""
    found = rules.unchanged_field(new.get("spec") or {}, old.get("spec") or {}, "selector")
    return found + validate(new)


def validate_status(new: Object, old: Object) -> list[Problem]:
    """Check a status write."""
    found = fields.non_negative(new.get("status") or {}, _COUNTS, "status")
    return found + rules.collision_count_kept(new, old)


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in the pod template."""
    return template_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template")


update_warnings = with_new_generation(warnings)
