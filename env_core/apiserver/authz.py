"""RBAC: may an identity do this, with which rules, and in which words it is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from env_core.apiserver._authz_nodes import NODE_PREFIX, NODES, RELATED, is_by_relation, node_rule
from env_core.apiserver._authz_rules import (
    Grant,
    allows,
    allows_path,
    compact,
    describe_binding,
    missing,
    quoted_list,
    rule_text,
)
from env_core.apiserver.errors import StatusError, forbidden
from env_core.apiserver.rbacview import RbacView
from env_core.apiserver.request import Identity
from env_core.apiserver.store import Store
from env_core.objects.problems import quoted
from env_core.world import Object

MASTERS = "system:masters"
_GROUP = "rbac.authorization.k8s.io"
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"
_CACHED_MAX = 8192
_ALL_NAMES: frozenset[str] | None = None
# Stands for the names that a node's pods refer to; told apart by identity.
_NAMES_OF_PODS = frozenset({"\0"})

_Key = tuple[Identity, str, str, str, str, str]


class RbacReader(Protocol):
    """The roles and bindings as they are stored."""

    @property
    def version(self) -> int:
        """A number that changes whenever a role or binding does."""

    def list(self, resource: str, namespace: str) -> Sequence[Object]:
        """Return the "roles" or "rolebindings" of a namespace, or all "clusterroles" or "clusterrolebindings"."""

    def is_related(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Whether a pod on the node needs the named object."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer with its reason, as SubjectAccessReview shows it ("" when there is none)."""

    is_allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What an identity may do in a namespace: its grants, and the roles that its bindings miss."""

    grants: tuple[Grant, ...]
    errors: tuple[str, ...]


class Authorizer:
    """Evaluates RBAC, and lets `system:masters` do everything.

    Rules are compiled per identity and namespace, decisions per identity, namespace, verb and resource;
    both are dropped when `read.version` changes. Kubelets (group `system:nodes`) have the rules of the
    ClusterRole `system:node`; of secrets, config maps, claims and volumes they get those that their pods need.
    Source: k8s.io/kubernetes plugin/pkg/auth/authorizer/{rbac,node}.
    """

    __slots__ = ("_compiled", "_decided", "_read", "_version")

    def __init__(self, read: RbacReader) -> None:
        self._read = read
        self._version = read.version
        self._compiled: dict[tuple[Identity, str], _Compiled] = {}
        self._decided: dict[_Key, frozenset[str] | None] = {}

    def allowed(
        self,
        identity: Identity,
        verb: str,
        group: str,
        resource: str,
        subresource: str = "",
        namespace: str = "",
        name: str = "",
    ) -> bool:
        """Return whether the identity may do `verb` on the resource; `namespace` is "" at the cluster scope."""
        if self._version != self._read.version:
            self._forget()
        if resource == "namespaces" and not group and name:
            namespace = name
        key = (identity, namespace, verb, group, resource, subresource)
        try:
            names = self._decided[key]
        except KeyError:
            names = self._names(key)
        if names is None or name in names:
            return True
        return names is _NAMES_OF_PODS and self._is_related(identity, resource, namespace, name)

    def check(
        self,
        identity: Identity,
        verb: str,
        group: str,
        resource: str,
        subresource: str = "",
        namespace: str = "",
        name: str = "",
    ) -> None:
        """Raise the 403 of `refusal` unless the request is allowed."""
        if not self.allowed(identity, verb, group, resource, subresource, namespace, name):
            raise self.refusal(identity, verb, group, resource, subresource, namespace, name)

    def fork(self, store: Store) -> Authorizer:
        """Return an authorizer over a copied store; the two share what they work out while their rules are the same."""
        copy = Authorizer(RbacView(store))
        if copy._version == self._version:
            copy._compiled = self._compiled
            copy._decided = self._decided
        return copy

    def allowed_path(self, identity: Identity, verb: str, path: str) -> bool:
        """Return whether the identity may do the HTTP verb ("get") on a URL that is no resource."""
        if MASTERS in identity.groups:
            return True
        rules = (rule for grant in self._grants(identity, "").grants for rule in grant.rules)
        return any(allows_path(rule, verb, path) for rule in rules)

    def decide(
        self,
        identity: Identity,
        verb: str,
        group: str,
        resource: str,
        subresource: str = "",
        namespace: str = "",
        name: str = "",
    ) -> Decision:
        """Return what `allowed` says together with the reason a review shows."""
        if resource == "namespaces" and not group and name:
            namespace = name
        if MASTERS in identity.groups:
            return Decision(True)
        compiled = self._grants(identity, namespace)
        for grant in compiled.grants:
            if any(allows(rule, verb, group, resource, subresource, name) for rule in grant.rules):
                return Decision(True, f"RBAC: allowed by {grant.described}" if grant.described else "")
        if is_by_relation(identity, verb, group, resource) and self._is_related(
            identity, resource, namespace, name
        ):
            return Decision(True)
        return Decision(False, self._denial(identity, group, resource, name, compiled))

    def decide_path(self, identity: Identity, verb: str, path: str) -> Decision:
        """Return what `allowed_path` says together with the reason a review shows."""
        if MASTERS in identity.groups:
            return Decision(True)
        compiled = self._grants(identity, "")
        for grant in compiled.grants:
            if any(allows_path(rule, verb, path) for rule in grant.rules):
                return Decision(True, f"RBAC: allowed by {grant.described}" if grant.described else "")
        return Decision(False, _rbac_reason(compiled.errors))

    def refusal(
        self,
        identity: Identity,
        verb: str,
        group: str,
        resource: str,
        subresource: str = "",
        namespace: str = "",
        name: str = "",
    ) -> StatusError:
        """Return the 403 that the API answers to a request which is not allowed."""
        reason = self.decide(identity, verb, group, resource, subresource, namespace, name).reason
        return forbidden(
            group,
            resource,
            name,
            denied_text(identity, verb, group, resource, subresource, namespace, name, reason),
        )

    def refusal_path(self, identity: Identity, verb: str, path: str) -> StatusError:
        """Return the 403 that the API answers for a URL that is no resource."""
        return forbidden(
            "", "", "", denied_path_text(identity, verb, path, self.decide_path(identity, verb, path).reason)
        )

    def rules_for(self, identity: Identity, namespace: str) -> Object:
        """Return the status of a SelfSubjectRulesReview: resourceRules, nonResourceRules, incomplete."""
        compiled = self._grants(identity, namespace)
        rules = [rule for grant in compiled.grants for rule in grant.rules]
        if MASTERS in identity.groups:
            rules += [rule for rule in (_EVERYTHING, _EVERY_URL) if rule not in rules]
        status: Object = {
            "resourceRules": [_kept(rule, _RESOURCE_FIELDS) for rule in rules if rule.get("resources")],
            "nonResourceRules": [_kept(rule, _URL_FIELDS) for rule in rules if rule.get("nonResourceURLs")],
            "incomplete": bool(compiled.errors),
        }
        if compiled.errors:
            status["evaluationError"] = _aggregate(compiled.errors)
        return status

    def escalation(self, identity: Identity, rules: Iterable[Object], namespace: str) -> str:
        """Return why the identity may not grant `rules` in the namespace, "" when it may.

        One may grant what one holds. Who has the verb `escalate` on the role, or `bind` on the role that a
        binding names, is not asked here: that is one more `allowed`. The text goes into `forbidden`.
        """
        if MASTERS in identity.groups:
            return ""
        compiled = self._grants(identity, namespace)
        lacking = missing([rule for grant in compiled.grants for rule in grant.rules], rules)
        if not lacking:
            return ""
        listing = "\n".join(sorted({rule_text(rule) for rule in compact(lacking)}))
        text = f"user {quoted(identity.name)} (groups={quoted_list(identity.groups)}) is attempting to grant RBAC permissions not currently held:\n{listing}"
        return f"{text}; resolution errors: [{', '.join(compiled.errors)}]" if compiled.errors else text

    def _names(self, key: _Key) -> frozenset[str] | None:
        names = _ALL_NAMES if MASTERS in key[0].groups else self._granted_names(key)
        if len(self._decided) >= _CACHED_MAX:
            self._decided.clear()
        self._decided[key] = names
        return names

    def _granted_names(self, key: _Key) -> frozenset[str] | None:
        identity, namespace, verb, group, resource, subresource = key
        named: set[str] = set()
        for grant in self._grants(identity, namespace).grants:
            for rule in grant.rules:
                names = rule.get("resourceNames")
                if allows(rule, verb, group, resource, subresource, names[0] if names else ""):
                    if not names:
                        return _ALL_NAMES
                    named.update(names)
        return _NAMES_OF_PODS if is_by_relation(identity, verb, group, resource) else frozenset(named)

    def _is_related(self, identity: Identity, resource: str, namespace: str, name: str) -> bool:
        node = identity.name.removeprefix(NODE_PREFIX)
        return bool(name) and self._read.is_related(node, resource, namespace, name)

    def _forget(self) -> None:
        self._version = self._read.version
        # Forks share what was worked out before: leave it to them.
        self._compiled = {}
        self._decided = {}

    def _grants(self, identity: Identity, namespace: str) -> _Compiled:
        if self._version != self._read.version:
            self._forget()
        compiled = self._compiled.get((identity, namespace))
        if compiled is None:
            if len(self._compiled) >= _CACHED_MAX:
                self._compiled.clear()
            compiled = self._compiled[identity, namespace] = self._compile(identity, namespace)
        return compiled

    def _compile(self, identity: Identity, namespace: str) -> _Compiled:
        cluster_roles = {role["metadata"]["name"]: role for role in self._read.list("clusterroles", "")}
        roles: dict[str, Object] = {}
        bindings = list(self._read.list("clusterrolebindings", ""))
        if namespace:
            roles = {role["metadata"]["name"]: role for role in self._read.list("roles", namespace)}
            bindings += self._read.list("rolebindings", namespace)
        grants: list[Grant] = []
        errors: list[str] = []
        for binding in bindings:
            subject = _subject_of(binding, identity)
            if subject is None:
                continue
            reference = binding["roleRef"]
            is_cluster_role = reference["kind"] == "ClusterRole"
            role = (cluster_roles if is_cluster_role else roles).get(reference["name"])
            if role is None:
                kind = "clusterrole" if is_cluster_role else "role"
                errors.append(f"{kind}.{_GROUP} {quoted(reference['name'])} not found")
            else:
                grants.append(Grant(tuple(role.get("rules") or ()), describe_binding(binding, subject)))
        if NODES in identity.groups and "system:node" in cluster_roles:
            rules = cluster_roles["system:node"].get("rules") or ()
            grants.append(Grant(tuple(node_rule(rule) for rule in rules), ""))
        return _Compiled(tuple(grants), tuple(errors))

    def _denial(self, identity: Identity, group: str, resource: str, name: str, compiled: _Compiled) -> str:
        reasons = []
        if (
            NODES in identity.groups
            and identity.name.startswith(NODE_PREFIX)
            and not group
            and resource in RELATED
        ):
            node = identity.name.removeprefix(NODE_PREFIX)
            related = f"node: no relationship found between node '{node}' and this object"
            reasons.append(related if name else "node: No Object name found")
        if compiled.errors:
            reasons.append(_rbac_reason(compiled.errors))
        return "\n".join(reasons)


_RESOURCE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")
_URL_FIELDS = ("verbs", "nonResourceURLs")
_EVERYTHING: Object = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_URL: Object = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def _kept(rule: Object, fields: tuple[str, ...]) -> Object:
    return {field: rule[field] for field in fields if rule.get(field)}


def _subject_of(binding: Object, identity: Identity) -> Object | None:
    """Return the first subject of the binding that is the identity or one of its groups."""
    namespace = binding["metadata"].get("namespace", "")
    for subject in binding.get("subjects") or ():
        kind = subject["kind"]
        if kind == "ServiceAccount":
            home = subject.get("namespace") or namespace
            if home and identity.name == f"{_SERVICE_ACCOUNT_PREFIX}{home}:{subject['name']}":
                return dict(subject)
        elif (
            subject["name"] == identity.name
            if kind == "User"
            else kind == "Group" and subject["name"] in identity.groups
        ):
            return dict(subject)
    return None


def _aggregate(errors: Sequence[str]) -> str:
    unique = list(dict.fromkeys(errors))
    return unique[0] if len(unique) == 1 else "[" + ", ".join(unique) + "]"


def _rbac_reason(errors: Sequence[str]) -> str:
    return f"RBAC: {_aggregate(errors)}" if errors else ""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def missing_rules(owned: Sequence[Object], wanted: Iterable[Object]) -> list[Object]:
    """Return the rules of `wanted`, broken down to single verbs and resources, that `owned` does not cover."""
    return missing(owned, wanted)


def denied_text(
    identity: Identity,
    verb: str,
    group: str,
    resource: str,
    subresource: str = "",
    namespace: str = "",
    name: str = "",
    reason: str = "",
) -> str:
    """Return what follows "is forbidden: ", for example `User "dev" cannot list resource "pods" …`."""
    if resource == "namespaces" and not group and name:
        namespace = name
    combined = f"{resource}/{subresource}" if subresource else resource
    where = f"in the namespace {quoted(namespace)}" if namespace else "at the cluster scope"
    text = f"User {quoted(identity.name)} cannot {verb} resource {quoted(combined)} in API group {quoted(group)} {where}"
    return f"{_escaped(text)}: {reason}" if reason else _escaped(text)


def denied_path_text(identity: Identity, verb: str, path: str, reason: str = "") -> str:
    """Return what follows "forbidden: " for a URL that is no resource."""
    text = _escaped(f"User {quoted(identity.name)} cannot {verb} path {quoted(path)}")
    return f"{text}: {reason}" if reason else text


def impersonation_text(
    identity: Identity, verb: str, group: str, resource: str, namespace: str = "", name: str = ""
) -> str:
    """Return what follows "is forbidden: " when the identity may not act as somebody else for this request.

    Source: tests/golden/l2/facts/errors.jsonl.gz (constrained impersonation of 1.37).
    """
    return denied_text(identity, f"impersonate-on:user-info:{verb}", group, resource, "", namespace, name)
