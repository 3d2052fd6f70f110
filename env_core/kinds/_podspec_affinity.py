"""Validation of what steers scheduling: affinity, tolerations, spreading, gates.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._field_rules import unsupported
from env_core.objects import names
from env_core.objects.label_rules import invalid_each, label_name_problems, selector_problems
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = "must be in the range 1-100"
_OPERATOR = "not a valid selector operator"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


def affinity_problems(affinity: Object, field: str) -> list[Problem]:
    """Check a pod's affinity."""
    found: list[Problem] = []
    node = affinity.get("nodeAffinity")
    if node is not None:
        found += _node_affinity_problems(node, f"{field}.nodeAffinity")
    for key in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(key)
        if terms is None:
            continue
        path = f"{field}.{key}.{_REQUIRED}"
        for index, term in enumerate(terms.get(_REQUIRED) or ()):
            found += _pod_term_problems(term, f"{path}[{index}]")
        path = f"{field}.{key}.{_PREFERRED}"
        for index, weighted in enumerate(terms.get(_PREFERRED) or ()):
            found += _weight_problems(weighted, f"{path}[{index}]")
            found += _pod_term_problems(
                weighted.get("podAffinityTerm") or {}, f"{path}[{index}].podAffinityTerm"
            )
    return found


def _node_affinity_problems(affinity: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    selector = affinity.get(_REQUIRED)
    if selector is not None:
        found += node_selector_problems(selector, f"{field}.{_REQUIRED}")
    for index, term in enumerate(affinity.get(_PREFERRED) or ()):
        path = f"{field}.{_PREFERRED}[{index}]"
        found += _weight_problems(term, path)
        found += _node_term_problems(term.get("preference") or {}, f"{path}.preference")
    return found


def _weight_problems(term: Object, field: str) -> list[Problem]:
    weight = term.get("weight") or 0
    return [] if 1 <= weight <= 100 else [invalid(f"{field}.weight", weight, _WEIGHT)]


def node_selector_problems(selector: Object, field: str) -> list[Problem]:
    """Check a node selector (of a pod's affinity or of a persistent volume)."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        return [required(f"{field}.nodeSelectorTerms", "must have at least one node selector term")]
    found: list[Problem] = []
    for index, term in enumerate(terms):
        found += _node_term_problems(term, f"{field}.nodeSelectorTerms[{index}]")
    return found


def _node_term_problems(term: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, rule in enumerate(term.get("matchExpressions") or ()):
        found += _node_label_problems(rule, f"{field}.matchExpressions[{index}]")
    for index, rule in enumerate(term.get("matchFields") or ()):
        found += _node_field_problems(rule, f"{field}.matchFields[{index}]")
    return found


def _node_label_problems(rule: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    operator, values = rule.get("operator") or "", rule.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            found.append(required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", text))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(required(f"{field}.values", text))
    else:
        found.append(invalid(f"{field}.operator", operator, _OPERATOR))
    found += label_name_problems(rule.get("key") or "", f"{field}.key")
    for index, value in enumerate(values):
        found += invalid_each(f"{field}.values[{index}]", value, names.is_valid_label_value(value))
    return found


def _node_field_problems(rule: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    operator, values, key = rule.get("operator") or "", rule.get("values") or [], rule.get("key") or ""
    if operator not in ("In", "NotIn"):
        found.append(invalid(f"{field}.operator", operator, _OPERATOR))
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        found.append(required(f"{field}.values", text))
    if key != "metadata.name":
        return [*found, invalid(f"{field}.key", key, "not a valid field selector key")]
    for index, value in enumerate(values):
        found += invalid_each(f"{field}.values[{index}]", value, names.is_dns1123_subdomain(value))
    return found


def _pod_term_problems(term: Object, field: str) -> list[Problem]:
    found = selector_problems(term.get("labelSelector"), f"{field}.labelSelector")
    found += selector_problems(term.get("namespaceSelector"), f"{field}.namespaceSelector")
    for name in term.get("namespaces") or ():
        found += invalid_each(f"{field}.namespace", name, names.is_dns1123_label(name))
    for kind in ("matchLabelKeys", "mismatchLabelKeys"):
        found += _label_key_problems(term, kind, f"{field}.{kind}")
    key = term.get("topologyKey") or ""
    if not key:
        found.append(required(f"{field}.topologyKey", "can not be empty"))
    return found + label_name_problems(key, f"{field}.topologyKey")


def _label_key_problems(term: Object, kind: str, field: str) -> list[Problem]:
    keys = term.get(kind) or []
    if not keys:
        return []
    if term.get("labelSelector") is None:
        return [forbidden(field, "must not be specified when labelSelector is not set")]
    found: list[Problem] = []
    for index, key in enumerate(keys):
        found += label_name_problems(key, f"{field}[{index}]")
    return found


def toleration_problems(tolerations: list[Object], field: str) -> list[Problem]:
    """Check a pod's tolerations."""
    found: list[Problem] = []
    for index, toleration in enumerate(tolerations):
        path = f"{field}[{index}]"
        key, value = toleration.get("key") or "", toleration.get("value") or ""
        operator, effect = toleration.get("operator") or "", toleration.get("effect") or ""
        if key:
            found += label_name_problems(key, f"{path}.key")
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            found.append(invalid(f"{path}.operator", operator, text))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            found.append(invalid(f"{path}.effect", effect, text))
        if operator in ("Equal", ""):
            complaints = names.is_valid_label_value(value)
            if complaints:
                found.append(invalid(f"{path}.operator", value, ";".join(complaints)))
        elif operator == "Exists":
            if value:
                text = "value must be empty when `operator` is 'Exists'"
                found.append(invalid(f"{path}.operator", value, text))
        else:
            found.append(unsupported(f"{path}.operator", operator, ("Equal", "Exists")))
        if effect and effect not in _EFFECTS:
            found.append(unsupported(f"{path}.effect", effect, _EFFECTS))
    return found


def spread_problems(constraints: list[Object], field: str) -> list[Problem]:
    """Check a pod's topology spread constraints."""
    found: list[Problem] = []
    pairs = [
        (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        for constraint in constraints
    ]
    for index, constraint in enumerate(constraints):
        path = f"{field}[{index}]"
        skew = constraint.get("maxSkew") or 0
        key, when = pairs[index]
        if skew <= 0:
            found.append(invalid(f"{path}.maxSkew", skew, "must be greater than zero"))
        if not key:
            found.append(required(f"{path}.topologyKey", "can not be empty"))
        else:
            found += label_name_problems(key, f"{path}.topologyKey")
        if when not in _UNSATISFIABLE:
            found.append(unsupported(f"{path}.whenUnsatisfiable", when, _UNSATISFIABLE))
        if (key, when) in pairs[index + 1 :]:
            pair = f"{path}.{{topologyKey, whenUnsatisfiable}}"
            found.append(duplicate(pair, f"{{{key}, {when}}}"))
        domains = constraint.get("minDomains")
        if domains is not None:
            if domains <= 0:
                found.append(invalid(f"{path}.minDomains", domains, "must be greater than zero"))
            if when != "DoNotSchedule":
                text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                found.append(invalid(f"{path}.minDomains", domains, text))
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            value = constraint.get(policy)
            if value is not None and value not in ("Honor", "Ignore"):
                found.append(unsupported(f"{path}.{policy}", value, ("Honor", "Ignore")))
        found += _label_key_problems(constraint, "matchLabelKeys", f"{path}.matchLabelKeys")
        found += selector_problems(constraint.get("labelSelector"), f"{path}.labelSelector")
    return found


def gate_problems(spec: Object, field: str) -> list[Problem]:
    """Check a pod's readiness and scheduling gates."""
    found: list[Problem] = []
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        found += label_name_problems(
            gate.get("conditionType") or "", f"{field}.readinessGates[{index}].conditionType"
        )
    seen: list[str] = []
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name") or ""
        path = f"{field}.schedulingGates[{index}]"
        found += label_name_problems(name, path)
        if name in seen:
            found.append(duplicate(path, name))
        seen.append(name)
    return found
