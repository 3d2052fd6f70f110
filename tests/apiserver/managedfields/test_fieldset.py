"""Sets of field paths: their algebra, their JSON form, the order of paths."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.apiserver.managedfields.fieldset import (
    difference,
    from_fields_v1,
    has_path,
    intersection,
    paths_of,
    set_of,
    to_fields_v1,
    union,
    without,
)
from env_core.apiserver.managedfields.paths import key_element, path_text, read_element

ELEMENTS = st.sampled_from(
    ["f:a", "f:b", "f:spec", 'k:{"name":"web"}', 'k:{"port":80,"protocol":"TCP"}', 'k:{"port":443,"protocol":"TCP"}', 'v:"x"', "i:2"]
)  # fmt: skip
PATHS = st.sets(st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple), max_size=8)


@given(PATHS, PATHS)
def test_the_algebra_is_that_of_sets_of_paths(left, right):
    one, other = set_of(*sorted(left)), set_of(*sorted(right))
    assert set(paths_of(union(one, other))) == left | right
    assert set(paths_of(intersection(one, other))) == left & right
    assert set(paths_of(difference(one, other))) == left - right
    assert all(has_path(one, path) == (path in left) for path in left | right)


@given(PATHS, PATHS)
def test_no_operation_changes_its_operands(left, right):
    one, other = set_of(*sorted(left)), set_of(*sorted(right))
    before = json.dumps([to_fields_v1(one), to_fields_v1(other)])
    union(one, other), intersection(one, other), difference(one, other), without(one, "f:a")
    assert json.dumps([to_fields_v1(one), to_fields_v1(other)]) == before


@given(PATHS)
def test_fields_v1_says_all_of_a_set(paths):
    fields = set_of(*sorted(paths))
    assert set(paths_of(from_fields_v1(to_fields_v1(fields)))) == paths


def test_a_dot_marks_a_member_with_members_below_and_comes_first():
    fields = set_of(("f:data",), ("f:data", "f:k"), ("f:spec", "f:replicas"))
    assert json.dumps(to_fields_v1(fields)) == (
        '{"f:data": {".": {}, "f:k": {}}, "f:spec": {"f:replicas": {}}}'
    )


def test_items_are_ordered_by_the_values_of_their_keys_not_by_their_text():
    ports = [("f:ports", key_element({"port": port, "protocol": "TCP"})) for port in (8080, 80, 443)]
    assert [path[1] for path in paths_of(set_of(*ports))] == [
        f'k:{{"port":{port},"protocol":"TCP"}}' for port in (80, 443, 8080)
    ]


def test_the_members_of_a_level_come_before_what_is_below_any_of_them():
    fields = set_of(("f:a", "f:x"), ("f:b",), ("f:a",))
    assert list(paths_of(fields)) == [("f:a",), ("f:b",), ("f:a", "f:x")]


def test_paths_read_as_error_messages_show_them():
    path = (
        "f:spec",
        "f:containers",
        'k:{"name":"app"}',
        "f:ports",
        'k:{"containerPort":80,"protocol":"TCP"}',
    )
    assert path_text(path) == '.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"]'
    assert path_text(("f:metadata", "f:finalizers", 'v:"a/b"', "i:3")) == '.metadata.finalizers[="a/b"][3]'


def test_keys_are_put_in_order_and_unknown_kinds_of_elements_dropped():
    assert read_element('k:{"protocol": "TCP", "port": 80}') == 'k:{"port":80,"protocol":"TCP"}'
    assert from_fields_v1({"z:new": {}, "f:a": {}}) == set_of(("f:a",))


@pytest.mark.parametrize("text", ["a", "name", "k:[1]", "k:{", "i:x", "v:" + "[" * 5_000 + "]" * 5_000])
def test_what_is_no_path_element_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        read_element(text)


def test_a_set_deeper_than_any_object_is_refused():
    encoded = {}
    for _ in range(5_000):
        encoded = {"f:a": encoded}
    with pytest.raises(ValueError, match=r".+"):
        from_fields_v1(encoded)
