"""Which taints a pod tolerates, which nodes its selector and affinity want: pure matching.

Source: tests/golden/l0/taints_affinity.jsonl.gz; k8s.io/component-helpers scheduling/corev1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.world import Object


def tolerates(toleration: Object, taint: Object) -> bool:
    """Say whether a toleration covers a taint; Gt and Lt compare integers."""
    effect = toleration.get("effect")
    if effect and effect != taint.get("effect"):
        return False
    key = toleration.get("key")
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    value, wanted = taint.get("value") or "", toleration.get("value") or ""
    if operator == "Equal":
        # An empty key with Equal matches only an empty value on any taint.
        return bool(value == wanted)
    return operator in ("Gt", "Lt") and _compares(operator, value, wanted)


def _compares(operator: str, value: str, wanted: str) -> bool:
    first, second = integer(value), integer(wanted)
    if first is None or second is None:
        return False
    return first > second if operator == "Gt" else first < second


def integer(text: str) -> int | None:
    """Return the integer that a label or taint value is, None when it is none."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def untolerated(taints: Iterable[Object], tolerations: Iterable[Object]) -> Object | None:
    """Return the first taint that no toleration covers, None when all are tolerated."""
    listed = tuple(tolerations)
    for taint in taints:
        if not any(tolerates(toleration, taint) for toleration in listed):
            return taint
    return None


def expression_matches(expression: Object, values: Mapping[str, str]) -> bool:
    """Say whether labels (or fields) meet one node selector requirement."""
    key, operator = expression["key"], expression.get("operator")
    wanted: list[str] = expression.get("values") or []
    value = values.get(key)
    if operator == "In":
        return value is not None and value in wanted
    if operator == "NotIn":
        return value is None or value not in wanted
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    if value is None or len(wanted) != 1:
        return False
    return operator in ("Gt", "Lt") and _compares(operator, value, wanted[0])


def term_matches(term: Object, name: str, labels: Mapping[str, str]) -> bool:
    """Say whether a node meets a node selector term; an empty term matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    if not all(expression_matches(entry, labels) for entry in expressions):
        return False
    return all(expression_matches(entry, {"metadata.name": name}) for entry in fields)


def selector_matches(selector: Object, name: str, labels: Mapping[str, str]) -> bool:
    """Say whether a node meets any term of a NodeSelector."""
    return any(term_matches(term, name, labels) for term in selector.get("nodeSelectorTerms") or ())


def required_affinity(spec: Object) -> Object | None:
    """Return the NodeSelector that a pod's node affinity requires, None if it requires none."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    found: Object | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return found


def wants_node(spec: Object, name: str, labels: Mapping[str, str]) -> bool:
    """Say whether a node meets a pod's nodeSelector and its required node affinity."""
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return False
    required = required_affinity(spec)
    return required is None or selector_matches(required, name, labels)
