"""Deletes with conditions, dry runs, creation by update, computed objects, and refusals of odd metadata."""

from __future__ import annotations

from typing import Any

import pytest

from env_core.apiserver.request import Identity
from tests.apiserver.asking import Asking
from tests.golden import servers

ADDRESSES = "ipaddresses.networking.k8s.io"
ROLES = "roles.rbac.authorization.k8s.io"


@pytest.fixture
def api() -> Asking:
    return Asking(servers.server(is_booted=True, has_admission=True))


def config(name: str = "app", **metadata: Any) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": {"a": "1"},
    }


def test_preconditions_guard_a_delete(api: Asking) -> None:
    made = api.create("configmaps", config(), "default")["metadata"]
    code, message = api.refusal("delete", "configmaps", "app", "default", precondition_uid="other")
    assert code == 409
    assert f"(other) does not match the UID in record ({made['uid']})" in message
    code, message = api.refusal("delete", "configmaps", "app", "default", precondition_resource_version="1")
    assert code == 409
    assert f"(1) does not match the ResourceVersion in record ({made['resourceVersion']})" in message
    given = {"precondition_uid": made["uid"], "precondition_resource_version": made["resourceVersion"]}
    assert api.done("delete", "configmaps", "app", "default", **given)["status"] == "Success"


def test_dry_runs_change_nothing(api: Asking) -> None:
    api.create("configmaps", config(), "default")
    revision = api.server.store.revision
    api.done("delete", "configmaps", "app", "default", dry_run=True)
    api.done("deletecollection", "configmaps", "", "default", dry_run=True)
    api.done("create", "configmaps", "", "default", config("more"), dry_run=True)
    api.done("patch", "configmaps", "app", "default", {"data": {"a": "2"}}, dry_run=True)
    api.done("update", ROLES, "made", "default", {"metadata": {"name": "made"}, "rules": []}, dry_run=True)
    assert api.server.store.revision == revision


def test_dying_namespaces_have_no_grace(api: Asking) -> None:
    api.create("namespaces", {"metadata": {"name": "shop"}})
    marked = api.done("delete", "namespaces", "shop")
    assert marked["status"]["phase"] == "Terminating"
    assert "deletionTimestamp" in marked["metadata"]
    assert "deletionGracePeriodSeconds" not in marked["metadata"]


def test_what_a_delete_returns_depends_on_the_kind(api: Asking) -> None:
    api.create("configmaps", config(), "default")
    api.create("serviceaccounts", {"metadata": {"name": "robot"}}, "default")
    assert api.done("delete", "configmaps", "app", "default")["kind"] == "Status"
    assert api.done("delete", "serviceaccounts", "robot", "default")["kind"] == "ServiceAccount"


def test_updates_create_roles_but_no_config_maps(api: Asking) -> None:
    body = {"metadata": {"name": "reader"}, "rules": []}
    answer = api.ask("update", ROLES, "reader", "default", body)
    assert answer.code == 201
    assert api.names(ROLES, "default") == ["reader"]
    assert api.refusal("update", "configmaps", "app", "default", config())[0] == 404


@pytest.mark.parametrize("resource", ["services", "leases.coordination.k8s.io", "limitranges", "endpoints"])
def test_updates_create_what_the_server_lets_them(api: Asking, resource: str) -> None:
    body: Any = {"metadata": {"name": "made"}}
    if resource == "services":
        body["spec"] = {"ports": [{"port": 80}]}
    assert api.refusal("update", resource, "made", "default", body, subresource="status")[0] == 404
    assert api.ask("update", resource, "made", "default", body).code == 201
    assert api.ask("update", resource, "made", "default", body).code == 200


def test_creating_by_update_takes_the_right_to_create(api: Asking) -> None:
    rules = [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["update"]}]
    api.create(ROLES, {"metadata": {"name": "updater"}, "rules": rules}, "default")
    binding = {
        "metadata": {"name": "updater"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "updater"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dev"}],
    }
    api.create("rolebindings.rbac.authorization.k8s.io", binding, "default")
    dev = Asking(api.server, Identity("dev"))
    body = {"metadata": {"name": "new"}, "rules": []}
    code, message = dev.refusal("update", ROLES, "new", "default", body)
    assert (code, "cannot create resource" in message) == (403, True)
    assert dev.done("update", ROLES, "updater", "default", {"metadata": {"name": "updater"}, "rules": []})


def test_every_address_of_a_service_has_an_object(api: Asking) -> None:
    before = api.names(ADDRESSES)
    service = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], "clusterIP": "10.96.7.7"}}
    api.server.store.put(
        "services",
        {
            **service,
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "web",
                "namespace": "default",
                "uid": "u",
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {**service["spec"], "clusterIPs": ["10.96.7.7"]},
        },
    )
    assert api.names(ADDRESSES) == sorted([*before, "10.96.7.7"])
    shown = api.get(ADDRESSES, "10.96.7.7")
    assert shown["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "web"}
    assert shown == api.get(ADDRESSES, "10.96.7.7")
    selector = "ipaddress.kubernetes.io/ip-family=IPv4"
    assert "10.96.7.7" in api.names(ADDRESSES, label_selector=selector)
    api.done("delete", "services", "web", "default")
    assert api.names(ADDRESSES) == before


def test_component_statuses_are_there_to_read_only(api: Asking) -> None:
    assert api.names("componentstatuses") == ["controller-manager", "scheduler", "etcd-0"]
    assert api.refusal("delete", "componentstatuses", "etcd-0")[0] == 405
    assert api.refusal("get", "componentstatuses", "etcd-9")[0] == 404


def test_warnings_accompany_refusals(api: Asking) -> None:
    body = {**config("Not_A_Name"), "colour": "red"}
    answer = api.ask("create", "configmaps", "", "default", body)
    assert answer.code == 422
    assert answer.warnings == ('unknown field "colour"',)


@pytest.mark.parametrize(
    ("label", "value", "is_refused"),
    [
        ("enforce", "baseline", False),
        ("enforce", "strict", True),
        ("warn-version", "latest", False),
        ("warn-version", "v1.30", False),
        ("warn-version", "1.30", True),
        ("audit", "", True),
    ],
)
def test_levels_of_pod_security_must_exist(api: Asking, label: str, value: str, *, is_refused: bool) -> None:
    body = {"metadata": {"name": "shop", "labels": {f"pod-security.kubernetes.io/{label}": value}}}
    assert (api.ask("create", "namespaces", "", "", body).code == 422) is is_refused


def test_kubelets_read_what_their_pods_need(api: Asking) -> None:
    kubelet = Asking(api.server, Identity("system:node:n1", ("system:nodes", "system:authenticated")))
    for name in ("app", "other"):
        api.create("configmaps", config(name), "default")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "uid": "u"},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "main", "image": "i", "envFrom": [{"configMapRef": {"name": "app"}}]}],
        },
    }
    code, message = kubelet.refusal("get", "configmaps", "app", "default")
    assert (code, "no relationship found between node 'n1' and this object" in message) == (403, True)
    api.server.store.put("pods", pod)
    assert kubelet.get("configmaps", "app", "default")["data"] == {"a": "1"}
    assert kubelet.refusal("get", "configmaps", "other", "default")[0] == 403
    assert kubelet.refusal("list", "configmaps", "", "default")[0] == 403
    api.server.store.put("pods", {**pod, "spec": {**pod["spec"], "nodeName": "n2"}})
    assert kubelet.refusal("get", "configmaps", "app", "default")[0] == 403
