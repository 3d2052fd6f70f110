"""Every kind answers its five questions, and its objects live through create, update, apply and delete."""

import copy
import json

import pytest

from env_core.apiserver import schema
from env_core.apiserver.errors import StatusError
from env_core.cluster import registry
from tests.catalogue import worlds


def name_of(kind):
    return f"{kind.api_version}/{kind.kind}"


ALL = registry().all()
OWN = worlds.own_kinds()
OURS_ALONE = "metrics.k8s.io"
"""Served by metrics-server in a real cluster, which the recorded control plane did not run."""

every_kind = pytest.mark.parametrize("kind", ALL, ids=name_of)
own_kind = pytest.mark.parametrize("kind", OWN, ids=name_of)


def manifest(kind):
    """Return the smallest recorded manifest of a kind, at home in the test's namespace."""
    found = worlds.smallest(kind.api_version, kind.kind)
    assert found is not None, f"no recording has a {name_of(kind)}"
    return worlds.named(found, kind)


def warning(kind):
    """Return what kubectl prints about a deprecated resource, before anything else."""
    return f"Warning: {kind.deprecation}\n" if kind.deprecation else ""


@every_kind
def test_identity_agrees_with_the_recorded_discovery(kind):
    if kind.group == OURS_ALONE:
        return
    rows = [
        row
        for row in schema.resources()
        if (row["group"], row["version"], row["plural"]) == (kind.group, kind.version, kind.plural)
    ]
    assert len(rows) == 1
    row = rows[0]
    assert (kind.kind, kind.is_namespaced) == (row["kind"], row["namespaced"])
    assert (kind.singular or kind.kind.lower()) == row["singular"]
    assert kind.short_names == tuple(row.get("shortNames", ()))
    assert kind.categories == tuple(row.get("categories", ()))
    assert sorted(kind.verbs) == sorted(row["verbs"])
    served = {entry["name"] for entry in row.get("subresources", ())}
    assert set(kind.subresources) <= served
    assert ("scale" in kind.subresources) == (kind.scale is not None)


@every_kind
def test_columns_are_those_of_the_recording(kind):
    recorded = schema.columns().get(name_of(kind))
    if recorded is None:
        return
    assert [(column.name, column.type, column.format, column.priority) for column in kind.columns] == [
        (entry["name"], entry["type"], entry.get("format", ""), entry.get("priority", 0))
        for entry in recorded
    ]


@every_kind
def test_every_kind_names_its_source(kind):
    assert kind.source.strip()


@own_kind
def test_defaulting_is_idempotent_and_leaves_its_input_alone(kind):
    given = manifest(kind)
    before = copy.deepcopy(given)
    once = kind.default(given)
    assert given == before
    assert kind.default(once) == once


@own_kind
def test_defaults_validate(kind):
    given = manifest(kind)
    given = {**given, "metadata": {**given["metadata"], "uid": "0d7b1f1e-0000-4000-8000-000000000001"}}
    prepared = kind.prepare_create(kind.default(given))
    assert kind.validate(prepared) == []


@own_kind
def test_what_was_created_can_be_read_and_written_back(kind):
    cluster = worlds.booted()
    api = cluster.client()
    namespace = worlds.NAMESPACE if kind.is_namespaced else ""
    made = api.create(kind.resource, namespace, manifest(kind))
    name = made["metadata"]["name"]
    found = api.get(kind.resource, namespace, name)
    assert found["metadata"]["uid"] == made["metadata"]["uid"]
    stored = worlds.as_stored(cluster, kind, namespace, name)
    assert stored == made
    revision = cluster.store.revision
    written = api.update(kind.resource, namespace, stored)
    assert written == stored
    assert cluster.store.revision == revision, "writing an object back unchanged is no write"
    patched = api.patch(kind.resource, namespace, name, {})
    assert patched == stored
    assert cluster.store.revision == revision


@own_kind
def test_a_name_can_be_taken_once(kind):
    cluster = worlds.booted()
    api = cluster.client()
    namespace = worlds.NAMESPACE if kind.is_namespaced else ""
    api.create(kind.resource, namespace, manifest(kind))
    with pytest.raises(StatusError) as refused:
        api.create(kind.resource, namespace, manifest(kind))
    assert refused.value.reason == "AlreadyExists"


@own_kind
def test_every_column_renders(kind):
    cluster = worlds.booted()
    namespace = worlds.NAMESPACE if kind.is_namespaced else ""
    made = cluster.client().create(kind.resource, namespace, manifest(kind))
    for obj in (made, worlds.as_stored(cluster, kind, namespace, made["metadata"]["name"])):
        for column in kind.columns:
            cell = column.cell(obj, cluster.now_ms)
            # Go puts integers into columns of type string too; the golden tests compare the values.
            assert isinstance(cell, (str, int)), (column.name, cell)
    shell = worlds.terminal(cluster)
    for form in ("", "-o wide", "-o yaml", "-o json", "-o name", "--show-labels"):
        output = worlds.run(shell, f"kubectl get {kind.resource} {made['metadata']['name']} {form}")
        assert (output.exit_code, output.stderr) == (0, warning(kind)), form
        assert output.stdout.strip()
        if form == "-o name" or kind.columns[:1] == () or kind.columns[0].name == "Name":
            assert made["metadata"]["name"] in output.stdout


@own_kind
def test_describe_renders(kind):
    cluster = worlds.booted()
    namespace = worlds.NAMESPACE if kind.is_namespaced else ""
    made = cluster.client().create(kind.resource, namespace, manifest(kind))
    output = worlds.run(
        worlds.terminal(cluster), f"kubectl describe {kind.resource} {made['metadata']['name']}"
    )
    assert (output.exit_code, output.stderr) == (0, warning(kind))
    assert output.stdout.startswith("Name:")
    assert made["metadata"]["name"] in output.stdout


@own_kind
def test_applying_again_is_no_change(kind):
    cluster = worlds.booted()
    shell = worlds.terminal(cluster)
    body = manifest(kind)
    name = body["metadata"]["name"]
    first = worlds.apply(shell, body)
    assert (first.exit_code, first.stderr) == (0, warning(kind))
    assert first.stdout.endswith(" created\n")
    before = worlds.run(shell, f"kubectl get {kind.resource} {name} -o json").stdout
    second = worlds.apply(shell, body)
    assert (second.exit_code, second.stderr) == (0, warning(kind))
    # "configured", as in the real thing, where a list that is replaced whole lacks defaults or a quantity is not canonical.
    assert second.stdout.endswith((" unchanged\n", " configured\n"))
    assert worlds.run(shell, f"kubectl get {kind.resource} {name} -o json").stdout == before
    printed = worlds.bare(json.loads(before))
    assert worlds.apply(shell, printed).exit_code == 0
    assert worlds.apply(shell, printed).stdout.endswith(" unchanged\n")


@own_kind
def test_a_deleted_object_goes(kind):
    cluster = worlds.booted()
    shell = worlds.terminal(cluster)
    name = manifest(kind)["metadata"]["name"]
    worlds.apply(shell, manifest(kind))
    gone = worlds.run(shell, f"kubectl delete {kind.resource} {name}")
    assert (gone.exit_code, gone.stderr) == (0, warning(kind))
    assert "deleted" in gone.stdout
    found = worlds.run(shell, f"kubectl get {kind.resource} {name}")
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith(f"{warning(kind)}Error from server (NotFound): ")


@pytest.mark.parametrize(
    "kind", [kind for kind in ALL if kind.kind != "ControllerRevision" and kind.columns], ids=name_of
)
def test_explain_knows_the_fields(kind):
    # By name alone, kubectl takes `events.events.k8s.io` for fields of core events.
    line = f"kubectl explain {kind.plural} --api-version={kind.api_version}"
    output = worlds.run(worlds.terminal(worlds.booted()), line)
    if kind.group == OURS_ALONE:
        return
    assert (output.exit_code, output.stderr) == (0, "")
    assert f"KIND:       {kind.kind}\n" in output.stdout
