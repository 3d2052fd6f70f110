"""Server-side apply and managedFields over a real cluster."""

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Identity, Options
from tests.apiextensions.worlds import DEFINITION, Town
from tests.apiserver.appliers import DEPLOYMENTS, apply, config_map, deployment, managers, seeing, shop


@pytest.fixture
def cluster():
    return shop()


@pytest.fixture
def api(cluster):
    return seeing(cluster)


def test_applying_what_is_not_there_creates_it(api):
    made = apply(api, config_map(a="1"))
    assert made["data"] == {"a": "1"}
    assert managers(made) == {("a", "Apply", ""): {"f:data": {"f:a": {}}}}


def test_a_field_of_another_applier_is_a_conflict_until_it_is_forced(api):
    apply(api, config_map(a="1"))
    with pytest.raises(StatusError) as refused:
        apply(api, config_map(a="2"), "b")
    assert refused.value.message == 'Apply failed with 1 conflict: conflict with "a": .data.a'
    assert refused.value.status["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": ".data.a"}
    ]
    forced = apply(api, config_map(a="2"), "b", force=True)
    assert managers(forced) == {("b", "Apply", ""): {"f:data": {"f:a": {}}}}


def test_the_same_value_is_shared_and_goes_only_when_nobody_applies_it_any_more(api):
    apply(api, config_map(a="1", b="1"))
    apply(api, config_map(a="1"), "b")
    assert apply(api, config_map(b="1"))["data"] == {"a": "1", "b": "1"}
    assert apply(api, config_map(), "b")["data"] == {"b": "1"}


def test_what_an_update_set_stays_when_an_applier_that_never_had_it_leaves_it_out(api):
    apply(api, config_map(a="1"))
    api.patch("configmaps", "shop", "c", {"data": {"u": "1"}}, MERGE_PATCH)
    assert apply(api, config_map(a="2"))["data"] == {"a": "2", "u": "1"}


def test_an_unchanged_apply_writes_nothing_and_keeps_the_time(cluster, api):
    before = apply(api, config_map(a="1"))
    cluster.advance(60_000)
    assert apply(api, config_map(a="1")) == before


def test_holding_a_field_too_is_written_though_the_object_stays_as_it_is(api):
    before = apply(api, config_map(a="1"))
    after = apply(api, config_map(a="1"), "b")
    assert after["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    assert set(managers(after)) == {("a", "Apply", ""), ("b", "Apply", "")}


def test_a_dry_run_shows_the_managers_and_keeps_nothing(api):
    apply(api, config_map(a="1"))
    shown = apply(api, config_map(b="1"), "b", dry_run=True)
    assert managers(shown)[("b", "Apply", "")] == {"f:data": {"f:b": {}}}
    assert managers(api.get("configmaps", "shop", "c")) == {("a", "Apply", ""): {"f:data": {"f:a": {}}}}


def test_what_was_never_tracked_is_held_by_before_first_apply(cluster, api):
    bare = {**config_map(a="1"), "metadata": {"name": "c", "namespace": "shop", "uid": "u"}}
    cluster.store.put("configmaps", bare)
    assert "managedFields" not in api.get("configmaps", "shop", "c")["metadata"]
    with pytest.raises(StatusError, match=r'conflict with "before-first-apply" using v1: \.data\.a$'):
        apply(api, config_map(a="2"))


def test_defaults_and_admission_belong_to_nobody_who_applied(api):
    made = apply(api, deployment(), resource=DEPLOYMENTS)
    assert made["spec"]["replicas"] == 1
    fields = managers(made)[("a", "Apply", "")]
    assert sorted(fields["f:spec"]) == ["f:selector", "f:template"]


def test_the_scale_is_held_apart_and_has_no_time(api):
    apply(api, deployment(replicas=2), resource=DEPLOYMENTS)
    api.patch(DEPLOYMENTS, "shop", "web", {"spec": {"replicas": 3}}, MERGE_PATCH, subresource="scale")
    found = api.get(DEPLOYMENTS, "shop", "web")
    assert managers(found)[("kubectl", "Update", "scale")] == {"f:spec": {"f:replicas": {}}}
    entry = next(each for each in found["metadata"]["managedFields"] if each.get("subresource") == "scale")
    assert "time" not in entry
    text = 'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas'
    with pytest.raises(StatusError, match=f"^Apply failed with 1 conflict: {text}$"):
        apply(api, deployment(replicas=2), resource=DEPLOYMENTS)


def test_the_scale_can_be_applied(api):
    apply(api, deployment(replicas=2), resource=DEPLOYMENTS)
    scale = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 4},
    }
    with pytest.raises(StatusError, match=r'conflict with "a": \.spec\.replicas$'):
        apply(api, scale, "b", resource=DEPLOYMENTS, subresource="scale")
    assert apply(api, scale, "b", resource=DEPLOYMENTS, subresource="scale", force=True)["spec"] == {
        "replicas": 4
    }
    found = api.get(DEPLOYMENTS, "shop", "web")
    assert managers(found)[("b", "Apply", "scale")] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in managers(found)[("a", "Apply", "")]["f:spec"]


def test_the_status_can_be_applied_and_only_it(api):
    apply(api, deployment(), resource=DEPLOYMENTS)
    config = {**deployment(replicas=9), "status": {"collisionCount": 7}}
    done = apply(api, config, "b", resource=DEPLOYMENTS, subresource="status")
    assert (done["spec"]["replicas"], done["status"]["collisionCount"]) == (1, 7)
    assert managers(done)[("b", "Apply", "status")] == {"f:status": {"f:collisionCount": {}}}


def test_the_parts_of_the_cluster_have_names_of_their_own(cluster, api):
    cluster.kubelets.join("node-0", cpu="4", memory="8Gi")
    apply(api, deployment(), resource=DEPLOYMENTS)
    cluster.advance(20_000)
    (pod,) = api.list("pods", "shop")
    assert set(managers(pod)) == {("kube-controller-manager", "Update", ""), ("kubelet", "Update", "status")}
    assert ("kube-controller-manager", "Update", "status") in managers(api.get(DEPLOYMENTS, "shop", "web"))


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"managedFields": []}},
        {"metadata": {"managedFields": [{}]}},
        '{"metadata":{"managedFields":[]}}',
        b'{"metadata":{"managedFields":[{}]}}',
    ],
)
def test_managers_are_forgotten_when_a_client_asks_for_it(api, patch):
    apply(api, config_map(a="1"))
    api.patch("configmaps", "shop", "c", patch, MERGE_PATCH)
    assert "managedFields" not in api.get("configmaps", "shop", "c")["metadata"]


def test_managers_can_be_rewritten_by_a_json_patch(api):
    entries = apply(api, config_map(a="1"))["metadata"]["managedFields"]
    renamed = [{**entries[0], "manager": "z"}]
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": renamed}]
    after = api.patch("configmaps", "shop", "c", patch, JSON_PATCH)
    assert after["metadata"]["managedFields"] == renamed


def test_an_object_put_back_as_it_was_read_changes_no_manager(cluster, api):
    apply(api, config_map(a="1"))
    read = api.get("configmaps", "shop", "c")
    cluster.advance(5_000)
    assert api.update("configmaps", "shop", read) == read


def test_who_may_not_create_cannot_create_by_applying(cluster):
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch", "get"]}]
    admin = cluster.client()
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "r"},
        "rules": rules,
    }
    admin.create("roles.rbac.authorization.k8s.io", "shop", role)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    admin.create("rolebindings.rbac.authorization.k8s.io", "shop", binding)
    with pytest.raises(StatusError, match=r'User "ann" cannot create resource "configmaps"'):
        apply(seeing(cluster, Identity("ann")), config_map(a="1"))


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({**config_map(), "apiVersion": "v2"}, 400, "invalid object type: /v2, Kind=ConfigMap"),
        (
            {**config_map(), "metadata": {"name": "c", "managedFields": []}},
            400,
            "metadata.managedFields must be nil",
        ),
        (
            {**config_map(), "nope": 1},
            500,
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): .nope: field not declared in schema",
        ),
        ({**config_map(), "metadata": {"name": "c", "namespace": "other"}}, 400, "the namespace of the provided object does not match the namespace sent on the request"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_refused(api, config, code, message):
    with pytest.raises(StatusError) as refused:
        apply(api, config)
    assert (refused.value.code, refused.value.message) == (code, message)


def test_apply_needs_a_manager(api):
    with pytest.raises(StatusError) as refused:
        apply(api, config_map(), "")
    text = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    assert (refused.value.code, refused.value.message) == (422, text)


def test_yaml_is_read_as_go_reads_it(api):
    text = "apiVersion: v1\nkind: ConfigMap\ndata: {a: 'yes'}\nmetadata: {name: c}\n"
    options = Options(field_manager="a")
    assert api.patch("configmaps", "shop", "c", text, APPLY_PATCH, options=options)["data"] == {"a": "yes"}
    with pytest.raises(
        StatusError, match=r"^error encoding patch: yaml: line 1: did not find expected ',' or '\]'$"
    ):
        api.patch("configmaps", "shop", "c", "a: [b", APPLY_PATCH, options=options)


# Custom resources and other versions


WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {
        "size": 1,
        "ports": [{"name": "a", "port": 1}],
        "hosts": ["10.0.0.1"],
        "free": {"x": {"y": 1}},
        "labels": {"k": "v"},
    },
}


def test_custom_resources_merge_as_their_schema_says():
    town = Town.booted(DEFINITION)
    api = seeing(town.cluster)
    options = Options(field_manager="a")
    made = api.patch("widgets.example.com", "default", "w", WIDGET, APPLY_PATCH, options=options)
    assert managers(made)[("a", "Apply", "")]["f:spec"] == {
        "f:free": {"f:x": {".": {}, "f:y": {}}},
        "f:hosts": {'v:"10.0.0.1"': {}},
        "f:labels": {"f:k": {}},
        "f:ports": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:port": {}}},
        "f:size": {},
    }
    spec = {"size": 1, "ports": [{"name": "b", "port": 2}], "hosts": ["10.0.0.2"]}
    other = {**WIDGET, "spec": spec}
    both = api.patch(
        "widgets.example.com", "default", "w", other, APPLY_PATCH, options=Options(field_manager="b")
    )
    assert [port["name"] for port in both["spec"]["ports"]] == ["a", "b"]
    assert both["spec"]["hosts"] == ["10.0.0.1", "10.0.0.2"]
    assert both["spec"]["color"] == "red"
    wrong = {**WIDGET, "spec": {"size": "x"}}
    with pytest.raises(StatusError, match=r"\.spec\.size: expected numeric \(int or float\), got string$"):
        api.patch("widgets.example.com", "default", "w", wrong, APPLY_PATCH, options=options)


def test_objects_in_another_form_have_the_same_managers(api):
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "p"},
        "reason": "Tried",
        "source": {"component": "me"},
    }
    made = api.create("events", "shop", event)
    assert ("kubectl", "Update", "") in managers(made)
    shown = api.get("events.events.k8s.io", "shop", "e")
    assert (shown["apiVersion"], managers(shown)) == ("events.k8s.io/v1", managers(made))
