"""The official Python client, typed, works against a running episode."""

from __future__ import annotations

import pytest
from kubernetes import client, utils, watch
from kubernetes.client import ApiException

from tests.server.kubernetes.pythonkit import SECONDS_MAX, config_map, deployment, named, said, until

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def test_lists_reads_and_selects(core, api):
    pods = core.list_namespaced_pod("tron").items
    assert {pod.metadata.labels["app"] for pod in pods} == {"nginx", "redis"}
    running = "status.phase=Running,metadata.namespace=tron"
    (redis,) = core.list_pod_for_all_namespaces(field_selector=running, label_selector="app=redis").items
    assert redis.status.container_statuses[0].state.running.started_at.year == 2026
    assert core.read_namespaced_pod(redis.metadata.name, "tron").metadata.uid == redis.metadata.uid
    assert [node.status.capacity["cpu"] for node in core.list_node().items] == ["4", "4", "4"]
    assert core.list_namespaced_event("tron").items[0].involved_object.namespace == "tron"
    owner = client.AppsV1Api(api).read_namespaced_deployment("nginx", "tron")
    assert owner.spec.template.spec.containers[0].name == "nginx"


def test_pages_through_a_list(core):
    whole = core.list_pod_for_all_namespaces()
    seen, token = [], None
    while True:
        page = core.list_pod_for_all_namespaces(limit=2, _continue=token)
        assert page.metadata.resource_version == whole.metadata.resource_version
        seen += [(pod.metadata.namespace, pod.metadata.name) for pod in page.items]
        token = page.metadata._continue
        assert (page.metadata.remaining_item_count or 0) == len(whole.items) - len(seen)
        if not token:
            break
    assert seen == [(pod.metadata.namespace, pod.metadata.name) for pod in whole.items]


def test_creates_replaces_patches_and_deletes(core):
    made = core.create_namespaced_config_map("default", config_map("a", k="v"), field_manager="robot")
    assert made.metadata.managed_fields[0].manager == "robot"
    tried = core.create_namespaced_config_map("default", config_map("b"), dry_run="All")
    assert tried.metadata.uid
    found = core.list_namespaced_config_map("default", field_selector="metadata.name=b")
    assert found.items == []
    made.data["k"] = "w"
    assert core.replace_namespaced_config_map("a", "default", made).data == {"k": "w"}
    for kind, patch, data in (
        (None, {"data": {"x": "1"}}, {"k": "w", "x": "1"}),
        (None, [{"op": "remove", "path": "/data/x"}], {"k": "w"}),
        (MERGE, {"data": {"k": None, "m": "1"}}, {"m": "1"}),
        (STRATEGIC, {"data": {"s": "1", "$patch": "replace"}}, {"s": "1"}),
        (APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"z": "1"}}, {"s": "1", "z": "1"}),
    ):
        more = {} if kind is None else {"_content_type": kind}
        if kind == APPLY:
            more["field_manager"] = "applier"
        assert core.patch_namespaced_config_map("a", "default", patch, **more).data == data
    assert core.delete_namespaced_config_map("a", "default")["status"] == "Success"
    with pytest.raises(ApiException) as caught:
        core.read_namespaced_config_map("a", "default")
    assert said(caught) == (404, "NotFound", 'configmaps "a" not found')


def test_is_told_no_in_the_servers_words(core, api):
    core.create_namespaced_config_map("default", config_map("a", k="v"))
    stale = core.read_namespaced_config_map("a", "default")
    core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
    rbac = client.RbacAuthorizationV1Api(api)
    apps = client.AppsV1Api(api)
    bad = deployment("bad", replicas=-1)
    for ask, answer in (
        (
            lambda: core.replace_namespaced_config_map("a", "default", stale),
            (
                409,
                "Conflict",
                'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your '
                "changes to the latest version and try again",
            ),
        ),
        (
            lambda: core.create_namespaced_config_map("default", config_map("a")),
            (409, "AlreadyExists", 'configmaps "a" already exists'),
        ),
        (
            lambda: core.create_namespaced_config_map("nope", config_map("a")),
            (404, "NotFound", 'namespaces "nope" not found'),
        ),
        (
            lambda: rbac.create_cluster_role(client.V1ClusterRole(metadata=named("x"), rules=[])),
            (
                403,
                "Forbidden",
                'clusterroles.rbac.authorization.k8s.io is forbidden: User "sre" cannot create resource '
                '"clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
            ),
        ),
        (
            lambda: apps.create_namespaced_deployment("default", bad),
            (
                422,
                "Invalid",
                'Deployment.apps "bad" is invalid: spec.replicas: Invalid value: -1: must be greater than or '
                "equal to 0",
            ),
        ),
        (
            lambda: core.patch_namespaced_config_map(
                "a", "default", {"data": {"k": "x"}}, _content_type=APPLY, field_manager="me"
            ),
            (400, "BadRequest", None),
        ),
        (
            lambda: core.list_namespaced_pod("tron", field_selector="spec.color=red"),
            (400, "BadRequest", "field label not supported: spec.color"),
        ),
    ):
        with pytest.raises(ApiException) as caught:
            ask()
        code, reason, message = said(caught)
        assert (code, reason) == answer[:2]
        assert answer[2] is None or message == answer[2]


def test_rolls_out_scales_and_evicts(core, api):
    apps = client.AppsV1Api(api)
    apps.create_namespaced_deployment("default", deployment("web", replicas=2))
    status = until(apps.list_namespaced_deployment, lambda each: each.status.available_replicas == 2)
    assert status.status.observed_generation == 1
    assert apps.read_namespaced_deployment_scale("web", "default").status.replicas == 2
    patched = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 1}})
    assert patched.spec.replicas == 1
    until(apps.list_namespaced_deployment, lambda each: each.status.replicas == 1)
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}
    assert apps.patch_namespaced_deployment("web", "default", image).metadata.generation == 3
    until(
        apps.list_namespaced_deployment,
        lambda each: each.status.observed_generation == 3 and each.status.updated_replicas == 1,
    )
    pod = core.list_namespaced_pod("default", label_selector="app=web").items[-1].metadata.name
    eviction = client.V1Eviction(metadata=named(pod, namespace="default"))
    core.create_namespaced_pod_eviction(pod, "default", eviction)
    deleted = core.delete_collection_namespaced_config_map("default", label_selector="none=here")
    assert deleted.kind == "ConfigMapList"
    apps.delete_namespaced_deployment("web", "default", propagation_policy="Foreground")
    for event in watch.Watch().stream(
        apps.list_namespaced_deployment, "default", timeout_seconds=SECONDS_MAX * 10
    ):
        if event["type"] == "DELETED":
            break
    else:
        raise AssertionError("the Deployment stays")


def test_asks_what_it_may_and_what_there_is(core, api):
    wanted = client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(namespace="tron", verb="delete", resource="pods")
    )
    reviews = client.AuthorizationV1Api(api)
    review = reviews.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=wanted))
    assert review.status.allowed
    wanted.resource_attributes.resource = "nodes"
    review = reviews.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=wanted))
    assert not review.status.allowed
    rules = reviews.create_self_subject_rules_review(
        client.V1SelfSubjectRulesReview(spec=client.V1SelfSubjectRulesReviewSpec(namespace="tron"))
    )
    assert any("pods/exec" in rule.resources for rule in rules.status.resource_rules)
    me = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
    assert me.status.user_info.username == "sre"
    assert client.VersionApi(api).get_code().git_version == "v1.37.2"
    assert "apps" in [group.name for group in client.ApisApi(api).get_api_versions().groups]
    assert "pods" in [resource.name for resource in core.get_api_resources().resources]
    usage = utils.metrics.get_pods_metrics(api, "tron")["items"]
    assert {item["metadata"]["labels"]["app"] for item in usage} == {"nginx", "redis"}
