"""Defaults, preparation and validation of jobs.

Source: k8s.io/kubernetes pkg/apis/batch and pkg/registry/batch/job; recorded in tests/golden/l0.
"""

from __future__ import annotations

from typing import Any

from env_core.kinds import _field_rules as fields
from env_core.kinds import _workload_rules as rules
from env_core.kinds._internal_types import internal_text, selector_text
from env_core.kinds._job_policies import (
    failure_policy_problems,
    pod_replacement_problems,
    success_policy_problems,
)
from env_core.kinds._pod_warnings import name_warnings, template_warnings, with_new_generation
from env_core.kinds._podspec_defaults import with_default_template
from env_core.kinds._podspec_validation import validate_pod_template
from env_core.objects import names, selectors
from env_core.objects.label_rules import invalid_each, is_usable_selector, selector_problems
from env_core.objects.problems import INVALID, Problem, invalid, required, shown, too_long
from env_core.world import Object

UID_LABEL = "batch.kubernetes.io/controller-uid"
NAME_LABEL = "batch.kubernetes.io/job-name"
_OLD_UID_LABEL = "controller-uid"
_OLD_NAME_LABEL = "job-name"
_INT32_MAX = 2**31 - 1
_PARALLEL_MAX = 100_000
_PARALLEL_MANY_MAX = 10_000
_MANAGER_LENGTH_MAX = 63
_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
_ENDS = ("OnFailure", "Never")


def default(obj: Object) -> Object:
    """Fill in a job's defaults; labels come from the template where there are none."""
    spec = obj.get("spec") or {}
    new = with_default_template(spec)
    changes: Object = {}
    parallelism = new.get("parallelism")
    if parallelism is None:
        changes["parallelism"] = 1
        if new.get("completions") is None:
            changes["completions"] = 1
    policy = new.get("podFailurePolicy")
    for key, value in (
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("manualSelector", False),
        ("podReplacementPolicy", "TerminatingOrFailed" if policy is None else "Failed"),
        ("backoffLimit", 6 if new.get("backoffLimitPerIndex") is None else _INT32_MAX),
    ):
        if new.get(key) is None:
            changes[key] = value
    if policy is not None:
        filled = _default_policy(policy)
        if filled is not policy:
            changes["podFailurePolicy"] = filled
    if changes:
        new = {**new, **changes}
    metadata = obj.get("metadata") or {}
    labels = ((new.get("template") or {}).get("metadata") or {}).get("labels")
    if labels and not metadata.get("labels"):
        return {**obj, "metadata": {**metadata, "labels": labels}, "spec": new}
    return obj if new is spec else {**obj, "spec": new}


def _default_policy(policy: Object) -> Object:
    policy_rules = policy.get("rules") or []
    if all(pattern.get("status") for rule in policy_rules for pattern in rule.get("onPodConditions") or ()):
        return policy
    filled = [
        {
            **rule,
            "onPodConditions": [
                {**pattern, "status": pattern.get("status") or "True"} for pattern in rule["onPodConditions"]
            ],
        }
        if rule.get("onPodConditions")
        else rule
        for rule in policy_rules
    ]
    return {**policy, "rules": filled}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status; generate selector and pod labels from the uid, unless that is manual."""
    spec = obj.get("spec") or {}
    if spec.get("manualSelector"):
        return {**obj, "status": {}}
    metadata = obj.get("metadata") or {}
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    generated = {UID_LABEL: uid, NAME_LABEL: name, _OLD_UID_LABEL: uid, _OLD_NAME_LABEL: name}
    template = spec.get("template") or {}
    template_metadata = template.get("metadata") or {}
    labels = template_metadata.get("labels")
    new_labels = {**(labels or {}), **generated}
    selector = spec.get("selector") or {}
    new_spec = {
        **spec,
        "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), UID_LABEL: uid}},
        "template": {**template, "metadata": {**template_metadata, "labels": new_labels}},
    }
    if labels and metadata.get("labels") is labels:
        # Labels that were defaulted from the template are the same Go map: what is added there shows here.
        return {**obj, "metadata": {**metadata, "labels": new_labels}, "spec": new_spec, "status": {}}
    return {**obj, "spec": new_spec, "status": {}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check a job."""
    metadata, spec = obj.get("metadata") or {}, obj.get("spec") or {}
    found = _generated_selector_problems(metadata, spec)
    found += job_spec_problems(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        found.append(required("spec.selector"))
    else:
        found += selector_problems(selector, "spec.selector")
    if is_usable_selector(selector):
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if not selectors.from_object(selector).matches(labels):
            found.append(invalid("spec.template.metadata.labels", labels, rules.MISMATCH))
    return fields.distinct(found + _host_name_problems(metadata.get("name") or "", spec))


def _generated_selector_problems(metadata: Object, spec: Object) -> list[Problem]:
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    if not uid:
        return [required("metadata.uid")]
    found: list[Problem] = []
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    for key, value in ((UID_LABEL, uid), (NAME_LABEL, name)):
        field = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            found.append(required(field, f"must be '{value}'"))
        elif labels[key] != value:
            found.append(invalid(field, labels, f"must be '{value}'"))
    expected = {UID_LABEL: uid, NAME_LABEL: name, _OLD_UID_LABEL: uid, _OLD_NAME_LABEL: name}
    if is_usable_selector(selector) and not selectors.from_object(selector).matches(expected):
        text = "`selector` not auto-generated"
        found.append(Problem(INVALID, "spec.selector", selector_text(selector), text))
    return found


def _host_name_problems(name: str, spec: Object) -> list[Problem]:
    completions = spec.get("completions")
    if spec.get("completionMode") != "Indexed" or not completions or completions < 0:
        return []
    host = f"{name}-{completions - 1}"
    text = f"will not able to create pod with invalid DNS label: {host}"
    return [invalid("metadata.name", name, text)] if names.is_dns1123_label(host) else []


def job_spec_problems(spec: Object, field: str) -> list[Problem]:
    """Check what jobs and the job templates of cron jobs share."""
    found = fields.non_negative(spec, _COUNTS, field)
    found += _index_limit_problems(spec, field)
    manager = spec.get("managedBy")
    if manager is not None:
        found += invalid_each(f"{field}.managedBy", manager, names.is_domain_prefixed_path(manager))
        if len(manager) > _MANAGER_LENGTH_MAX:
            found.append(too_long(f"{field}.managedBy", _MANAGER_LENGTH_MAX))
    mode = spec.get("completionMode")
    if mode is not None and mode not in ("NonIndexed", "Indexed"):
        found.append(fields.unsupported(f"{field}.completionMode", mode, ("NonIndexed", "Indexed")))
    if mode == "Indexed":
        found += _indexed_problems(spec, field)
    if mode in (None, "NonIndexed"):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(key) is not None:
                found.append(invalid(f"{field}.{key}", spec[key], "requires indexed completion mode"))
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        found += failure_policy_problems(spec, policy, f"{field}.podFailurePolicy")
    success = spec.get("successPolicy")
    if success is not None:
        found += success_policy_problems(spec, success, f"{field}.successPolicy")
    found += pod_replacement_problems(spec, f"{field}.podReplacementPolicy")
    template = spec.get("template") or {}
    found += validate_pod_template(template, f"{field}.template")
    restart = (template.get("spec") or {}).get("restartPolicy") or ""
    path = f"{field}.template.spec.restartPolicy"
    if restart not in _ENDS:
        found.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy is not None and restart != "Never":
        found.append(invalid(path, restart, 'only "Never" is supported when podFailurePolicy is specified'))
    return found


def _index_limit_problems(spec: Object, field: str) -> list[Problem]:
    found = fields.non_negative(spec, ("backoffLimitPerIndex", "maxFailedIndexes"), field)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        found.append(required(f"{field}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    return found


def _indexed_problems(spec: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        found.append(required(f"{field}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > _PARALLEL_MAX:
        text = f"must be less than or equal to {_PARALLEL_MAX} when completion mode is Indexed"
        found.append(invalid(f"{field}.parallelism", parallelism, text))
    if failed is not None:
        if completions is not None and failed > completions:
            text = "must be less than or equal to completions"
            found.append(invalid(f"{field}.maxFailedIndexes", failed, text))
        if failed > _PARALLEL_MAX:
            text = f"must be less than or equal to {_PARALLEL_MAX}"
            found.append(invalid(f"{field}.maxFailedIndexes", failed, text))
    if (completions or 0) > _PARALLEL_MAX and spec.get("backoffLimitPerIndex") is not None:
        if failed is None:
            text = f"must be specified when completions is above {_PARALLEL_MAX}"
            found.append(required(f"{field}.maxFailedIndexes", text))
        text = (
            f"must be less than or equal to {_PARALLEL_MANY_MAX} when completions are above {_PARALLEL_MAX} "
            "and used with backoff limit per index"
        )
        for key, value in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
            if value is not None and value > _PARALLEL_MANY_MAX:
                found.append(invalid(f"{field}.{key}", value, text))
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed job: little but parallelism may change."""
    found = validate(new)
    # An update keeps the selector, so that it was generated is not checked again.
    found = [problem for problem in found if problem.detail != "`selector` not auto-generated"]
    after, before = new.get("spec") or {}, old.get("spec") or {}
    found += _completion_problems(after, before)
    found += _immutable(after, before, "selector", selector_text(after.get("selector")))
    template, old_template = after.get("template"), before.get("template")
    if template != old_template and template != _movable_template(old, template or {}):
        text = internal_text("PodTemplateSpec", template)
        found.append(Problem(INVALID, "spec.template", text, rules.IMMUTABLE))
    found += _immutable(after, before, "completionMode")
    policy = internal_text("*PodFailurePolicy", after.get("podFailurePolicy"))
    found += _immutable(after, before, "podFailurePolicy", policy)
    found += _immutable(after, before, "backoffLimitPerIndex")
    found += _immutable(after, before, "managedBy")
    success = internal_text("*SuccessPolicy", after.get("successPolicy"))
    return found + _immutable(after, before, "successPolicy", success)


def _immutable(after: Object, before: Object, key: str, text: str | None = None) -> list[Problem]:
    return rules.unchanged_field(after, before, key, shown_as=text)


def _completion_problems(after: Object, before: Object) -> list[Problem]:
    completions: Any = after.get("completions")
    if after.get("completionMode") != "Indexed":
        return _immutable(after, before, "completions")
    if completions == before.get("completions"):
        return []
    if completions is None:
        return [required("spec.completions")]
    if completions != after.get("parallelism"):
        text = "can only be modified in tandem with spec.parallelism"
        return [Problem(INVALID, "spec.completions", shown(completions), text)]
    return []


def _movable_template(old: Object, template: Object) -> Object:
    """Return the old template with what a job that never started may still change taken from the new one."""
    spec, status = old.get("spec") or {}, old.get("status") or {}
    before: Object = spec.get("template") or {}
    if not spec.get("suspend") or status.get("startTime") is not None or status.get("active"):
        return before
    after_spec, old_spec = template.get("spec") or {}, before.get("spec") or {}
    moved = _with_fields(old_spec, after_spec, ("nodeSelector", "tolerations", "schedulingGates", "affinity"))
    for key in ("containers", "initContainers"):
        containers, old_containers = after_spec.get(key) or [], old_spec.get(key) or []
        if old_containers and len(containers) == len(old_containers):
            moved[key] = [
                _with_fields(old_container, container, ("resources",))
                for container, old_container in zip(containers, old_containers, strict=True)
            ]
    after_metadata = template.get("metadata") or {}
    metadata = _with_fields(before.get("metadata") or {}, after_metadata, ("labels", "annotations"))
    result: Object = {**before, "spec": moved}
    if metadata or "metadata" in template:
        result["metadata"] = metadata
    return result


def _with_fields(obj: Object, source: Object, keys: tuple[str, ...]) -> Object:
    """Return a copy of `obj` whose fields `keys` are as in `source`, absent where they are absent there."""
    rest = {key: value for key, value in obj.items() if key not in keys}
    return {**rest, **{key: source[key] for key in keys if key in source}}


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check a status write."""
    status = new.get("status") or {}
    return fields.non_negative(status, ("active", "succeeded", "failed", "ready", "terminating"), "status")


def job_spec_warnings(spec: Object, field: str) -> list[str]:
    """Return what the server warns of in a job's spec that stands at `field`. Source: pkg/api/job/warnings.go."""
    found: list[str] = []
    is_indexed = spec.get("completionMode") == "Indexed"
    if is_indexed and (spec.get("completions") or 0) > 10**5 and (spec.get("parallelism") or 0) > 10**4:
        text = (
            "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
        found.append(f"{field}: {text}")
    return found + template_warnings(spec.get("template") or {}, f"{field}.template")


def _spec_warnings(obj: Object) -> list[str]:
    return job_spec_warnings(obj.get("spec") or {}, "spec")


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of in a new job: its name, and its spec."""
    return [*name_warnings(obj), *_spec_warnings(obj)]


update_warnings = with_new_generation(_spec_warnings)
