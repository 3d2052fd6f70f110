"""The type tables are current, complete and quick to load."""

import gzip
import json
import subprocess
import sys

import pytest

from env_core.apiserver.data import _generate
from env_core.apiserver.schema import columns, resources, schema_for, struct_named


@pytest.mark.parametrize("name", sorted(_generate.TABLES))
def test_the_committed_table_is_current(name):
    committed = gzip.decompress((_generate.HERE / f"{name}.json.gz").read_bytes())
    assert json.loads(committed) == _generate.TABLES[name]()


def test_every_type_and_field_of_the_recording_is_there():
    source = _generate._read(_generate.GOLDEN / "l0" / "types.json.gz")
    for path, type_ in source["types"].items():
        struct = struct_named(path)
        assert [member.go for member in struct.members] == [field["go"] for field in type_["fields"] or ()]
    for key in source["kinds"]:
        assert schema_for(*(["", *key.split("/")][-3:])) is not None


def test_fields_carry_their_tags():
    pod = schema_for("", "v1", "Pod")
    containers = pod.fields["spec"].type.struct.fields["containers"]
    assert containers.type.text == "[]v1.Container"
    assert (containers.patch_strategies, containers.patch_merge_key) == (("merge",), "name")
    assert (containers.list_type, containers.map_keys) == ("map", ("name",))
    assert containers.protobuf == (2, "bytes", "rep")
    policy = pod.fields["spec"].type.struct.fields["restartPolicy"]
    assert policy.enum == ("Always", "Never", "OnFailure")
    assert policy.type.text == "v1.RestartPolicy"


def test_inlined_structs_are_flattened_by_json_name_only():
    volume = struct_named("api/core/v1.Volume")
    assert "hostPath" in volume.fields
    assert [member.go for member in volume.members] == ["Name", "VolumeSource"]


def test_a_misspelt_case_still_finds_the_field_for_patches():
    pod = schema_for("", "v1", "Pod")
    assert pod.patch_field("Metadata") is pod.fields["metadata"]
    assert pod.patch_field("nope") is None


def test_unknown_kinds_have_no_schema():
    assert schema_for("example.com", "v1", "Widget") is None


def test_resources_and_columns_are_listed():
    by_plural = {(row["group"], row["plural"]): row for row in resources()}
    deployment = by_plural[("apps", "deployments")]
    assert deployment["shortNames"] == ["deploy"]
    assert [part["name"] for part in deployment["subresources"]] == ["scale", "status"]
    assert [column["name"] for column in columns()["v1/Pod"]][:3] == ["Name", "Ready", "Status"]


def test_loading_the_types_is_quick():
    program = (
        "import time; from env_core.apiserver import schema\n"
        "start = time.process_time(); schema.schema_for('apps', 'v1', 'Deployment')\n"
        "print(time.process_time() - start)"
    )
    root = _generate.HERE.parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 0.1
