"""Flow schemas: which requests to the API server go to which priority level."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._flowcontrol_rules import condition_problems
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import names
from env_core.objects.problems import (
    NOT_SUPPORTED,
    Problem,
    forbidden,
    invalid,
    not_supported,
    quoted,
    required,
)
from env_core.world import Object

MATCHING_PRECEDENCE_MAX = 10_000
_DEFAULT_PRECEDENCE = 1000
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_METHODS = ("ByNamespace", "ByUser")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    if spec.get("matchingPrecedence"):
        return obj
    return {**obj, "spec": {**spec, "matchingPrecedence": _DEFAULT_PRECEDENCE}}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    """Check a flow schema.

    Source: k8s.io/kubernetes pkg/apis/flowcontrol/validation ValidateFlowSchema.
    """
    spec, name = obj.get("spec") or {}, obj["metadata"].get("name", "")
    precedence, field = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    found: list[Problem] = []
    if precedence <= 0:
        found.append(invalid(field, precedence, "must be a positive value"))
    if precedence > MATCHING_PRECEDENCE_MAX:
        found.append(invalid(field, precedence, f"must not be greater than {MATCHING_PRECEDENCE_MAX}"))
    if precedence == 1 and name != "exempt":
        found.append(invalid(field, 1, "only the schema named 'exempt' may have matchingPrecedence 1"))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        text = orjson.dumps({"Type": method.get("type") or ""}).decode()
        listed = ", ".join(map(quoted, _METHODS))
        found.append(
            Problem(NOT_SUPPORTED, "spec.distinguisherMethod.type", text, f"supported values: {listed}")
        )
    level, field = (
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        "spec.priorityLevelConfiguration.name",
    )
    if level:
        found += [invalid(field, level, text) for text in names.is_dns1123_subdomain(level)]
    else:
        found.append(required(field, "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules") or ()):
        found += _rule_problems(rule, f"spec.rules[{index}]")
    return found


def _rule_problems(rule: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    subjects = rule.get("subjects") or []
    if not subjects:
        found.append(required(f"{field}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(subjects):
        found += _subject_problems(subject, f"{field}.subjects[{index}]")
    resources, others = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not others:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        found.append(required(field, text))
    for index, each in enumerate(resources):
        found += _resource_problems(each, f"{field}.resourceRules[{index}]")
    for index, each in enumerate(others):
        found += _path_problems(each, f"{field}.nonResourceRules[{index}]")
    return found


def _subject_problems(subject: Object, field: str) -> list[Problem]:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        return [not_supported(f"{field}.kind", kind, _SUBJECTS)]
    own = _SUBJECTS[kind]
    value = subject.get(own)
    found: list[Problem] = []
    if value is None:
        found.append(required(f"{field}.{own}", f"{own} is required when subject kind is '{kind}'"))
    elif not value.get("name"):
        found.append(required(f"{field}.{own}.name"))
    elif own == "serviceAccount" and value["name"] != "*":
        found += [
            invalid(f"{field}.{own}.name", value["name"], text)
            for text in names.is_dns1123_subdomain(value["name"])
        ]
    if value is not None and own == "serviceAccount":
        namespace, path = value.get("namespace") or "", f"{field}.{own}.namespace"
        if namespace:
            found += [invalid(path, namespace, text) for text in names.is_dns1123_label(namespace)]
        else:
            found.append(required(path, "must specify namespace for service account"))
    # The others are reported in the order of the API's own code.
    for other_kind in ("ServiceAccount", "User", "Group"):
        other = _SUBJECTS[other_kind]
        if other != own and subject.get(other) is not None:
            text = f"{other} is forbidden when subject kind is not '{other_kind}'"
            found.append(forbidden(f"{field}.{other}", text))
    return found


def _wildcard_problem(values: Sequence[str], field: str, noun: str) -> list[Problem]:
    if "*" in values and len(values) > 1:
        return [invalid(field, list(values), f"if '*' is present, must not specify other {noun}")]
    return []


def _verb_problems(verbs: Sequence[str], field: str) -> list[Problem]:
    if not verbs:
        return [required(field, "verbs must contain at least one value")]
    if "*" in verbs:
        return _wildcard_problem(verbs, field, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [not_supported(field, list(verbs), _VERBS)]


def _resource_problems(rule: Object, field: str) -> list[Problem]:
    found = _verb_problems(rule.get("verbs") or [], f"{field}.verbs")
    for key, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(key) or []
        if not values:
            found.append(required(f"{field}.{key}", f"resource rules must supply at least one {one}"))
        found += _wildcard_problem(values, f"{field}.{key}", many)
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        found.append(required(f"{field}.namespaces", text))
    if "*" in namespaces:
        return found + _wildcard_problem(namespaces, f"{field}.namespaces", "namespaces")
    for index, namespace in enumerate(namespaces):
        found += [
            invalid(
                f"{field}.namespaces[{index}]",
                namespace,
                f"each member of this list must be '*' or a DNS-1123 label; {text}",
            )
            for text in names.is_dns1123_label(namespace)
        ]
    return found


def _path_problems(rule: Object, field: str) -> list[Problem]:
    found = _verb_problems(rule.get("verbs") or [], f"{field}.verbs")
    urls, path = rule.get("nonResourceURLs") or [], f"{field}.nonResourceURLs"
    if not urls:
        found.append(required(path, "nonResourceURLs must contain at least one value"))
    if "*" in urls:
        return found + _wildcard_problem(urls, path, "non-resource URLs")
    for index, url in enumerate(urls):
        complaint = _url_complaint(url)
        if complaint:
            found.append(invalid(f"{path}[{index}]", url, complaint))
    return found


def _url_complaint(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    count = url.count("*")
    if count > 1 or (count == 1 and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    return condition_problems((new.get("status") or {}).get("conditions") or ())


def _cell_level(obj: Object, _now_ms: int) -> str:
    return str(((obj.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name") or "")


def _cell_precedence(obj: Object, _now_ms: int) -> int:
    return int((obj.get("spec") or {}).get("matchingPrecedence") or 0)


def _cell_method(obj: Object, _now_ms: int) -> str:
    method = (obj.get("spec") or {}).get("distinguisherMethod")
    return "<none>" if method is None else str(method.get("type") or "")


def _cell_missing(obj: Object, _now_ms: int) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((str(each.get("status")) for each in conditions if each.get("type") == "Dangling"), "?")


def _row_order(obj: Object) -> tuple[int, str]:
    return _cell_precedence(obj, 0), obj["metadata"]["name"]


KIND = Kind(
    group="flowcontrol.apiserver.k8s.io",
    version="v1",
    kind="FlowSchema",
    plural="flowschemas",
    singular="flowschema",
    is_namespaced=False,
    has_generation=True,
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_status=_validate_status,
    columns=(
        NAME,
        Column("PriorityLevel", _cell_level),
        Column("MatchingPrecedence", _cell_precedence),
        Column("DistinguisherMethod", _cell_method),
        AGE,
        Column("MissingPL", _cell_missing),
    ),
    row_order=_row_order,
    describe=describe_unstructured,
    source="k8s.io/api flowcontrol/v1 FlowSchema, 1.37; pkg/apis/flowcontrol; tests/golden/l2",
    unrecorded="validation texts; requests are not limited",
)
