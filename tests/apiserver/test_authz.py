"""RBAC decisions and refusals against recorded truth."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from env_core.apiserver._authz_rules import allows, allows_path, rule_text
from env_core.apiserver.authz import Authorizer, impersonation_text
from env_core.apiserver.data import _generate_rbac
from env_core.apiserver.request import ADMIN, Identity

GOLDEN = Path(__file__).parent.parent / "golden"
GROUP = "rbac.authorization.k8s.io"
DEV = Identity("dev", ("dev-team", "system:authenticated"))


def lines(name: str) -> list[Any]:
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]


class Roles:
    """RBAC objects in plain lists."""

    def __init__(self, **lists: list[Any]) -> None:
        self.version = 1
        self.lists = lists

    def list(self, resource: str, namespace: str) -> list[Any]:
        found = self.lists.get(resource, [])
        return [each for each in found if each["metadata"].get("namespace", "") == namespace]

    def is_related(self, node: str, resource: str, namespace: str, name: str) -> bool:
        return False


def role(name: str, rules: list[Any], namespace: str = "") -> Any:
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, "rules": rules}


def binding(name: str, role_name: str, subjects: list[Any], namespace: str = "") -> Any:
    kind = "Role" if namespace else "ClusterRole"
    reference = {"apiGroup": GROUP, "kind": kind, "name": role_name}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": metadata, "roleRef": reference, "subjects": subjects}


def user(name: str, kind: str = "User") -> Any:
    return {"kind": kind, "name": name, "apiGroup": GROUP}


def rule(verbs: str, resources: str, groups: str = "", names: str = "") -> Any:
    made = {"verbs": verbs.split(), "apiGroups": groups.split() or [""], "resources": resources.split()}
    return {**made, "resourceNames": names.split()} if names else made


def booted(**more: list[Any]) -> Roles:
    packed = (Path(_generate_rbac.__file__).with_name("rbac.json.gz")).read_bytes()
    table = json.loads(gzip.decompress(packed))
    return Roles(**{name: [*table[name], *more.get(name, [])] for name in table})


def test_every_rule_allows_what_the_real_one_allowed() -> None:
    records = lines("l0/rbac_eval.jsonl.gz")
    rules = next(each["rules"] for each in records if each["kind"] == "rules")
    for record in records:
        if record["kind"] == "rules":
            continue
        asked = record["request"]
        if asked["path"]:
            got = [allows_path(each, asked["verb"], asked["path"]) for each in rules]
        else:
            what = [asked[field] for field in ("verb", "group", "resource", "subresource", "name")]
            got = [allows(each, *what) for each in rules]
        assert got == record["allowedByRule"], record["id"]


def test_refusals_are_worded_as_recorded() -> None:
    nobody = Authorizer(Roles())
    dangling = Authorizer(
        Roles(
            rolebindings=[binding("b", "reader", [user(DEV.name)], "default")],
        )
    )
    count = 0
    for record in lines("l0/rbac_eval.jsonl.gz"):
        if record["kind"] == "rules":
            continue
        asked = record["request"]
        identity = Identity(asked["user"])
        if asked["path"]:
            refusal = nobody.refusal_path(identity, asked["verb"], asked["path"])
        else:
            fields = ("verb", "group", "resource", "subresource", "namespace", "name")
            refusal = nobody.refusal(identity, *(asked[field] for field in fields))
        assert refusal.status["message"] == record["message"]
        assert refusal.status["reason"] == record["status"]["reason"]
        assert refusal.status.get("details", {}) == record["status"]["details"]
        count += 1
    assert count >= 27
    reason = dangling.refusal(DEV, "get", "", "pods", "", "default", "web").message
    assert reason.endswith(f'in the namespace "default": RBAC: role.{GROUP} "reader" not found')


def test_refusals_of_the_real_server_are_repeated() -> None:
    authorizer = Authorizer(booted())
    checked = 0
    for record in lines("l2/facts/errors.jsonl.gz"):
        response = record.get("response")
        message = response.get("message", "") if isinstance(response, dict) else ""
        head, found, rest = message.partition(" is forbidden: User ")
        if not found or record.get("token") not in ("tok-dev", "tok-admin") or "impersonate-on" in rest:
            continue
        quoted = rest.split('"')
        name, verb, resource, group = quoted[1], quoted[2].split()[1], quoted[3], quoted[5]
        namespace = quoted[7] if "in the namespace" in rest else ""
        resource, _, subresource = resource.partition("/")
        target = head.split('"')[1] if '"' in head else ""
        identity = (
            DEV if name == "dev" else Identity(name, ("system:serviceaccounts", "system:authenticated"))
        )
        assert not authorizer.allowed(identity, verb, group, resource, subresource, namespace, target)
        refusal = authorizer.refusal(identity, verb, group, resource, subresource, namespace, target)
        assert refusal.message == message
        checked += 1
    assert checked >= 30


def test_reviews_give_the_recorded_reason() -> None:
    authorizer = Authorizer(booted())
    checked = 0
    for record in lines("l2/defaults.jsonl.gz"):
        spec = record["request"].get("spec") or {}
        what = spec.get("resourceAttributes")
        if record["request"].get("kind") != "SubjectAccessReview" or record["status"] != 201 or not what:
            continue
        identity = Identity(spec["user"], tuple(spec.get("groups", ())))
        fields = ("verb", "group", "resource", "subresource", "namespace", "name")
        decision = authorizer.decide(identity, *(what.get(field, "") for field in fields))
        wanted = record["response"]["status"]
        assert (decision.is_allowed, decision.reason) == (wanted["allowed"], wanted.get("reason", ""))
        checked += 1
    assert checked >= 3


def test_masters_may_do_everything_without_any_role() -> None:
    authorizer = Authorizer(Roles())
    assert authorizer.allowed(ADMIN, "delete", "apps", "deployments", "", "shop", "web")
    assert authorizer.allowed_path(ADMIN, "get", "/metrics")
    assert authorizer.rules_for(ADMIN, "shop")["resourceRules"] == [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    ]


def test_a_role_reaches_no_further_than_its_namespace() -> None:
    authorizer = Authorizer(
        Roles(
            roles=[role("reader", [rule("get list", "pods")], "shop")],
            rolebindings=[binding("b", "reader", [user("dev-team", "Group")], "shop")],
        )
    )
    assert authorizer.allowed(DEV, "list", "", "pods", namespace="shop")
    assert not authorizer.allowed(DEV, "list", "", "pods", namespace="other")
    assert not authorizer.allowed(DEV, "list", "", "pods")
    assert not authorizer.allowed(DEV, "delete", "", "pods", namespace="shop", name="web")
    assert not authorizer.allowed(DEV, "get", "", "pods", "log", "shop", "web")


def test_resource_names_limit_to_those_names() -> None:
    authorizer = Authorizer(
        Roles(
            roles=[
                role("r", [rule("get", "secrets", names="db"), rule("get", "secrets", names="web")], "shop")
            ],
            rolebindings=[binding("b", "r", [{"kind": "ServiceAccount", "name": "bot"}], "shop")],
        )
    )
    bot = Identity("system:serviceaccount:shop:bot")
    assert authorizer.allowed(bot, "get", "", "secrets", namespace="shop", name="db")
    assert authorizer.allowed(bot, "get", "", "secrets", namespace="shop", name="web")
    assert not authorizer.allowed(bot, "get", "", "secrets", namespace="shop", name="other")
    assert not authorizer.allowed(bot, "get", "", "secrets", namespace="shop")


def test_a_changed_binding_takes_effect_at_once() -> None:
    roles = Roles(
        clusterroles=[role("view", [rule("list", "nodes")])],
        clusterrolebindings=[binding("b", "view", [user("dev")])],
    )
    authorizer = Authorizer(roles)
    assert authorizer.allowed(DEV, "list", "", "nodes")
    roles.lists["clusterrolebindings"] = []
    roles.version += 1
    assert not authorizer.allowed(DEV, "list", "", "nodes")


def test_nobody_may_grant_what_they_do_not_hold() -> None:
    authorizer = Authorizer(
        Roles(
            roles=[role("r", [rule("get list", "pods"), rule("*", "deployments/*", "apps")], "shop")],
            rolebindings=[binding("b", "r", [user("dev")], "shop")],
        )
    )
    assert authorizer.escalation(DEV, [rule("get", "pods", names="web")], "shop") == ""
    assert authorizer.escalation(ADMIN, [rule("*", "*", "*")], "shop") == ""
    assert authorizer.escalation(DEV, [rule("get delete", "pods secrets")], "shop") == (
        'user "dev" (groups=["dev-team" "system:authenticated"]) is attempting to grant RBAC permissions not '
        "currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}'
    )


def test_rules_are_written_as_the_server_writes_them() -> None:
    assert (
        rule_text({"verbs": ["get"], "nonResourceURLs": ["/x"]}) == '{NonResourceURLs:["/x"], Verbs:["get"]}'
    )


def test_impersonation_is_refused_in_its_own_words() -> None:
    wanted = next(
        each["response"]["message"]
        for each in lines("l2/facts/errors.jsonl.gz")
        if each["id"] == "impersonate-dev-denied"
    )
    assert f"pods is forbidden: {impersonation_text(DEV, 'list', '', 'pods', 'errs')}" == wanted


@pytest.mark.parametrize(
    ("name", "verb", "group", "resource", "subresource", "namespace"),
    [
        (
            "system:serviceaccount:kube-system:deployment-controller",
            "create",
            "apps",
            "replicasets",
            "",
            "shop",
        ),
        ("system:serviceaccount:kube-system:replicaset-controller", "create", "", "pods", "", "shop"),
        ("system:kube-scheduler", "create", "", "pods", "binding", "shop"),
    ],
)
def test_controllers_hold_their_rights_from_the_start(
    name: str, verb: str, group: str, resource: str, subresource: str, namespace: str
) -> None:
    authorizer = Authorizer(booted())
    identity = Identity(name)
    assert authorizer.allowed(identity, verb, group, resource, subresource, namespace)
    assert not authorizer.allowed(identity, "create", "", "secrets", "", namespace)


def test_view_and_edit_differ_by_writing() -> None:
    bound = [
        {**binding("v", "view", [user("ann")], "shop"), "roleRef": {"kind": "ClusterRole", "name": "view"}},
        {**binding("e", "edit", [user("bob")], "shop"), "roleRef": {"kind": "ClusterRole", "name": "edit"}},
    ]
    authorizer = Authorizer(booted(rolebindings=bound))
    ann, bob = Identity("ann"), Identity("bob")
    assert authorizer.allowed(ann, "list", "apps", "deployments", namespace="shop")
    assert not authorizer.allowed(ann, "get", "", "secrets", namespace="shop", name="db")
    assert not authorizer.allowed(ann, "patch", "apps", "deployments", namespace="shop", name="web")
    assert authorizer.allowed(bob, "patch", "apps", "deployments", namespace="shop", name="web")
    assert not authorizer.allowed(bob, "create", GROUP, "rolebindings", namespace="shop")


def test_a_node_reads_what_its_role_says_but_does_not_list_secrets() -> None:
    authorizer = Authorizer(booted())
    kubelet = Identity("system:node:node-0", ("system:nodes", "system:authenticated"))
    assert authorizer.allowed(kubelet, "patch", "", "nodes", "status", "", "node-0")
    refused = authorizer.refusal(kubelet, "list", "", "secrets", namespace="errs").message
    assert refused.endswith('in the namespace "errs": node: No Object name found')


def test_the_committed_roles_are_current() -> None:
    packed = (Path(_generate_rbac.__file__).with_name("rbac.json.gz")).read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(_generate_rbac.build(GOLDEN))
    assert _generate_rbac.build(GOLDEN) == _generate_rbac.build(GOLDEN)
