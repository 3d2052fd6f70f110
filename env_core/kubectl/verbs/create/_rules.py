"""Rules of roles from --verb, --resource and their like.

Source: k8s.io/kubectl pkg/cmd/create create_role.go, create_clusterrole.go; tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from env_core.apiserver.kind import Kind
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import find_kind, unknown_type
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Slice
from env_core.world import Object

RULE_FLAGS = (
    Flag("resource", Slice, words="Resource of the rule."),
    Flag("resource-name", Array, words="Name that the rule is restricted to."),
    Flag("verb", Slice, words="Verb of the rule."),
)
_VERBS = (
    "*", "get", "delete", "list", "create", "update", "patch", "watch", "proxy", "deletecollection", "use", "bind",
    "escalate", "impersonate",
)  # fmt: skip
_RBAC = "rbac.authorization.k8s.io"
_ROLES = ((_RBAC, "roles"), (_RBAC, "clusterroles"))
_SPECIAL = {
    "use": (("policy", "podsecuritypolicies"), ("extensions", "podsecuritypolicies")),
    "bind": _ROLES,
    "escalate": _ROLES,
    "impersonate": (
        ("", "users"),
        ("", "serviceaccounts"),
        ("", "groups"),
        ("authentication.k8s.io", "userextras"),
    ),
}


@dataclass(frozen=True, slots=True)
class _Resource:
    group: str
    name: str
    subresource: str
    kind: Kind | None

    @property
    def place(self) -> tuple[str, str]:
        return (self.group, self.name) if self.kind is None else (self.kind.group, self.kind.plural)


def verbs_of(args: Args) -> list[str]:
    """Return --verb without repetitions; `*` stands for all."""
    found = list(dict.fromkeys(args.items("verb")))
    return ["*"] if "*" in found else found


def resource_rules(ctx: Context, args: Args, verbs: list[str], *, missing: str) -> list[Object]:
    """Return the rules that the resource flags mean, one for each API group.

    `missing` is the error when no resource is named; "" allows it.

    Raises:
        Failure: for verbs or resources that make no rule.
    """
    resources = [_read(ctx, text) for text in args.items("resource")]
    resources = _until_star(resources)
    if resources or missing:
        for verb in verbs:
            if verb not in _VERBS:
                args.screen.err(f"Warning: '{verb}' is not a standard resource verb\n")
    if not resources:
        if missing:
            raise Failure(missing)
        return []
    _check(args, resources, verbs)
    by_group: dict[str, dict[str, None]] = {}
    for resource in resources:
        group, name = resource.place
        shown = f"{name}/{resource.subresource}" if resource.subresource else name
        by_group.setdefault(group, {})[shown] = None
    names = list(dict.fromkeys(args.items("resource-name")))
    rules: list[Object] = []
    for group in sorted(by_group):
        rule: Object = {"apiGroups": [group], "resources": list(by_group[group]), "verbs": verbs}
        if names:
            rule["resourceNames"] = names
        rules.append(rule)
    return rules


def _read(ctx: Context, text: str) -> _Resource:
    head, _, subresource = text.partition("/")
    name, _, group = head.partition(".")
    kind = None if name == "*" else find_kind(ctx, f"{name}.{group}" if group else name)
    return _Resource(group, name, subresource, kind)


def _until_star(resources: list[_Resource]) -> list[_Resource]:
    for resource in resources:
        if resource.name == "*" and not resource.group and not resource.subresource:
            return [resource]
    return resources


def _check(args: Args, resources: Iterable[_Resource], verbs: list[str]) -> None:
    for resource in resources:
        if not resource.name:
            raise Failure("resource must be specified if apiGroup/subresource specified")
        if resource.name == "*":
            return
        is_known = resource.kind is not None
        group, name = resource.place
        for verb in verbs:
            if verb not in _SPECIAL:
                continue
            if (group, name) not in _SPECIAL[verb]:
                raise Failure(f"can not perform '{verb}' on '{name}' in group '{group}'")
            is_known = True
        if not is_known:
            shown = f"{resource.name}.{resource.group}" if resource.group else resource.name
            # The mapper's error stands alone, without "error: ".
            raise Failure(unknown_type(shown).text, is_bare=True)
