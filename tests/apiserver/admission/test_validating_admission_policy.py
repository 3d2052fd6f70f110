"""Admission policies in a whole cluster: what they match, their parameters, what follows a no."""

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ADMIN, ApiRequest, Identity
from tests.webhooks import booted, configmap

GROUP = "admissionregistration.k8s.io"
POLICIES = f"validatingadmissionpolicies.{GROUP}"
BINDINGS = f"validatingadmissionpolicybindings.{GROUP}"
HEAD = "ValidatingAdmissionPolicy 'guard' with binding 'guard-binding' denied request: "


def rule(resources=("configmaps",), operations=("CREATE", "UPDATE"), groups=("",), **fields):
    return {
        "apiGroups": list(groups),
        "apiVersions": ["v1"],
        "operations": list(operations),
        "resources": list(resources),
        **fields,
    }


def bound(cluster, *expressions, rules=None, match=None, actions=("Deny",), param_ref=None, **spec):
    """Create a policy of validations with its binding."""
    validations = [each if isinstance(each, dict) else {"expression": each} for each in expressions]
    policy = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "guard"},
        "spec": {
            "matchConstraints": {"resourceRules": rules or [rule()], **(match or {})},
            "validations": validations,
            **spec,
        },
    }
    binding = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "guard-binding"},
        "spec": {"policyName": "guard", "validationActions": list(actions)},
    }
    if param_ref is not None:
        binding["spec"]["paramRef"] = param_ref
    api = cluster.client()
    api.create(POLICIES, "", policy)
    api.create(BINDINGS, "", binding)
    cluster.advance(1_000)
    return cluster


def create(cluster, obj, namespace="shop", resource="configmaps"):
    return cluster.client().create(resource, namespace, obj)


def denied(cluster, obj, resource="configmaps", namespace="shop"):
    """Return what a denial says behind the names of policy and binding."""
    with pytest.raises(StatusError) as caught:
        create(cluster, obj, namespace, resource)
    message = caught.value.message
    head = f'{resource} "{obj["metadata"]["name"]}" is forbidden: {HEAD}'
    assert message.startswith(head)
    return message.removeprefix(head)


def test_a_policy_without_a_binding_does_nothing():
    cluster = bound(booted(), "false")
    cluster.client().delete(BINDINGS, "", "guard-binding")
    assert create(cluster, configmap(x="1"))["data"] == {"x": "1"}


def test_denials_come_with_their_reason_and_a_cause():
    cluster = bound(
        booted(),
        {"expression": "'x' in object.data", "message": "data must have x"},
        {
            "expression": "object.data.x == '1'",
            "messageExpression": "'x is ' + object.data.x",
            "reason": "Forbidden",
        },
    )
    assert denied(cluster, configmap(y="1")) == "data must have x"
    with pytest.raises(StatusError) as caught:
        create(cluster, configmap(x="2"))
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert caught.value.status["details"]["causes"] == [{"message": f"{HEAD}x is 2"}]


def test_namespaces_names_and_excluded_rules_narrow_what_is_matched():
    match = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}},
        "excludeResourceRules": [rule(resourceNames=["free"])],
    }
    cluster = bound(booted(), "false", match=match)
    assert denied(cluster, configmap(x="1")) == "failed expression: false"
    create(cluster, configmap("free"))
    create(cluster, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}, "hooks")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}
    create(cluster, secret, "shop", "secrets")


def test_labels_of_the_old_or_the_new_object_match():
    match = {"objectSelector": {"matchLabels": {"guarded": "yes"}}}
    cluster = bound(booted(), "oldObject == null", match=match)
    made = create(cluster, {**configmap(), "metadata": {"name": "x", "labels": {"guarded": "yes"}}})
    bare = {**made, "metadata": {**made["metadata"], "labels": {}}}
    with pytest.raises(StatusError, match="failed expression: oldObject == null"):
        cluster.client().update("configmaps", "shop", bare)


def test_a_deletion_shows_the_old_object_only():
    cluster = bound(
        booted(),
        "object == null && !has(oldObject.data.keep)",
        rules=[rule(operations=["DELETE"])],
    )
    create(cluster, configmap("free", x="1"))
    create(cluster, configmap("held", keep="1"))
    cluster.client().delete("configmaps", "shop", "free")
    with pytest.raises(StatusError, match="failed expression"):
        cluster.client().delete("configmaps", "shop", "held")


def test_parameters_come_from_the_binding_s_reference():
    cluster = booted()
    for name, most in (("low", "1"), ("high", "3")):
        labels = {"limits": "yes"}
        limits = {**configmap(name, most=most), "metadata": {"name": name, "labels": labels}}
        create(cluster, limits, "hooks")
    bound(
        cluster,
        "size(object.data) <= int(params.data.most)",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        param_ref={"name": "high", "namespace": "hooks", "parameterNotFoundAction": "Deny"},
        match={"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}},
    )
    create(cluster, configmap("two", a="1", b="2"))
    api = cluster.client()
    binding = cluster.store.get(BINDINGS, "", "guard-binding")

    def refer(**reference):
        current = cluster.store.get(BINDINGS, "", "guard-binding")
        api.update(BINDINGS, "", {**current, "spec": {**binding["spec"], "paramRef": reference}})

    refer(
        selector={"matchLabels": {"limits": "yes"}}, namespace="hooks", parameterNotFoundAction="Deny"
    )  # both: each has to agree
    assert denied(cluster, configmap("three", a="1", b="2")).startswith("failed expression")
    refer(name="gone", namespace="hooks", parameterNotFoundAction="Deny")
    text = (
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )
    assert denied(cluster, configmap("four")) == text
    refer(name="gone", namespace="hooks", parameterNotFoundAction="Allow")
    create(cluster, configmap("five", a="1", b="2", c="3", d="4"))


def test_an_unknown_kind_of_parameters_is_a_configuration_error():
    cluster = bound(
        booted(),
        "params != null",
        paramKind={"apiVersion": "example.com/v1", "kind": "Limit"},
        param_ref={"name": "x", "parameterNotFoundAction": "Deny"},
    )
    with pytest.raises(StatusError) as caught:
        create(cluster, configmap(x="1"))
    assert caught.value.message == (
        "configmaps \"settings\" is forbidden: ValidatingAdmissionPolicy 'guard' denied request: failed to configure policy: "
        "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
    )


def test_errors_deny_unless_they_are_ignored():
    expression = "object.data.missing == 'x'"
    text = f"expression '{expression}' resulted in error: no such key: missing"
    assert denied(bound(booted(), expression), configmap(x="1")) == text
    create(bound(booted(), expression, failurePolicy="Ignore"), configmap(x="1"))


def test_warnings_and_audit_annotations_do_not_stand_in_the_way():
    cluster = bound(
        booted(),
        "false",
        actions=("Warn", "Audit"),
        auditAnnotations=[{"key": "size", "valueExpression": "string(size(object.data))"}],
    )
    request = ApiRequest("create", "configmaps", ADMIN, "shop", body=configmap(x="1"))
    response = cluster.call(request)
    assert response.code == 201
    head = "Validation failed for ValidatingAdmissionPolicy 'guard' with binding 'guard-binding': "
    assert response.warnings == (f"{head}failed expression: false",)
    annotations = dict(cluster.server.audit.records()[-1].annotations)
    assert annotations["guard/size"] == "1"
    assert annotations["validation.policy.admission.k8s.io/validation_failure"] == (
        '[{"message":"failed expression: false","policy":"guard","binding":"guard-binding","expressionIndex":0,'
        '"validationActions":["Warn","Audit"]}]'
    )


def test_the_authorizer_answers_for_whoever_asks():
    cluster = bound(
        booted(),
        "authorizer.group('').resource('secrets').namespace('shop').check('get').allowed()",
        "authorizer.requestResource.check('delete').allowed()",
    )
    create(cluster, configmap(x="1"))
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "bob"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}],
    }
    cluster.client().create("clusterrolebindings", "", role)
    bob = cluster.client(Identity("bob"))
    bob.create("configmaps", "shop", configmap("bobs"))
    view = {**role, "metadata": {"name": "eve"}, "roleRef": {**role["roleRef"], "name": "view"}}
    view["subjects"] = [{**role["subjects"][0], "name": "eve"}]
    cluster.client().create("clusterrolebindings", "", view)
    with pytest.raises(StatusError, match="cannot create resource"):
        cluster.client(Identity("eve")).create("configmaps", "shop", configmap("eves"))


def deployment(replicas):
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def test_the_scale_is_an_object_of_its_own():
    resources = rule(resources=["deployments"], groups=["apps"])
    cluster = bound(booted(), "object.spec.replicas <= 3", rules=[resources])
    assert (
        denied(cluster, deployment(5), "deployments.apps") == "failed expression: object.spec.replicas <= 3"
    )
    create(cluster, deployment(1), resource="deployments.apps")
    scale = {"spec": {"replicas": 9}}
    patch = {"subresource": "scale", "body": scale, "content_type": "application/merge-patch+json"}
    cluster.client().call("patch", "deployments.apps", "shop", "web", **patch)
    other = bound(
        booted(), "object.spec.replicas <= 3", rules=[rule(resources=["deployments/scale"], groups=["apps"])]
    )
    create(other, deployment(5), resource="deployments.apps")
    with pytest.raises(StatusError, match=r"failed expression: object.spec.replicas <= 3"):
        other.client().call("patch", "deployments.apps", "shop", "web", **patch)


def test_statuses_are_shown_where_a_rule_names_them():
    resources = rule(resources=["deployments/status"], groups=["apps"])
    cluster = bound(booted(), "request.userInfo.username != 'kubernetes-admin'", rules=[resources])
    made = create(cluster, deployment(1), resource="deployments.apps")
    cluster.advance(5_000)
    assert cluster.store.get("deployments.apps", "shop", "web")["status"]["observedGeneration"] == 1
    current = cluster.store.get("deployments.apps", "shop", "web")
    with pytest.raises(StatusError, match="failed expression"):
        cluster.client().update_status(
            "deployments.apps", "shop", {**current, "status": {**current["status"], "replicas": 7}}
        )
    assert made["metadata"]["name"] == "web"


def test_policies_cannot_lock_out_their_administrators():
    everything = [
        {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]},
    ]
    cluster = bound(booted(), "false", rules=everything)
    assert denied(cluster, configmap(x="1")) == "failed expression: false"
    cluster.client().delete(POLICIES, "", "guard")
    create(cluster, configmap(x="1"))


def test_generated_names_are_not_in_the_request():
    cluster = bound(booted(), "!has(request.name) && object.metadata.name.startsWith('gen-')")
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-"}}
    assert create(cluster, obj)["metadata"]["name"].startswith("gen-")


def test_the_status_tells_what_the_type_checker_found():
    cluster = bound(
        booted(),
        "object.spec.replica <= 3 && object.metadata.namespace != ''",
        rules=[rule(resources=["deployments", "statefulsets"], groups=["apps"])],
    )
    status = cluster.store.get(POLICIES, "", "guard")["status"]
    assert status["observedGeneration"] == 1
    (warning,) = status["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[0].expression"
    complaint = (
        "ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica <= 3 && object.metadata.namespace != ''\n"
        " | ...........^\n"
    )
    assert warning["warning"] == (
        f"apps/v1, Kind=Deployment: {complaint}\napps/v1, Kind=StatefulSet: {complaint}"
    )
    clean = bound(booted(), "object.data.x == '1'")
    assert clean.store.get(POLICIES, "", "guard")["status"] == {"observedGeneration": 1, "typeChecking": {}}


def test_forks_share_policies_and_nothing_else():
    cluster = bound(booted(), "object.data.x == '1'")
    one, two = cluster.fork(), cluster.fork()
    one.client().delete(BINDINGS, "", "guard-binding")
    create(one, configmap(x="2"))
    assert denied(two, configmap(x="2")) == "failed expression: object.data.x == '1'"
