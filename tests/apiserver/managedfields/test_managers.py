"""Managers: what updates take from others, how many are kept, the entries in the metadata."""

import pytest

from env_core.apiserver.managedfields.fieldset import set_of
from env_core.apiserver.managedfields.managers import (
    UPDATE,
    Manager,
    decoded,
    decoded_or_none,
    encoded,
    manager_of,
    updated,
)
from env_core.apiserver.managedfields.mergetypes import type_of
from env_core.apiserver.managedfields.walking import compare

CONFIG_MAP = type_of("", "v1", "ConfigMap")


def data(**values):
    return {"metadata": {"name": "c"}, "data": values}


def at(second):
    return f"2026-01-05T09:00:{second:02d}Z"


def changed(managed, old, new, name, second=0):
    return updated(managed, compare(CONFIG_MAP, old, new), Manager(name, UPDATE, "v1"), "v1", at(second))


def names(managed):
    return [entry["manager"] for entry in encoded(managed)]


def test_who_changes_a_field_takes_it_and_who_held_it_keeps_the_rest():
    first = changed({}, {}, data(a="1", b="1"), "one")
    second = changed(first, data(a="1", b="1"), data(a="1", b="2"), "two", 1)
    assert [entry["fieldsV1"] for entry in encoded(second)] == [
        {"f:data": {".": {}, "f:a": {}}},
        {"f:data": {"f:b": {}}},
    ]


def test_a_manager_that_holds_nothing_more_is_gone():
    first = changed({}, {"data": {}}, {"data": {"a": "1"}}, "one")
    assert names(changed(first, {"data": {"a": "1"}}, {"data": {"a": "2"}}, "two", 1)) == ["two"]


def test_nobody_manages_identity():
    managed = changed(
        {}, {}, {"metadata": {"name": "c", "uid": "1", "generation": 1, "labels": {"a": "b"}}}, "one"
    )
    assert encoded(managed)[0]["fieldsV1"] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}


def test_the_oldest_updates_are_gathered_when_there_are_more_than_ten_updaters():
    managed, live = {}, {"data": {}}
    for number in range(12):
        new = {"data": {**live["data"], f"k{number}": "1"}}
        managed = changed(managed, live, new, f"m{number:02d}", number)
        live = new
    entries = encoded(managed)
    assert len(entries) == 10
    assert entries[0]["manager"] == "ancient-changes"
    assert entries[0]["fieldsV1"] == {"f:data": {"f:k0": {}, "f:k1": {}, "f:k2": {}}}
    assert entries[0]["time"] == at(2)


def test_entries_survive_reading_and_writing():
    managed = changed(changed({}, {}, data(a="1"), "one"), data(a="1"), data(a="2", b="1"), "two", 3)
    assert decoded(encoded(managed)) == managed


def test_a_request_without_a_name_is_by_somebody_unknown():
    assert manager_of("", UPDATE, "v1", "status") == Manager("unknown", UPDATE, "v1", "status")


@pytest.mark.parametrize(
    "entry",
    [
        {"operation": "Delete", "apiVersion": "v1", "fieldsType": "FieldsV1"},
        {"operation": "Update", "fieldsType": "FieldsV1"},
        {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2"},
        {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"x": {}}},
        "text",
    ],
)
def test_wrong_entries_count_as_none(entry):
    assert decoded_or_none([entry]) == {}


def test_of_a_set_the_members_are_all_its_fields():
    held = next(iter(changed({}, {}, data(a="1"), "one").values()))
    assert held.fields == set_of(("f:data",), ("f:data", "f:a"))
