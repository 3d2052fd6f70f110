"""Mutating admission policies change what is written; the forms are those of the upstream documentation."""

import pytest

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ADMIN
from tests.apiserver.appliers import config_map, deployment, shop

DEPLOYMENTS = "deployments.apps"
SIDECAR = """Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{initContainers: [
Object.spec.template.spec.initContainers{name: "mesh", image: "mesh:1", restartPolicy: "Always"}]}}}}"""
LABEL = 'Object{metadata: Object.metadata{labels: {"team": object.metadata.name + "-team"}}}'


def policy(*mutations, name="m", rules=None, **spec):
    rule = {"apiGroups": ["", "apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rules or rule]},
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": list(mutations),
            **spec,
        },
    }


def applied(expression):
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def json_patch(expression):
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


@pytest.fixture
def api():
    return ApiClient(shop().server, ADMIN)


def bind(api, body, **binding):
    api.create("mutatingadmissionpolicies.admissionregistration.k8s.io", "", body)
    name = body["metadata"]["name"]
    made = {"metadata": {"name": name}, "spec": {"policyName": name, **binding}}
    api.create("mutatingadmissionpolicybindings.admissionregistration.k8s.io", "", made)


def test_an_apply_configuration_is_merged_and_defaulted(api):
    bind(api, policy(applied(SIDECAR)))
    spec = api.create(DEPLOYMENTS, "shop", deployment())["spec"]["template"]["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["mesh"]
    assert spec["initContainers"][0]["terminationMessagePath"] == "/dev/termination-log"
    assert [each["name"] for each in spec["containers"]] == ["web"]


def test_expressions_see_the_object_and_what_mutations_before_them_made_of_it(api):
    second = applied('Object{metadata: Object.metadata{labels: {"again": object.metadata.labels.team}}}')
    bind(api, policy(applied(LABEL), second))
    labels = api.create("configmaps", "shop", config_map("a"))["metadata"]["labels"]
    assert labels == {"team": "a-team", "again": "a-team"}


def test_a_json_patch_changes_what_it_names(api):
    expression = """[JSONPatch{op: "test", path: "/data/a", value: "1"},
        JSONPatch{op: "add", path: "/metadata/labels", value: {}},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/x"), value: "y"}]"""
    bind(api, policy(json_patch(expression)))
    assert api.create("configmaps", "shop", config_map("a", a="1"))["metadata"]["labels"] == {
        "example.com/x": "y"
    }
    assert "labels" not in api.create("configmaps", "shop", config_map("b", a="2"))["metadata"]


def test_conditions_variables_and_parameters(api):
    api.create("configmaps", "shop", config_map("values", team="blue"))
    body = policy(
        applied('Object{metadata: Object.metadata{labels: {"team": variables.team}}}'),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        variables=[{"name": "team", "expression": "params.data.team"}],
        matchConditions=[{"name": "named", "expression": 'object.metadata.name.startsWith("x")'}],
    )
    reference = {"name": "values", "namespace": "shop", "parameterNotFoundAction": "Deny"}
    bind(api, body, paramRef=reference)
    assert api.create("configmaps", "shop", config_map("x1"))["metadata"]["labels"] == {"team": "blue"}
    assert "labels" not in api.create("configmaps", "shop", config_map("y1"))["metadata"]


def test_only_policies_that_want_to_see_later_changes_run_again(api):
    count = 'Object{data: {"n": string(has(object.data) && "n" in object.data ? int(object.data.n) + 1 : 1)}}'
    bind(api, policy(applied(count), name="a", reinvocationPolicy="IfNeeded"))
    bind(api, policy(applied(LABEL), name="b"))
    assert api.create("configmaps", "shop", config_map("x"))["data"] == {"n": "2"}


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (
            applied("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {}}}}"),
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            ".spec.selector",
        ),
        (
            applied("Object{spec: Object.spec{template: Object.spec.wrong{}}}"),
            'type mismatch: unexpected type name "Object.spec.wrong", expected "Object.spec.template", '
            "which matches field name path from root Object type",
        ),
        (applied("Object{spec: object.spec.missing}"), "expression 'Object{spec: object.spec.missing}' resulted in"),
    ],
)  # fmt: skip
def test_what_cannot_be_mutated_refuses_the_write(api, mutation, why):
    bind(api, policy(mutation))
    with pytest.raises(StatusError) as refused:
        api.create(DEPLOYMENTS, "shop", deployment())
    assert refused.value.message.startswith(f"policy 'm' with binding 'm' denied request: {why}")
    assert (refused.value.code, refused.value.status["reason"]) == (403, "Invalid")


def test_a_failure_may_be_ignored(api):
    bind(api, policy(applied("Object{spec: object.spec.missing}"), failurePolicy="Ignore"))
    api.create(DEPLOYMENTS, "shop", deployment())


def test_an_expression_that_makes_no_patch_is_refused(api):
    with pytest.raises(StatusError, match="must evaluate to Object but got int"):
        bind(api, policy(applied("1")))
    with pytest.raises(StatusError, match=r"undefined field 'nothing'"):
        bind(api, policy(json_patch("[JSONPatch{nothing: 1}]")))
