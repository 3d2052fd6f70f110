"""Validation of claim templates, those of stateful sets and of ephemeral volumes.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._field_rules import unsupported
from env_core.objects import names, quantity
from env_core.objects.label_rules import annotation_problems, invalid_each, label_problems, selector_problems
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def claim_template_problems(template: Object, field: str) -> list[Problem]:
    """Check a claim that is to be made for pods."""
    metadata = template.get("metadata") or {}
    found = label_problems(metadata.get("labels"), f"{field}.metadata.labels")
    found += annotation_problems(metadata.get("annotations"), f"{field}.metadata.annotations")
    return found + _spec_problems(template.get("spec") or {}, f"{field}.spec")


def _spec_problems(spec: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    modes = spec.get("accessModes") or []
    if not modes:
        found.append(required(f"{field}.accessModes", "at least 1 access mode is required"))
    found += selector_problems(spec.get("selector"), f"{field}.selector")
    found += [unsupported(f"{field}.accessModes", mode, _MODES) for mode in modes if mode not in _MODES]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        found.append(
            forbidden(f"{field}.accessModes", "may not use ReadWriteOncePod with other access modes")
        )
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        found.append(required(f"{field}.resources[storage]"))
    elif quantity.from_value(size).sign() <= 0:
        text = "must be greater than zero"
        found.append(invalid(f"{field}.resources[storage]", quantity.canonical(size), text))
    storage_class = spec.get("storageClassName")
    if storage_class:
        complaints = names.is_dns1123_subdomain(storage_class)
        found += invalid_each(f"{field}.storageClassName", storage_class, complaints)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in ("Block", "Filesystem"):
        found.append(unsupported(f"{field}.volumeMode", mode, ("Block", "Filesystem")))
    return found
