"""Names the parts in which an object differs from the same object of the healthy world."""

from __future__ import annotations

from typing import Any

from env_core.objects.quantity import to_bytes, to_milli
from env_core.world import Object

_REPLICAS_FACTOR_MAX = 3
_RESOURCES_FACTOR_MAX = 4
_HOUSEKEEPING = ("kubectl.kubernetes.io/", "kubernetes.io/change-cause", "deployment.kubernetes.io/")
_SAID_ELSEWHERE = frozenset({"containers", "initContainers"})


def differences(resource: str, original: Object, current: Object) -> list[str]:
    """Return the parts that differ, as an `Allowance` names them; none when only status and notes do."""
    if current is original:
        return []
    found = _metadata_differences(original["metadata"], current["metadata"])
    if resource == "deployments.apps":
        return found + _deployment_differences(original, current)
    if resource in ("configmaps", "secrets"):
        return found + _data_differences(resource, original, current)
    if resource == "serviceaccounts":
        return found + [
            part
            for part in ("automountServiceAccountToken", "imagePullSecrets", "secrets")
            if original.get(part) != current.get(part)
        ]
    before, after = original.get("spec"), current.get("spec")
    if before is after:
        return found
    if resource == "services":
        return found + _field_differences(before or {}, after or {})
    return found + (["spec"] if before != after else [])


def _metadata_differences(before: Object, after: Object) -> list[str]:
    # Another uid: it was deleted and made again, whoever did so.
    found = ["identity"] if before["uid"] != after["uid"] else []
    found += [
        part
        for part in ("finalizers", "ownerReferences")
        if (before.get(part) or []) != (after.get(part) or [])
    ]
    notes_before, notes_after = before.get("annotations") or {}, after.get("annotations") or {}
    if notes_before is not notes_after and any(
        notes_after.get(key) != value
        for key, value in notes_before.items()
        if not key.startswith(_HOUSEKEEPING)
    ):
        found.append("annotations")
    return found


def _field_differences(before: Object, after: Object) -> list[str]:
    return [part for part in sorted({*before, *after}) if before.get(part) != after.get(part)]


def _data_differences(resource: str, original: Object, current: Object) -> list[str]:
    before, after = original.get("data") or {}, current.get("data") or {}
    found = [part for part in ("binaryData", "immutable", "type") if original.get(part) != current.get(part)]
    changed = _field_differences(before, after)
    if resource == "secrets":
        return found + (["data"] if changed else [])
    return found + [f"data.{key}" for key in changed]


def _deployment_differences(original: Object, current: Object) -> list[str]:
    before, after = original["spec"], current["spec"]
    if before is after:
        return []
    found = [
        part for part in _field_differences(before, after) if part not in ("replicas", "template", "paused")
    ]
    wanted, now = before.get("replicas", 1), after.get("replicas", 1)
    if not wanted <= now <= max(wanted, 1) * _REPLICAS_FACTOR_MAX:
        found.append("replicas")
    if after.get("paused"):
        found.append("paused")
    return found + _template_differences(before["template"], after["template"])


def _template_differences(before: Object, after: Object) -> list[str]:
    if before is after:
        return []
    metadata_before, metadata_after = before.get("metadata") or {}, after.get("metadata") or {}
    labels_before, labels_after = metadata_before.get("labels") or {}, metadata_after.get("labels") or {}
    found: list[str] = []
    if any(labels_after.get(key) != value for key, value in labels_before.items()):
        found.append("labels")
    if (metadata_before.get("finalizers") or []) != (metadata_after.get("finalizers") or []):
        found.append("finalizers")
    return found + _pod_differences(before["spec"], after["spec"])


def _pod_differences(before: Object, after: Object) -> list[str]:
    found = [part for part in _field_differences(before, after) if part not in _SAID_ELSEWHERE]
    containers_before = {entry["name"]: entry for entry in before["containers"]}
    containers_after = {entry["name"]: entry for entry in after["containers"]}
    if sorted(containers_before) != sorted(containers_after) or (before.get("initContainers") or []) != (
        after.get("initContainers") or []
    ):
        found.append("containers")
    for name in sorted(containers_before):
        if name not in containers_after:
            continue
        one, other = containers_before[name], containers_after[name]
        found += [
            f"container.{name}.{part}" for part in _field_differences(one, other) if part != "resources"
        ]
        if not _are_resources_kept(one.get("resources") or {}, other.get("resources") or {}):
            found.append(f"container.{name}.resources")
    return found


def _are_resources_kept(before: Object, after: Object) -> bool:
    if before.get("claims") != after.get("claims"):
        return False
    for section in ("requests", "limits"):
        one, other = before.get(section) or {}, after.get(section) or {}
        if sorted(one) != sorted(other):
            return False
        for resource in sorted(one):
            amount = _amount(resource, one[resource])
            if not amount <= _amount(resource, other[resource]) <= amount * _RESOURCES_FACTOR_MAX:
                return False
    return True


def _amount(resource: str, quantity: Any) -> int:
    return to_milli(str(quantity)) if resource == "cpu" else to_bytes(str(quantity))
