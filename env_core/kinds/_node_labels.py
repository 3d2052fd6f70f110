"""Node labels that are on their way out, wherever they are asked for.

Source: kubernetes pkg/api/node/util.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.objects import names
from env_core.world import Object

_OLD = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def label_warning(key: str) -> str:
    """Return what is to be said about a label, "" if nothing is."""
    return _OLD.get(key, "")


def selector_warnings(wanted: Iterable[str], field: str) -> list[str]:
    """Return warnings about the labels of a node selector, which is a map."""
    return [f"{field}[{key}]: {_OLD[key]}" for key in sorted(wanted) if key in _OLD]


def term_warnings(term: Object, field: str, *, has_checked_values: bool = True) -> list[str]:
    """Return warnings about one term of node affinity; values that are no labels count where nothing else refuses them."""
    found: list[str] = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        path = f"{field}.matchExpressions[{index}]"
        key = expression.get("key") or ""
        if key in _OLD:
            found.append(f"{path}.key: {key} is {_OLD[key]}")
        if not has_checked_values:
            for place, value in enumerate(expression.get("values") or ()):
                found += [
                    f"{path}.values[{place}]: {value} is invalid, {text}"
                    for text in names.is_valid_label_value(value)
                ]
    return found
