"""kubectl and managedFields: who sees them, and moving from client-side to server-side apply."""

import json

import pytest

from env_core.cluster import Cluster
from env_core.kubectl.command import parsed, run
from env_core.kubectl.output.managed import sees_managed_fields
from tests.kubectl.written_world import context_of, world_of

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '{value}'\n"
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "web", "image": "nginx:1.27", "env": [{"name": "A", "value": "1"}]}]
            },
        },
    },
}


@pytest.fixture
def world():
    return world_of([], "shop", 1_767_603_600_000)


def kubectl(world, line, stdin=""):
    return run(line.split(), context_of(world, "shop", stdin=stdin))


def managers(world, resource="cm/a"):
    shown = kubectl(world, f"get {resource} -o json --show-managed-fields")
    entries = json.loads(shown.stdout)["metadata"].get("managedFields", [])
    return [(entry["manager"], entry["operation"], sorted(entry["fieldsV1"])) for entry in entries]


def test_only_those_who_ask_see_managed_fields(world):
    kubectl(world, "apply -f -", MAP.format(value="1"))
    for output in ("yaml", "json", "kyaml"):
        assert "managedFields" not in kubectl(world, f"get cm a -o {output}").stdout
        assert "managedFields" in kubectl(world, f"get cm a -o {output} --show-managed-fields").stdout
    assert "managedFields" not in kubectl(world, "describe cm a").stdout
    assert kubectl(world, "get cm a -o jsonpath={.metadata.managedFields[0].manager}").stdout == (
        "kubectl-client-side-apply"
    )
    assert "managedFields" in kubectl(world, "get cm a -o jsonpath={.metadata}").stdout
    assert (
        "kubectl-client"
        in kubectl(world, "get cm -o custom-columns=M:.metadata.managedFields[*].manager").stdout
    )
    assert kubectl(world, "get cm a -o go-template={{len(.metadata.managedFields)}}").exit_code in (0, 1)


@pytest.mark.parametrize(
    ("output", "is_seen"),
    [
        ("jsonpath={.metadata.name}", False),
        ("jsonpath={.items[*].metadata.name}", False),
        ('jsonpath={range .items[*]}{.metadata.name}{"\\n"}{.status.phase}{end}', False),
        ('jsonpath={.status.conditions[?(@.type=="Ready")].status}', False),
        ("jsonpath={.metadata.labels}", False),
        ("jsonpath={.metadata}", True),
        ("jsonpath={.metadata.*}", True),
        ("jsonpath={..name}", True),
        ("jsonpath={.items}", True),
        ("jsonpath={.items[0]}", True),
        ("jsonpath={@}", True),
        ("jsonpath={range .items[*]}{@}{end}", True),
        ("jsonpath={.metadata['managedFields']}", True),
        ("jsonpath-as-json={.spec}", False),
        ("custom-columns=N:.metadata.name,I:.spec.containers[*].image", False),
        ("custom-columns=N:.metadata", True),
        ("go-template={{.metadata.name}}", True),
        ("yaml", False),
        ("wide", False),
        ("name", False),
    ],
)
def test_the_api_is_asked_for_managed_fields_only_where_they_can_show(output, is_seen):
    args = parsed(("get", "pods", "-o", output))
    assert args is not None
    assert sees_managed_fields(args) is is_seen


def test_the_server_applies_in_the_name_of_kubectl(world):
    assert (
        kubectl(world, "apply --server-side -f -", MAP.format(value="1")).stdout
        == "configmap/a serverside-applied\n"
    )
    assert managers(world) == [("kubectl", "Apply", ["f:data"])]


def test_a_conflict_tells_what_can_be_done_about_it(world):
    kubectl(world, "apply --server-side -f -", MAP.format(value="1"))
    refused = kubectl(world, "apply --server-side --field-manager=me -f -", MAP.format(value="2"))
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.a\nPlease review the fields above'
    )
    line = "apply --server-side --field-manager=me --force-conflicts -f -"
    assert kubectl(world, line, MAP.format(value="2")).exit_code == 0
    assert managers(world) == [("me", "Apply", ["f:data"])]


def test_client_side_apply_is_moved_over_without_conflicts(world):
    manifest = json.dumps(WEB)
    kubectl(world, "apply -f -", manifest)
    assert (
        kubectl(world, "apply --server-side -f -", manifest).stdout
        == "deployment.apps/web serverside-applied\n"
    )
    moved = managers(world, "deploy/web")
    # An apply that changes nothing gets no time, and entries without come first.
    assert [row[:2] for row in moved] == [("kubectl-last-applied", "Apply"), ("kubectl", "Apply")]
    annotation = kubectl(world, "apply view-last-applied deploy/web -o json").stdout
    assert json.loads(annotation)["spec"] == WEB["spec"]


def test_after_the_move_what_is_left_out_goes(world):
    kubectl(world, "apply -f -", json.dumps(WEB))
    container = {"name": "web", "image": "nginx:1.28"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    changed = {**WEB, "spec": {"selector": WEB["spec"]["selector"], "template": template}}
    output = kubectl(world, "apply --server-side -f -", json.dumps(changed))
    assert (output.stdout, output.stderr) == ("deployment.apps/web serverside-applied\n", "")
    live = world.store.get("deployments.apps", "shop", "web")
    found = live["spec"]["template"]["spec"]["containers"][0]
    assert (found["image"], "env" in found, live["spec"]["replicas"]) == ("nginx:1.28", False, 1)
    shown = json.loads(kubectl(world, "apply view-last-applied deploy/web -o json").stdout)
    assert shown["spec"] == changed["spec"]


def test_a_server_dry_run_moves_nothing(world):
    kubectl(world, "apply -f -", json.dumps(WEB))
    before = managers(world, "deploy/web")
    output = kubectl(world, "apply --server-side --dry-run=server -f -", json.dumps(WEB))
    assert output.stdout == "deployment.apps/web serverside-applied (server dry run)\n"
    assert managers(world, "deploy/web") == before


def test_the_server_can_tell_the_difference(world):
    kubectl(world, "apply --server-side -f -", MAP.format(value="1"))
    output = kubectl(world, "diff --server-side -f -", MAP.format(value="2"))
    assert output.exit_code == 1
    assert '-  a: "1"\n+  a: "2"\n' in output.stdout
    assert "managedFields" not in output.stdout


def test_what_a_cluster_does_by_itself_is_in_the_names_of_its_parts():
    cluster = Cluster(seed=3)
    cluster.boot()
    found = cluster.store.get("clusterroles.rbac.authorization.k8s.io", "", "admin")
    written = cluster.store.written("clusterroles.rbac.authorization.k8s.io", "", "admin")
    assert found is not None
    assert written is not None
    names = [(manager.name, manager.operation) for manager in written.managed()]
    assert names == [("kube-apiserver", "Update"), ("clusterrole-aggregation-controller", "Apply")]
