"""Defaults, preparation and validation of stateful sets.

Source: k8s.io/kubernetes pkg/apis/apps and pkg/registry/apps/statefulset; recorded in tests/golden/l0.
"""

from __future__ import annotations

from env_core.apiserver.metadata import name_is_label
from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._internal_types import internal_text
from env_core.kinds._pod_warnings import claim_spec_warnings, template_warnings, with_new_generation
from env_core.kinds._podspec_claims import claim_template_problems
from env_core.kinds._podspec_defaults import mapped, with_default_template
from env_core.kinds._volume_defaults import default_claim
from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import INVALID, Problem, invalid, required
from env_core.world import Object

_DEFAULTS = (("podManagementPolicy", "OrderedReady"), ("replicas", 1), ("revisionHistoryLimit", 10))
_RETENTION = ("whenDeleted", "whenScaled")
_COUNTS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)


def default(obj: Object) -> Object:
    """Fill in a stateful set's defaults."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec)
    changes: Object = {key: value for key, value in _DEFAULTS if new.get(key) in (None, "")}
    strategy = new.get("updateStrategy") or {}
    defaulted = _default_strategy(strategy)
    if defaulted is not strategy:
        changes["updateStrategy"] = defaulted
    policy = new.get("persistentVolumeClaimRetentionPolicy") or {}
    if not policy.get("whenDeleted") or not policy.get("whenScaled"):
        changes["persistentVolumeClaimRetentionPolicy"] = {
            key: policy.get(key) or "Retain" for key in _RETENTION
        }
    claims = new.get("volumeClaimTemplates")
    if claims:
        changed = mapped(claims, default_claim)
        if changed is not claims:
            changes["volumeClaimTemplates"] = changed
    if changes:
        new = {**new, **changes}
    return obj if new is spec else {**obj, "spec": new}


def _default_strategy(strategy: Object) -> Object:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind and (kind != "RollingUpdate" or rolling is None):
        # Only a strategy without a type gets the parameters: upstream's order of defaulting.
        return strategy
    rolling = rolling or {}
    partition, unavailable = rolling.get("partition"), rolling.get("maxUnavailable")
    if kind and partition is not None and unavailable is not None:
        return strategy
    filled = {
        **rolling,
        "partition": 0 if partition is None else partition,
        "maxUnavailable": 1 if unavailable is None else unavailable,
    }
    return {**strategy, "type": "RollingUpdate", "rollingUpdate": filled}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status; claim templates say what they are."""
    return {**_with_claim_kinds(obj), "status": {"availableReplicas": 0, "replicas": 0}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Claim templates say what they are."""
    return _with_claim_kinds(new)


def _with_claim_kinds(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    claims = spec.get("volumeClaimTemplates")
    if not claims:
        return obj
    changed = mapped(claims, _with_claim_kind)
    return obj if changed is claims else {**obj, "spec": {**spec, "volumeClaimTemplates": changed}}


def _with_claim_kind(claim: Object) -> Object:
    if claim.get("kind") and claim.get("apiVersion"):
        return claim
    return {**claim, "apiVersion": "v1", "kind": "PersistentVolumeClaim"}


def validate_name(name: str, is_prefix: bool) -> list[str]:
    """Check a stateful set's name: one DNS label, as its pods' host names start with it."""
    return name_is_label(name, is_prefix)


def validate(obj: Object) -> list[Problem]:
    """Check a stateful set."""
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    policy = spec.get("podManagementPolicy") or ""
    if not policy:
        found.append(required("spec.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        found.append(invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    found += _strategy_problems(spec.get("updateStrategy") or {})
    found += fields.non_negative(spec, ("replicas", "minReadySeconds"), "spec")
    found += fields.non_negative(spec.get("ordinals") or {}, ("start",), "spec.ordinals")
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for key in _RETENTION:
        value = retention.get(key) or ""
        if value not in ("Retain", "Delete"):
            field = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            found.append(fields.unsupported(field, value, ("Retain", "Delete")))
    claims = spec.get("volumeClaimTemplates") or []
    volumes = [(claim.get("metadata") or {}).get("name") or "" for claim in claims]
    found += rules.selector_and_template(spec, "statefulset", "StatefulSet", volumes)
    name = spec.get("serviceName")
    if name:
        found += invalid_each("spec.serviceName", name, names.is_dns1123_label(name))
    for index, claim in enumerate(claims):
        found += claim_template_problems(claim, f"spec.volumeClaimTemplates[{index}]")
    return found


def _strategy_problems(strategy: Object) -> list[Problem]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    field = "spec.updateStrategy"
    if not kind:
        return [required(field)]
    if kind == "OnDelete":
        if rolling is None:
            return []
        text = "only allowed for updateStrategy 'RollingUpdate'"
        shown = internal_text("RollingUpdateStatefulSetStrategy", rolling)
        return [Problem(INVALID, f"{field}.rollingUpdate", shown, text)]
    if kind != "RollingUpdate":
        shown = internal_text("StatefulSetUpdateStrategy", strategy)
        return [Problem(INVALID, field, shown, "must be 'RollingUpdate' or 'OnDelete'")]
    if rolling is None:
        return []
    found = fields.non_negative(rolling, ("partition",), f"{field}.rollingUpdate")
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        path = f"{field}.rollingUpdate.maxUnavailable"
        found += fields.int_or_percent(unavailable, path)
        if fields.number_in(unavailable) == 0:
            found.append(invalid(path, unavailable, "cannot be 0"))
        found += fields.at_most_all(unavailable, path)
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed stateful set."""
    found = validate(new)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    found += rules.unchanged_field(after, before, "serviceName")
    found += rules.unchanged_field(after, before, "podManagementPolicy")
    found += rules.unchanged_field(after, before, "selector")
    claims = after.get("volumeClaimTemplates")
    if claims != before.get("volumeClaimTemplates"):
        shown = internal_text("[]PersistentVolumeClaim", claims)
        found += rules.unchanged_field(after, before, "volumeClaimTemplates", shown_as=shown)
    return found


def validate_status(new: Object, old: Object) -> list[Problem]:
    """Check a status write."""
    status = new.get("status") or {}
    found = fields.non_negative(status, _COUNTS, "status")
    counts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    found += rules.not_above(status, counts, "replicas", "cannot be greater than status.replicas")
    found += rules.not_above(
        status, ("availableReplicas",), "readyReplicas", "cannot be greater than status.readyReplicas"
    )
    return found + rules.collision_count_kept(new, old)


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in the templates of pods and claims, and in the number of revisions."""
    spec = obj.get("spec") or {}
    found = template_warnings(spec.get("template") or {}, "spec.template")
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        found += claim_spec_warnings(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}]")
    limit = spec.get("revisionHistoryLimit")
    if limit is not None and limit < 0:
        text = "a negative value retains all historical revisions; a value >= 0 is recommended"
        found.append(f"spec.revisionHistoryLimit: {text}")
    return found


update_warnings = with_new_generation(warnings)
