"""What may change in a pod that exists: through the pod itself, and through its subresources.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.kinds._internal_types import internal_diff
from env_core.kinds._podspec_affinity import toleration_problems
from env_core.objects import names, pod_resources
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, forbidden, invalid
from env_core.world import Object

_FIXED = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_STATUSES = (("containerStatuses", False), ("initContainerStatuses", True))


def update_problems(new: Object, old: Object) -> list[Problem]:
    """Check what an update of the pod itself changes.

    A change of nothing but ephemeral containers is judged as their subresource judges it, since writes to that
    are checked here too.
    """
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if after is before:
        return []
    if _ephemeral(new) != _ephemeral(old) and _without_ephemeral(after) == _without_ephemeral(before):
        return ephemeral_update_problems(new, old)
    for key in ("containers", "initContainers"):
        if len(after.get(key) or ()) != len(before.get(key) or ()):
            return [forbidden(f"spec.{key}", "pod updates may not add or remove containers")]
    found, is_stopped = _deadline_problems(after, before)
    if is_stopped:
        return found
    found += _toleration_problems(after, before)
    found += _gate_problems(after, before)
    allowed = _with_old_values(after, before)
    if allowed != before and _plain(allowed) != _plain(before):
        found.append(forbidden("spec", f"{_FIXED}\n{internal_diff('PodSpec', before, allowed)}"))
    return found


def _plain(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if value not in (None, "", [], {}, False)}


def _deadline_problems(after: Object, before: Object) -> tuple[list[Problem], bool]:
    field = "spec.activeDeadlineSeconds"
    seconds, old_seconds = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if seconds is None:
        if old_seconds is None:
            return [], False
        return [invalid(field, None, "must not update from a positive integer to nil value")], True
    complaints = names.is_in_range(seconds, 0, names.INT32_MAX)
    if complaints:
        return invalid_each(field, seconds, complaints), True
    if old_seconds is not None and old_seconds < seconds:
        return [invalid(field, seconds, "must be less than or equal to previous value")], True
    return [], False


def _toleration_problems(after: Object, before: Object) -> list[Problem]:
    tolerations, old_tolerations = after.get("tolerations") or [], before.get("tolerations") or []
    if tolerations == old_tolerations:
        return []
    kept = [_without_seconds(toleration) for toleration in tolerations]
    if any(_without_seconds(toleration) not in kept for toleration in old_tolerations):
        text = "existing toleration can not be modified except its tolerationSeconds"
        return [forbidden("spec.tolerations", text)]
    return toleration_problems(tolerations, "spec.tolerations")


def _without_seconds(toleration: Object) -> Object:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value}


def _gate_problems(after: Object, before: Object) -> list[Problem]:
    old_gates = [gate.get("name") for gate in before.get("schedulingGates") or ()]
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(after.get("schedulingGates") or ())
        if gate.get("name") not in old_gates
    ]


def _with_old_values(after: Object, before: Object) -> Object:
    """Return the new spec with the old values of what may change."""
    allowed = dict(after)
    for key in ("containers", "initContainers"):
        if key in after:
            allowed[key] = [
                {**container, "image": old_container.get("image")}
                for container, old_container in zip(after[key], before.get(key) or (), strict=True)
            ]
    for key in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _take(allowed, before, key)
    grace = before.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and after.get("terminationGracePeriodSeconds") == 1:
        allowed["terminationGracePeriodSeconds"] = grace
    if before.get("schedulingGates"):
        if _only_adds(after.get("nodeSelector"), before.get("nodeSelector")):
            _take(allowed, before, "nodeSelector")
        if not (before.get("affinity") or {}).get("nodeAffinity"):
            affinity = {
                key: value for key, value in (after.get("affinity") or {}).items() if key != "nodeAffinity"
            }
            if affinity == (before.get("affinity") or {}):
                _take(allowed, before, "affinity")
    return allowed


def _take(target: Object, source: Object, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def _only_adds(after: Any, before: Any) -> bool:
    return all((after or {}).get(key) == value for key, value in (before or {}).items())


def ephemeral_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check a write to the `ephemeralcontainers` subresource, which may only add containers."""
    after = {container.get("name"): container for container in _ephemeral(new)}
    found: list[Problem] = []
    field = "spec.ephemeralContainers"
    for container in _ephemeral(old):
        name = container.get("name")
        changed = after.get(name)
        if changed is None:
            found.append(forbidden(field, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif changed != container:
            diff = internal_diff("EphemeralContainer", container, changed)
            found.append(
                forbidden(field, f'existing ephemeral containers "{name}" may not be changed\n{diff}')
            )
    return found


def _without_ephemeral(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if key != "ephemeralContainers"}


def _ephemeral(pod: Object) -> list[Object]:
    return (pod.get("spec") or {}).get("ephemeralContainers") or []


def resize_problems(new: Object, old: Object) -> list[Problem]:
    """Check a write to the `resize` subresource: requests and limits change, nothing is removed."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    found: list[Problem] = []
    if pod_resources.qos_class(after) != pod_resources.qos_class(before):
        shown = pod_resources.qos_class(before)
        found.append(invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    for list_key in ("containers", "initContainers"):
        for index, (container, old_container) in enumerate(
            zip(after.get(list_key) or (), before.get(list_key) or ())
        ):
            resources, old_resources = container.get("resources") or {}, old_container.get("resources") or {}
            for key in ("requests", "limits"):
                if any(name not in (resources.get(key) or {}) for name in old_resources.get(key) or ()):
                    field = f"spec.{list_key}[{index}].resources.{key}"
                    found.append(forbidden(field, f"resource {key} cannot be removed"))
    if _without_resources(after) != _without_resources(before):
        found.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return found


def with_resized(new: Object, old: Object) -> Object:
    """Return the old pod with the new one's container resources and resize policies."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    spec = dict(before)
    for list_key in ("containers", "initContainers"):
        if not before.get(list_key):
            continue
        named = {container.get("name"): container for container in after.get(list_key) or ()}
        spec[list_key] = [
            _resized(container, named.get(container.get("name"))) for container in before[list_key]
        ]
    if "resources" in after:
        spec["resources"] = after["resources"]
    return {**old, "metadata": new.get("metadata") or {}, "spec": spec}


def _resized(container: Object, wanted: Object | None) -> Object:
    if wanted is None:
        return container
    changed = {**container, "resources": wanted.get("resources") or {}}
    if wanted.get("resizePolicy"):
        changed["resizePolicy"] = wanted["resizePolicy"]
    return changed


def _without_resources(spec: Object) -> Object:
    rest = {key: value for key, value in spec.items() if key != "resources"}
    for key in ("containers", "initContainers"):
        if spec.get(key):
            rest[key] = [
                {**container, "resources": _fixed_resources(container.get("resources") or {})}
                for container in spec[key]
            ]
    return rest


def _fixed_resources(resources: Object) -> Object:
    return {
        key: {
            name: text for name, text in (resources.get(key) or {}).items() if name not in ("cpu", "memory")
        }
        for key in ("requests", "limits")
    }


def state_problems(new: Object, old: Object) -> list[Problem]:
    """Check that containers that may not run again stay terminated.

    Containers may have policies and rules of their own (tests/golden/kubelet, rules-*); one that restarts all others
    lets every one run again.
    """
    spec = old.get("spec") or {}
    policy = spec.get("restartPolicy")
    if policy in (None, "Always"):
        return []
    every = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if any(
        rule.get("action") == "RestartAllContainers"
        for container in every
        for rule in container.get("restartPolicyRules") or ()
    ):
        return []
    containers = {container.get("name"): container for container in every}
    after, before = new.get("status") or {}, old.get("status") or {}
    found: list[Problem] = []
    for key, _is_starting in _STATUSES:
        for old_status in before.get(key) or ():
            ended = (old_status.get("state") or {}).get("terminated")
            container = containers.get(old_status.get("name")) or {}
            if ended is None or _may_run_again(container, policy, ended.get("exitCode", 0)):
                continue
            for index, status in enumerate(after.get(key) or ()):
                if status.get("name") == old_status.get("name") and not (status.get("state") or {}).get(
                    "terminated"
                ):
                    text = "may not be transitioned to non-terminated state"
                    found.append(forbidden(f"status.{key}[{index}].state", text))
    return found


def _may_run_again(container: Object, policy: str, exit_code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if (codes.get("operator") == "In") == (exit_code in (codes.get("values") or ())):
            return True
    own = container.get("restartPolicy") or policy
    return own == "Always" or (own == "OnFailure" and exit_code != 0)
