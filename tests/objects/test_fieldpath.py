import pytest

from env_core.objects import fieldpath
from env_core.objects.fieldpath import FieldPathError

OBJECT = {
    "metadata": {"labels": {"a.b/c": "x"}},
    "spec": {"containers": [{"name": "app"}, {"name": "side"}], "empty": None},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.containers[1].name", "side"),
        (".spec.containers[-1].name", "side"),
        ("metadata.labels['a.b/c']", "x"),
        (r"metadata.labels.a\.b/c", "x"),
        ("spec.nope.deeper", "default"),
        ("spec.containers[7]", "default"),
        ("spec.empty", None),
        ("", OBJECT),
    ],
)
def test_paths_reach_into_objects(path, value):
    assert fieldpath.get_path(OBJECT, path, "default") == value


@pytest.mark.parametrize("path", ["spec..x", "spec.", "a[b]", "a[0"])
def test_wrong_paths_are_refused(path):
    with pytest.raises(FieldPathError):
        fieldpath.get_path(OBJECT, path)


def test_setting_copies_only_the_way():
    changed = fieldpath.set_path(OBJECT, "spec.containers[0].image", "nginx")
    assert changed["spec"]["containers"][0] == {"name": "app", "image": "nginx"}
    assert "image" not in OBJECT["spec"]["containers"][0]
    assert changed["metadata"] is OBJECT["metadata"]
    assert changed["spec"]["containers"][1] is OBJECT["spec"]["containers"][1]


def test_setting_makes_missing_maps():
    assert fieldpath.replaced({}, "a", "b", value=1) == {"a": {"b": 1}}
    assert fieldpath.replaced({"a": None}, "a", "b", value=1) == {"a": {"b": 1}}


def test_setting_does_not_lead_through_scalars():
    with pytest.raises(FieldPathError):
        fieldpath.replaced({"a": 1}, "a", "b", value=1)
    with pytest.raises(FieldPathError):
        fieldpath.replaced({"a": []}, "a", 0, value=1)


def test_removing_leaves_the_rest_shared():
    smaller = fieldpath.removed(OBJECT, "spec", "containers", 0)
    assert smaller["spec"]["containers"] == [{"name": "side"}]
    assert fieldpath.removed(OBJECT, "spec", "nope", "x") is OBJECT


def test_json_pointers_resolve_their_escapes():
    assert fieldpath.parse_pointer("/metadata/annotations/a~1b~0c") == ("metadata", "annotations", "a/b~c")
    assert fieldpath.parse_pointer("") == ()
    with pytest.raises(FieldPathError):
        fieldpath.parse_pointer("spec")
