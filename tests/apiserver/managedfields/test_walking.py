"""What differs between two typed values, what a configuration sets, what it merges to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.apiserver.managedfields.fieldset import paths_of, set_of
from env_core.apiserver.managedfields.mergetypes import DEDUCED, type_of
from env_core.apiserver.managedfields.merging import merged, problems_text
from env_core.apiserver.managedfields.paths import path_text
from env_core.apiserver.managedfields.walking import compare, fields_of, without_fields

POD = type_of("", "v1", "Pod")
DEPLOYMENT = type_of("apps", "v1", "Deployment")
CONFIG_MAP = type_of("", "v1", "ConfigMap")


def texts(fields):
    return [path_text(path) for path in paths_of(fields)]


def pod(*containers, **spec):
    return {"spec": {"containers": list(containers), **spec}}


def test_a_new_list_item_is_added_with_everything_in_it():
    change = compare(POD, pod({"name": "a"}), pod({"name": "a"}, {"name": "b", "image": "x"}))
    assert texts(change.added) == [
        '.spec.containers[name="b"]',
        '.spec.containers[name="b"].image',
        '.spec.containers[name="b"].name',
    ]
    assert texts(change.modified) == texts(change.removed) == []


def test_the_order_of_keyed_items_does_not_count_and_that_of_atomic_lists_does():
    one, other = {"name": "a", "args": ["1", "2"]}, {"name": "b"}
    assert compare(POD, pod(one, other), pod(other, one)) == ({}, {}, {})
    change = compare(POD, pod(one), pod({"name": "a", "args": ["2", "1"]}))
    assert texts(change.modified) == ['.spec.containers[name="a"].args']


def test_empty_and_absent_are_not_the_same():
    change = compare(CONFIG_MAP, {}, {"data": {}})
    assert texts(change.added) == [".data"]
    assert compare(CONFIG_MAP, {"data": None}, {"data": {"a": "1"}}).added == set_of(("f:data", "f:a"))


def test_ports_are_known_by_their_protocol_even_where_it_is_left_out():
    config = pod({"name": "a", "ports": [{"containerPort": 80}]})
    assert '.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"]' in texts(
        fields_of(POD, config)
    )


def test_of_a_type_that_nobody_declares_maps_merge_and_lists_do_not():
    live = {"spec": {"a": {"x": 1, "y": 2}, "list": [1]}}
    assert merged(DEDUCED, live, {"spec": {"a": {"y": 3}, "list": [2]}}) == {
        "spec": {"a": {"x": 1, "y": 3}, "list": [2]}
    }
    assert texts(compare(DEDUCED, live, {"spec": {"a": {"x": 1}, "list": [2]}}).modified) == [".spec.list"]


@pytest.mark.parametrize(
    ("live", "config", "expected"),
    [
        ("ab", "b", "ab"),
        ("ab", "ba", "ba"),
        ("abc", "cd", "abcd"),
        ("ac", "abc", "abc"),
        ("abcd", "dxa", "bcdxa"),
        ("", "ab", "ab"),
    ],
)
def test_shared_items_take_the_order_of_the_configuration(live, config, expected):
    result = merged(POD, pod(*({"name": n} for n in live)), pod(*({"name": n} for n in config)))
    assert "".join(item["name"] for item in result["spec"]["containers"]) == expected


NAMES = st.lists(st.sampled_from("abcdef"), unique=True)
VALUES = st.dictionaries(st.sampled_from(["image", "command"]), st.sampled_from(["1", "2"]))


@st.composite
def pods(draw):
    return pod(*({"name": name, **draw(VALUES)} for name in draw(NAMES)), **draw(VALUES))


@given(pods(), pods())
def test_merging_sets_all_that_the_configuration_says_and_loses_nothing_of_the_rest(live, config):
    result = merged(POD, live, config)
    wanted = set(paths_of(fields_of(POD, config)))
    assert wanted <= set(paths_of(fields_of(POD, result)))
    assert compare(POD, live, result).removed == {}
    assert merged(POD, result, config) == result


@given(pods(), pods())
def test_what_is_removed_and_what_is_added_are_each_others_mirror(old, new):
    there, back = compare(POD, old, new), compare(POD, new, old)
    assert (there.added, there.removed) == (back.removed, back.added)
    assert there.modified == back.modified


@given(pods(), pods())
def test_what_is_taken_away_is_gone_and_the_rest_is_there(value, other):
    fields = fields_of(POD, other)
    left = set(paths_of(fields_of(POD, without_fields(POD, value, fields) or {})))
    assert not left & set(paths_of(fields))
    gone = set(paths_of(fields_of(POD, value))) - left
    assert all(
        any(path[: len(taken)] == taken for taken in paths_of(fields))
        for path in gone - {("f:spec", "f:containers")}
    )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"spec": {"replicas": "3"}}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"spec": {"paused": "yes"}}, ".spec.paused: expected boolean, got &{yes}"),
        ({"spec": {"nope": 1}}, ".spec.nope: field not declared in schema"),
        (
            {"metadata": {"labels": {"a": 5}}},
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:5}",
        ),
        ({"spec": []}, ".spec: expected map, got &{[]}"),
        (
            {"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}}},
            '.spec.template.spec.containers: duplicate entries for key [name="a"]',
        ),
        (
            {"spec": {"replicas": "3", "paused": 1}},
            "errors:\n  .spec.replicas: expected numeric (int or float), got string\n"
            "  .spec.paused: expected boolean, got &{1}",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_is_told_where(config, problem):
    assert problems_text(DEPLOYMENT, config) == problem
