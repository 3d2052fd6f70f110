"""RBAC policy rules as values: what one allows, what a set covers, and how kubectl and the server write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from env_core.objects.problems import quoted
from env_core.world import Object


def texts(rule: Object, field: str) -> list[str]:
    """Return a string list of a rule, [] when it is absent or null."""
    found: list[str] = rule.get(field) or []
    return found


def allows(rule: Object, verb: str, group: str, resource: str, subresource: str, name: str) -> bool:
    """Whether the rule allows the verb on the resource ("*/scale" matches a subresource of any resource).

    Source: k8s.io/kubernetes pkg/apis/rbac/v1 evaluation helpers; tests/golden/l0/rbac_eval.jsonl.gz.
    """
    verbs = texts(rule, "verbs")
    if verb not in verbs and "*" not in verbs:
        return False
    groups = texts(rule, "apiGroups")
    if group not in groups and "*" not in groups:
        return False
    resources = texts(rule, "resources")
    combined = f"{resource}/{subresource}" if subresource else resource
    if not (combined in resources or "*" in resources or (subresource and f"*/{subresource}" in resources)):
        return False
    names = texts(rule, "resourceNames")
    return not names or name in names


def allows_path(rule: Object, verb: str, path: str) -> bool:
    """Whether the rule allows the verb on a URL that is no resource ("/metrics/*" is a prefix)."""
    verbs = texts(rule, "verbs")
    if verb not in verbs and "*" not in verbs:
        return False
    return any(_matches_path(pattern, path) for pattern in texts(rule, "nonResourceURLs"))


def _matches_path(pattern: str, path: str) -> bool:
    if pattern in ("*", path):
        return True
    return pattern.endswith("*") and path.startswith(pattern.rstrip("*"))


def breakdown(rules: Iterable[Object]) -> list[Object]:
    """Split rules into ones of a single verb, group, resource and name, or a single verb and URL."""
    parts: list[Object] = []
    for rule in rules:
        verbs = texts(rule, "verbs")
        names: list[list[str]] = [[name] for name in texts(rule, "resourceNames")] or [[]]
        for group in texts(rule, "apiGroups"):
            for resource in texts(rule, "resources"):
                for verb in verbs:
                    for name in names:
                        part = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
                        parts.append({**part, "resourceNames": name} if name else part)
        parts.extend(
            {"verbs": [verb], "nonResourceURLs": [url]}
            for url in texts(rule, "nonResourceURLs")
            for verb in verbs
        )
    return parts


def compact(rules: Sequence[Object]) -> list[Object]:
    """Merge rules that differ in their verbs only; URL rules and wide ones stay, in front."""
    merged: dict[tuple[str, str, str | None], list[str]] = {}
    others: list[Object] = []
    for rule in rules:
        key = _simple_key(rule)
        if key is None:
            others.append(rule)
            continue
        verbs = merged.setdefault(key, [])
        verbs.extend(verb for verb in texts(rule, "verbs") if verb not in verbs)
    for (group, resource, name), verbs in merged.items():
        rule = {"verbs": verbs, "apiGroups": [group], "resources": [resource]}
        others.append(rule if name is None else {**rule, "resourceNames": [name]})
    return others


def _simple_key(rule: Object) -> tuple[str, str, str | None] | None:
    groups, resources, names = (
        texts(rule, "apiGroups"),
        texts(rule, "resources"),
        texts(rule, "resourceNames"),
    )
    if texts(rule, "nonResourceURLs") or len(groups) != 1 or len(resources) != 1 or len(names) > 1:
        return None
    return groups[0], resources[0], names[0] if names else None


def listed(rules: Iterable[Object]) -> list[Object]:
    """Return rules as kubectl lists them: broken down, merged, and sorted by their verbs first."""
    return sorted(compact(breakdown(rules)), key=_go_text)


def _go_text(rule: Object) -> str:
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return ",".join(f"[{' '.join(texts(rule, field))}]" for field in fields)


def missing(owned: Sequence[Object], wanted: Iterable[Object]) -> list[Object]:
    """Return the broken-down rules of `wanted` that no rule of `owned` covers."""
    return [part for part in breakdown(wanted) if not any(_covers(rule, part) for rule in owned)]


def _covers(owner: Object, part: Object) -> bool:
    verb = part["verbs"][0]
    urls = texts(part, "nonResourceURLs")
    if urls:
        return allows_path(owner, verb, urls[0])
    verbs, groups, resources = texts(owner, "verbs"), texts(owner, "apiGroups"), texts(owner, "resources")
    if verb not in verbs and "*" not in verbs:
        return False
    group, resource = part["apiGroups"][0], part["resources"][0]
    if group not in groups and "*" not in groups:
        return False
    if not (resource in resources or "*" in resources or _covered_subresource(resource, resources)):
        return False
    owned_names, names = texts(owner, "resourceNames"), texts(part, "resourceNames")
    return not owned_names or (bool(names) and names[0] in owned_names)


def _covered_subresource(resource: str, owned: list[str]) -> bool:
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in owned


def rule_text(rule: Object) -> str:
    """Return a rule as the escalation refusal writes it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`."""
    fields = (
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("NonResourceURLs", "nonResourceURLs"),
        ("ResourceNames", "resourceNames"),
        ("Verbs", "verbs"),
    )
    parts = [f"{title}:{quoted_list(texts(rule, field))}" for title, field in fields if texts(rule, field)]
    return "{" + ", ".join(parts) + "}"


def quoted_list(values: Iterable[str]) -> str:
    """Return a list as Go's %q prints it: `["a" "b"]`."""
    return "[" + " ".join(quoted(value) for value in values) + "]"


@dataclass(frozen=True, slots=True)
class Grant:
    """One binding that applies to an identity: its rules and how the reason names it."""

    rules: tuple[Object, ...]
    described: str


def describe_binding(binding: Object, subject: Object) -> str:
    """Return `RoleBinding "b/ns" of Role "r" to User "u"`, as the reason of an allowed review says."""
    metadata: Any = binding["metadata"]
    namespace = metadata.get("namespace", "")
    kind, name = (
        ("RoleBinding", f"{metadata['name']}/{namespace}")
        if namespace
        else ("ClusterRoleBinding", metadata["name"])
    )
    role = binding["roleRef"]
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or namespace}"
    return (
        f"{kind} {quoted(name)} of {role['kind']} {quoted(role['name'])} to {subject['kind']} {quoted(who)}"
    )
