"""Custom resources, from the terminal and over the API of a real cluster."""

from __future__ import annotations

import pytest

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ADMIN, STRATEGIC_PATCH, Options
from tests.apiextensions.worlds import DEFINITION, Town, widget

RESOURCE = "widgets.example.com"


@pytest.fixture
def town():
    return Town.booted(DEFINITION)


def test_a_definition_is_established_and_its_resource_served():
    town = Town.booted(DEFINITION)
    assert town.stdout("kubectl wait --for=condition=Established crd/widgets.example.com").endswith(
        "condition met\n"
    )
    assert town.stdout("kubectl api-resources --api-group=example.com").splitlines()[1:] == [
        "widgets   wd           example.com/v1   true         Widget"
    ]
    assert town.stdout("kubectl api-versions | grep example") == "example.com/v1\nexample.com/v1beta1\n"


def test_defaults_show_and_columns_come_from_paths(town):
    town.stdout("kubectl apply -f -", widget(spec="{size: 2}"))
    town.stdout(
        "kubectl patch wd a --type=merge --subresource=status "
        """-p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'"""
    )
    assert town.yaml("kubectl get widget a")["spec"] == {"color": "red", "size": 2}
    header, row = town.stdout("kubectl get wd -o wide").splitlines()
    assert header.split() == ["NAME", "READY", "SIZE", "AGE"]
    assert row.split()[:3] == ["a", "True", "2"]
    assert "widget.example.com/a" in town.stdout("kubectl get all")


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ("{}", ["spec.size: Required value"]),
        (
            "{size: 0}",
            ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"],
        ),
        (
            "{size: x}",
            ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
        ),
        (
            "{size: 1, color: green}",
            ['spec.color: Unsupported value: "green": supported values: "red", "blue"'],
        ),
        ("{size: 1, labels: {a: long}}", ["spec.labels.a: Too long: may not be more than 3 bytes"]),
        (
            "{size: 1, port: true}",
            [
                'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
            ],
        ),
        (
            "{size: 1, hosts: [1.2.3, 1.2.3.4, 1.2.3.4]}",
            [
                'spec.hosts[0]: Invalid value: "1.2.3": spec.hosts[0] in body must be of type ipv4: "1.2.3"',
                'spec.hosts[2]: Duplicate value: "1.2.3.4"',
            ],
        ),
        ("{size: 1, ports: [{name: a}, {name: a}]}", ['spec.ports[1]: Duplicate value: {"name":"a"}']),
        ("{size: 1, replicas: -1}", [".spec.replicas: Invalid value: -1: should be a non-negative integer"]),
    ],
)
def test_values_that_do_not_fit_the_schema_are_refused(town, spec, problems):
    lines = town.refusal("kubectl create -f -", widget(spec=spec)).splitlines()
    joined = "\n".join(lines)
    assert joined.startswith('The Widget "a" is invalid:')
    assert [problem for problem in problems if problem not in joined] == []
    assert len(problems) == (len(lines) - 1 if len(lines) > 1 else 1)


def test_unknown_fields_are_refused_warned_of_or_dropped(town):
    api = ApiClient(town.cluster.server, ADMIN)
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "foo": 1}}
    body["spec"] = {"size": 1, "foo": 2, "free": {"kept": True}}
    with pytest.raises(StatusError) as refused:
        api.create(RESOURCE, "default", body, options=Options(field_validation="Strict", dry_run=True))
    assert refused.value.message.endswith(
        'strict decoding error: unknown field "metadata.foo", unknown field "spec.foo"'
    )
    created = api.create(RESOURCE, "default", body, options=Options(dry_run=True))
    assert api.warnings == ('unknown field "metadata.foo"', 'unknown field "spec.foo"')
    assert created["spec"] == {"size": 1, "free": {"kept": True}, "color": "red"}
    api.create(RESOURCE, "default", body, options=Options(field_validation="Ignore"))
    assert api.warnings == ()


def test_status_is_written_apart_and_does_not_raise_the_generation(town):
    api = ApiClient(town.cluster.server, ADMIN)
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}}
    created = api.create(RESOURCE, "default", {**body, "status": {"phase": "New"}})
    assert "status" not in created
    changed = {**created, "spec": {"size": 9}, "status": {"phase": "Done"}}
    written = api.update_status(RESOURCE, "default", changed)
    assert (written["spec"]["size"], written["status"], written["metadata"]["generation"]) == (
        1,
        {"phase": "Done"},
        1,
    )
    updated = api.update(RESOURCE, "default", {**written, "spec": {"size": 3}, "status": {}})
    assert (updated["status"], updated["metadata"]["generation"]) == ({"phase": "Done"}, 2)


def test_scale_reads_and_writes_the_declared_paths(town):
    town.stdout("kubectl apply -f -", widget())
    missing = town.refusal("kubectl get wd a --subresource=scale")
    assert missing.endswith('the spec replicas field ".spec.replicas" does not exist\n')
    unset = """kubectl patch wd a --type=merge --subresource=scale -p '{"metadata":{}}'"""
    assert town.stdout("kubectl scale wd a --replicas=0") == "widget.example.com/a scaled\n"
    town.stdout("kubectl scale wd a --replicas=3")
    assert town.run(unset).exit_code == 0
    town.stdout(
        "kubectl patch wd a --type=merge --subresource=status "
        """-p '{"status":{"replicas":2,"selector":"app=a"}}'"""
    )
    scale = town.yaml("kubectl get wd a --subresource=scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "app=a"})


def test_a_strategic_patch_is_no_type_of_patch_for_them(town):
    town.stdout("kubectl apply -f -", widget())
    api = ApiClient(town.cluster.server, ADMIN)
    for name in ("a", "gone"):
        with pytest.raises(StatusError) as refused:
            api.patch(RESOURCE, "default", name, {}, STRATEGIC_PATCH)
        assert (refused.value.code, refused.value.reason) == (415, "UnsupportedMediaType")


def test_every_version_shows_the_stored_object_by_its_own_schema(town):
    town.stdout("kubectl apply -f -", widget(spec="{size: 2, port: http}"))
    old = town.yaml("kubectl get widgets.v1beta1.example.com a")
    assert (old["apiVersion"], old["spec"]) == ("example.com/v1beta1", {"old": "x", "size": 2})
    created = town.run("kubectl create -f -", widget("b", "{size: 4}", "v1beta1"))
    assert created.stdout == "widget.example.com/b created\n"
    assert "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget" in created.stderr
    stored = town.cluster.store.get(RESOURCE, "default", "b")
    assert (stored["apiVersion"], stored["spec"]) == ("example.com/v1", {"size": 4})
    assert town.yaml("kubectl get wd b")["spec"] == {"color": "red", "size": 4}


def test_selectors_know_labels_and_the_selectable_fields(town):
    town.stdout("kubectl create -f -", widget("a", "{size: 1}", more=", labels: {app: x}"))
    town.stdout("kubectl create -f -", widget("b", "{size: 1, color: blue}"))
    assert town.stdout("kubectl get wd -l app=x -o name") == "widget.example.com/a\n"
    assert town.stdout("kubectl get wd --field-selector spec.color=blue -o name") == "widget.example.com/b\n"
    assert "field label not supported: spec.size" in town.refusal(
        "kubectl get wd --field-selector spec.size=1"
    )


def test_apply_patches_what_differs_and_leaves_the_rest(town):
    town.stdout("kubectl apply -f -", widget(spec="{size: 2, free: {a: 1}}"))
    town.stdout("kubectl scale wd a --replicas=2")
    assert town.stdout("kubectl apply -f -", widget(spec="{size: 5}")) == "widget.example.com/a configured\n"
    assert town.stdout("kubectl apply -f -", widget(spec="{size: 5}")) == "widget.example.com/a unchanged\n"
    assert town.yaml("kubectl get wd a")["spec"] == {"color": "red", "replicas": 2, "size": 5}


def test_what_was_wrong_before_may_stay_but_nothing_else_may_go_wrong(town):
    town.stdout("kubectl create -f -", widget(spec="{size: 1, labels: {a: abc}}"))
    narrower = DEFINITION.replace("maxLength: 3", "maxLength: 2")
    town.stdout("kubectl apply -f -", narrower)
    town.cluster.advance(100)
    town.stdout("""kubectl patch wd a --type=merge -p '{"spec":{"size":2}}'""")
    refused = town.refusal("""kubectl patch wd a --type=merge -p '{"spec":{"labels":{"b":"abc"}}}'""")
    assert refused == 'The Widget "a" is invalid: spec.labels.b: Too long: may not be more than 2 bytes\n'


def test_access_is_by_rbac(town):
    assert 'cannot list resource "widgets" in API group "example.com"' in town.refusal(
        "kubectl get wd --as=bob"
    )
    town.stdout("kubectl create role reads --verb=get,list --resource=widgets.example.com")
    town.stdout("kubectl create rolebinding reads --role=reads --user=bob")
    assert town.run("kubectl get wd --as=bob").stderr == "No resources found in default namespace.\n"
    assert town.stdout("kubectl auth can-i list widgets --as=bob") == "yes\n"


def test_explain_shows_the_types_of_the_schema_and_what_it_says(town):
    text = town.stdout("kubectl explain wd.spec")
    fields = dict(line.strip().split("\t") for line in text.splitlines() if "\t" in line)
    assert fields == {
        "color": "<string>",
        "free": "<Object>",
        "hosts": "<[]string>",
        "labels": "<map[string]string>",
        "port": "<Object>",
        "ports": "<[]Object>",
        "replicas": "<integer>",
        "size": "<integer> -required-",
    }
    assert "    How large it is.\n" in text
    assert "DESCRIPTION:\n    Widget is for testing.\n" in town.stdout("kubectl explain widgets")
    assert "old\t<string>" in town.stdout("kubectl explain wd.spec --api-version=example.com/v1beta1")
    assert town.refusal("kubectl explain wd.spec.none").endswith('error: field "none" does not exist\n')


def test_finalizers_without_a_domain_are_warned_of_once(town):
    created = town.run("kubectl create -f -", widget(more=", finalizers: [clean]"))
    assert created.stderr == (
        'Warning: metadata.finalizers: "clean": prefer a domain-qualified finalizer name to avoid accidental '
        "conflicts with other finalizer writers\n"
    )
    assert town.run("kubectl label wd a b=c").stderr == ""


def test_dependents_of_a_custom_resource_are_collected(town):
    town.stdout("kubectl create -f -", widget())
    uid = town.yaml("kubectl get wd a")["metadata"]["uid"]
    owner = f"{{apiVersion: example.com/v1beta1, kind: Widget, name: a, uid: {uid}}}"
    child = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: child, ownerReferences: [{owner}]}}\n"
    town.stdout("kubectl apply -f -", child)
    grandchild = widget("b", more=f", ownerReferences: [{owner}]")
    town.stdout("kubectl apply -f -", grandchild)
    town.cluster.advance(1_000)
    assert town.stdout("kubectl get cm child -o name") == "configmap/child\n"
    town.stdout("kubectl delete wd a")
    town.cluster.advance(1_000)
    assert "not found" in town.refusal("kubectl get cm child")
    assert "not found" in town.refusal("kubectl get wd b")


def test_a_namespace_takes_its_custom_resources_along(town):
    town.stdout("kubectl create namespace other")
    town.stdout("kubectl create -n other -f -", widget())
    town.stdout("kubectl delete namespace other --wait=false")
    assert "because it is being terminated" in town.refusal("kubectl create -n other -f -", widget("b"))
    town.cluster.advance(20_000)
    assert "not found" in town.refusal("kubectl get namespace other")
    assert town.cluster.store.count(RESOURCE) == 0


def test_a_fork_shares_the_kinds_and_goes_its_own_way(town):
    town.stdout("kubectl create -f -", widget())
    fork = town.fork()
    assert fork.cluster.registry.find("wd") is town.cluster.registry.find("wd")
    fork.stdout("kubectl delete crd widgets.example.com")
    fork.cluster.advance(1_000)
    assert fork.cluster.registry.find("wd") is None
    assert town.stdout("kubectl get wd -o name") == "widget.example.com/a\n"
