"""Rules for label maps, annotations and label selectors, as field problems.

Source: k8s.io/apimachinery pkg/apis/meta/v1/validation and pkg/api/validation; texts in
tests/golden/l0/validation.jsonl.gz. Go reports maps in random order; we report them sorted by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from env_core.objects import names
from env_core.objects.problems import Problem, forbidden, invalid, required, too_long

ANNOTATIONS_BYTES_MAX = 256 * 1024
_VALUES_NEEDED = "must be specified when `operator` is 'In' or 'NotIn'"
_VALUES_UNWANTED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def invalid_each(field: str, value: Any, complaints: Iterable[str]) -> list[Problem]:
    """Return one "Invalid value" for every complaint about `value`."""
    return [invalid(field, value, complaint) for complaint in complaints]


def label_problems(labels: Mapping[str, str] | None, field: str) -> list[Problem]:
    """Check a map of labels (also a node selector)."""
    if not labels or all(map(names.is_fine_label, labels, labels.values())):
        return []
    found: list[Problem] = []
    for key in sorted(labels):
        found += invalid_each(field, key, names.is_qualified_name(key))
        value = labels[key]
        found += invalid_each(field, value, names.is_valid_label_value(value))
    return found


def label_name_problems(key: str, field: str) -> list[Problem]:
    """Check one label key."""
    return invalid_each(field, key, names.is_qualified_name(key))


def annotation_problems(annotations: Mapping[str, str] | None, field: str) -> list[Problem]:
    """Check a map of annotations: keys, and the size of all together."""
    if not annotations:
        return []
    found: list[Problem] = []
    for key in sorted(annotations):
        found += invalid_each(field, key, names.is_qualified_name(key.lower()))
    if (
        sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
        > ANNOTATIONS_BYTES_MAX
    ):
        found.append(too_long(field, ANNOTATIONS_BYTES_MAX))
    return found


def selector_problems(selector: Mapping[str, Any] | None, field: str) -> list[Problem]:
    """Check a LabelSelector object."""
    if not selector:
        return []
    found = label_problems(selector.get("matchLabels"), f"{field}.matchLabels")
    for index, term in enumerate(selector.get("matchExpressions") or ()):
        found += _expression_problems(term, f"{field}.matchExpressions[{index}]")
    return found


def _expression_problems(term: Mapping[str, Any], field: str) -> list[Problem]:
    found: list[Problem] = []
    operator, values = term.get("operator") or "", term.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            found.append(required(f"{field}.values", _VALUES_NEEDED))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            found.append(forbidden(f"{field}.values", _VALUES_UNWANTED))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    found += label_name_problems(term.get("key") or "", f"{field}.key")
    for index, value in enumerate(values):
        found += invalid_each(f"{field}.values[{index}]", value, names.is_valid_label_value(value))
    return found


def is_usable_selector(selector: Mapping[str, Any] | None) -> bool:
    """Tell whether a LabelSelector object compiles."""
    return not selector_problems(selector, "")


def is_empty_selector(selector: Mapping[str, Any]) -> bool:
    """Tell whether a LabelSelector object has no terms, which selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")
