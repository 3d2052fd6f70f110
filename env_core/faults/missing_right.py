"""An agent of the platform lacks a right in a namespace: what it should apply there stays as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from env_core.apiserver.request import Identity
from env_core.apiserver.tokens import account_groups
from env_core.cluster import Cluster
from env_core.controllers.configsync import AGENT, INTERVAL_MS, declared, holds
from env_core.faults._admission import in_the_end
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import owner_of, pass_time, waits
from env_core.faults.declared_source import MAPS, key_and_text, managed, source_of, tagged
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.trials import passes
from env_core.verify.view import View
from env_core.world import Object

_ROLES: Final = "roles.rbac.authorization.k8s.io"
_BINDINGS: Final = "rolebindings.rbac.authorization.k8s.io"
_MISTAKES: Final = ("verb", "resource", "group")
_WAITS_S: Final = (120, 260, 600)
_NEEDED: Final = (("get", "apps", "deployments"), ("patch", "apps", "deployments"))
_OTHERS: Final = (
    ("delete", "apps", "deployments", ""),
    ("deletecollection", "apps", "deployments", ""),
    ("patch", "apps", "statefulsets", ""),
    ("patch", "apps", "replicasets", ""),
    ("get", "", "secrets", ""),
    ("list", "", "secrets", ""),
    ("create", "", "pods", ""),
    ("delete", "", "pods", ""),
    ("create", "", "pods", "exec"),
    ("patch", "", "serviceaccounts", ""),
    ("patch", "rbac.authorization.k8s.io", "roles", ""),
    ("create", "rbac.authorization.k8s.io", "rolebindings", ""),
    ("patch", "apps", "deployments", ""),
)
"""What is tried of accounts and in namespaces; what was denied before must be denied still."""


def _with_releases(base: Base) -> tuple[str, ...]:
    return tuple(role for role in managed(base) if base.managed[role].later_tags)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "what": stream.choice(_MISTAKES),
        "tag": place.later_tags[0],
        "before_s": str(60 + stream.below(300)),
        **waits(stream, _WAITS_S),
    }


def _account(namespace: str, name: str) -> Identity:
    return Identity(f"system:serviceaccount:{namespace}:{name}", account_groups(namespace))


def _agent(case: Case) -> Identity:
    return _account(source_of(case.place)[0], AGENT)


def _rules(case: Case) -> list[Object]:
    role = case.base.cluster.store.get(_ROLES, case.namespace, AGENT)
    assert role is not None
    found: list[Object] = role["rules"]
    return found


def _mistaken(case: Case) -> list[Object]:
    """Return the role's rules with the drawn mistake in that for Deployments."""
    change: Mapping[str, Any] = {
        "verb": {"verbs": ["get", "list", "watch", "create"]},
        "resource": {"resources": ["deployments/status"]},
        "group": {"apiGroups": ["extensions"]},
    }[case.params["what"]]
    return [{**rule, **change} if "deployments" in rule["resources"] else rule for rule in _rules(case)]


def _inject(case: Case, cluster: Cluster) -> None:
    """Let a colleague trim the role, and the pipeline change the source later."""
    namespace, name = source_of(case.place)
    cluster.client(COLLEAGUE).patch(_ROLES, case.namespace, AGENT, {"rules": _mistaken(case)})
    cluster.advance(int(case.params["before_s"]) * 1_000)
    data = {key_and_text(case)[0]: tagged(case, case.params["tag"])}
    cluster.client(DELIVERY).patch(MAPS, namespace, name, {"data": data})
    pass_time(cluster, case)


# What must hold


def _is_allowed(view: View, who: Identity, call: tuple[str, str, str, str], namespace: str) -> bool:
    verb, group, resource, subresource = call
    return view.cluster.server.authorizer.allowed(who, verb, group, resource, subresource, namespace)


def needed_is_allowed(case: Case) -> Check:
    """The agent may read and change the Deployments of the namespace."""

    def fails(view: View) -> str:
        for call in _NEEDED:
            if not _is_allowed(view, _agent(case), (*call, ""), case.namespace):
                return f"{_agent(case).name} may not {call[0]} {call[2]} in {case.namespace}"
        return ""

    return Check("the agent may do its work", fails)


def rest_is_denied(case: Case) -> Check:
    """Neither the agent nor any other account of the namespaces has got a right that has nothing to do with it."""
    healthy = View(case.base.cluster)
    accounts = (
        _agent(case),
        *(_account(namespace, "default") for namespace in case.base.namespaces),
        _account(case.namespace, case.name),
    )

    def fails(view: View) -> str:
        for who in accounts:
            for namespace in (*case.base.namespaces, "kube-system"):
                for call in _OTHERS:
                    if _is_allowed(view, who, call, namespace) and not _is_allowed(
                        healthy, who, call, namespace
                    ):
                        return f"{who.name} may {call[0]} {call[2]} in {namespace}"
        return ""

    return Check("other calls are denied as before", fails)


def is_applied(case: Case) -> Check:
    """The workload is what its source declares."""
    namespace, name = source_of(case.place)
    key, _ = key_and_text(case)

    def fails(view: View) -> str:
        source = view.get(MAPS, namespace, name)
        found = declared((source or {}).get("data", {}).get(key, ""))
        if not found or not all(holds(owner_of(view, case), manifest) for manifest in found):
            return f"{case.name} is not what configmap {name} declares"
        return ""

    return in_the_end(Check("the source is applied", fails))


def _not_applied(case: Case) -> Check:
    applied = is_applied(case)
    return Check("the source is not applied", lambda view: "" if applied.fails(view) else "it is applied")


# Scripts


def _patch_role(case: Case, rules: list[Object]) -> str:
    return f"kubectl -n {case.namespace} patch role {AGENT} --type=merge -p '{json.dumps({'rules': rules})}'"


def _second_role(case: Case) -> Script:
    name, platform = "sync-deployments", source_of(case.place)[0]
    return (
        f"kubectl -n {case.namespace} create role {name} --verb=get,list,watch,create,patch --resource=deployments.apps",
        f"kubectl -n {case.namespace} create rolebinding {name} --role={name} --serviceaccount={platform}:{AGENT}",
    )


def _bind(case: Case, role: str, subject: str) -> str:
    return f"kubectl -n {case.namespace} create rolebinding sync-more --clusterrole={role} {subject}"


def _wait() -> str:
    return f"sleep {INTERVAL_MS // 1_000 + 15}"


def _by_hand(case: Case) -> str:
    image = f"{case.place.image.rpartition(':')[0]}:{case.params['tag']}"
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


FAMILY = Family(
    id="AD-01",
    tier=1,
    summary="A role lacks a right that the account bound to it needs.",
    partners=("RO-16", "AD-02", "CP-06"),
    source="kubernetes.io/docs/reference/access-authn-authz/rbac; FAULTS AD-01",
    faults=(
        Fault(
            id="right-trimmed",
            sign=Sign.RELEASE,
            level=4,
            places=_with_releases,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (_not_applied(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {source_of(case.place)[0]} get events",
                    shows='cannot patch resource "deployments" in API group "apps"',
                ),
            ),
            repaired_when=lambda case: (needed_is_allowed(case), rest_is_denied(case), is_applied(case)),
            allowed=lambda case: (
                case.allow("rules", resource=_ROLES, name=AGENT),
                case.allow(ADDED, resource=_ROLES, name="*"),
                case.allow(ADDED, resource=_BINDINGS, name="*"),
                case.allow(case.container("image")),
                case.allow(
                    f"data.{key_and_text(case)[0]}",
                    resource=MAPS,
                    name=source_of(case.place)[1],
                    namespace=source_of(case.place)[0],
                ),
            ),
            trials=lambda _case: (passes(2 * INTERVAL_MS),),
            repairs=(
                lambda case: (_patch_role(case, _rules(case)), _wait()),
                lambda case: (*_second_role(case), _wait()),
            ),
            decoys=(
                Decoy(
                    script=lambda case: (
                        _bind(case, "on-call", f"--serviceaccount={source_of(case.place)[0]}:{AGENT}"),
                        _wait(),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        *_second_role(case),
                        f"kubectl -n {case.namespace} create rolebinding sync-all --role=sync-deployments "
                        "--group=system:serviceaccounts",
                        _wait(),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        _patch_role(case, [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
                        _wait(),
                    )
                ),
                Decoy(script=lambda case: (_by_hand(case),)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Role", namespace=case.namespace, name=AGENT, mechanism=Mechanism.PERMISSION
            ),
        ),
    ),
)
