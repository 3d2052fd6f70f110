"""Structural schemas: pruning, defaulting and checking values, on schemas that Hypothesis draws and on tables."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from env_core.apiextensions.defaulting import default
from env_core.apiextensions.fieldpaths import PathError, schema_at
from env_core.apiextensions.formats import has_format
from env_core.apiextensions.pruning import prune, prune_nulls
from env_core.apiextensions.rules import RuleError, validate_rules
from env_core.apiextensions.structural import compile_schema
from env_core.apiextensions.values import problems_of

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "string", "default": "x"},
        {"type": "integer", "default": 1},
        {"type": "boolean", "nullable": True},
    ]
)


def grown(below):
    return st.one_of(
        st.dictionaries(NAMES, below, max_size=3).map(
            lambda fields: {"type": "object", "properties": fields}
        ),
        below.map(lambda schema: {"type": "object", "additionalProperties": schema}),
        below.map(lambda schema: {"type": "array", "items": schema}),
        st.just({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    )


SCHEMAS = st.recursive(SCALARS, grown, max_leaves=4)
ROOTS = st.dictionaries(NAMES, SCHEMAS, max_size=3).map(lambda each: {"type": "object", "properties": each})
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "long"]))
VALUES = st.recursive(
    LEAVES,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(NAMES, below, max_size=3)),
    max_leaves=5,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
drawn = settings(suppress_health_check=[HealthCheck.too_slow])


@drawn
@given(ROOTS, OBJECTS)
def test_what_has_been_pruned_and_defaulted_stays_as_it_is_and_nothing_is_mutated(props, obj):
    schema, before = compile_schema(props), copy.deepcopy(obj)
    pruned, unknown = prune(obj, schema)
    assert (pruned is obj) is (not unknown)
    done = default(prune_nulls(pruned, schema), schema)
    assert prune(done, schema) == (done, [])
    assert default(done, schema) is done
    assert prune_nulls(done, schema) == done
    assert obj == before


@drawn
@given(ROOTS, OBJECTS)
def test_what_did_not_change_is_never_complained_about(props, obj):
    schema = compile_schema(props)
    assert problems_of(schema, obj, old=copy.deepcopy(obj)) == []


@drawn
@given(ROOTS, OBJECTS, OBJECTS)
def test_ratcheting_only_takes_complaints_away(props, new, old):
    schema = compile_schema(props)
    assert set(problems_of(schema, new, old=old)) <= set(problems_of(schema, new))


def texts(schema, value):
    return [problem.text() for problem in problems_of(compile_schema(schema), value, prefix="")]


A = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 3.0, []),
        ({"type": "number"}, 3, []),
        ({"type": "string"}, None, ['<nil>: Invalid value: "null":  in body must be of type string: "null"']),
        ({"type": "string", "nullable": True}, None, []),
        ({"maximum": 3, "exclusiveMaximum": True, "type": "integer"}, 3, ["<nil>: Invalid value: 3:  in body should be less than 3"]),
        ({"minimum": 0.5, "type": "number"}, 0.25, ["<nil>: Invalid value: 0.25:  in body should be greater than or equal to 0.5"]),
        ({"multipleOf": 5, "type": "integer"}, 7, ["<nil>: Invalid value: 7:  in body should be a multiple of 5"]),
        ({"maxItems": 1, "type": "array", "items": {"type": "integer"}}, [1, 2], ["<nil>: Too many: 2: must have at most 1 item"]),
        ({"minItems": 1, "type": "array", "items": {"type": "integer"}}, [], ["<nil>: Invalid value: 0:  in body should have at least 1 items"]),
        ({"maxProperties": 1, "type": "object"}, {"a": 1, "b": 2}, ["<nil>: Too many: 2: must have at most 1 item"]),
        ({"minProperties": 1, "type": "object"}, {}, ["<nil>: Invalid value: 0:  in body should have at least 1 properties"]),
        ({"pattern": "^a$", "type": "string"}, "b", ["<nil>: Invalid value: \"b\":  in body should match '^a$'"]),
        ({"minLength": 2, "type": "string"}, "é", ['<nil>: Invalid value: "é":  in body should be at least 2 chars long']),
        (A, {"a": "x"}, ['a: Invalid value: "string": a in body must be of type integer: "string"']),
        (
            {**A, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {},
            ['<nil>: Invalid value: "": "" must validate at least one schema (anyOf)', "a: Required value"],
        ),
        (
            {**A, "oneOf": [{"required": ["a"]}, {"properties": {"a": {"minimum": 1}}}]},
            {"a": 2},
            ['<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
        ),
        (
            {**A, "allOf": [{"required": ["b"]}]},
            {"a": 2},
            ["b: Required value", '<nil>: Invalid value: "": "" must validate all the schemas (allOf). None validated'],
        ),
        ({**A, "not": {"required": ["a"]}}, {"a": 2}, ['<nil>: Invalid value: "": "" must not validate the schema (not)']),
    ],
)  # fmt: skip
def test_values_are_judged_in_the_words_of_the_validator(schema, value, expected):
    assert texts(schema, value) == expected


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "::1", "1.2.3.4"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "00:1a:2b:3c:4d:5e", "00:1a"),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T10:00:00Z", "2026-02-28"),
        ("duration", "1h30m", "soon"),
        ("duration", "2 days", "2 moons"),
        ("email", "a@example.com", "example.com"),
        ("hostname", "web-1.example.com", "-web"),
        ("byte", "aGVsbG8=", "aGVsbG8"),
        ("hexcolor", "#ff00aa", "#ff00a"),
        ("uri", "https://example.com/a", "example"),
        ("isbn13", "978-0321751041", "978-0321751042"),
        ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("k8s-short-name", "web-1", "web.1"),
        ("k8s-long-name", "web.example.com", "Web"),
    ],
)
def test_formats_tell_texts_apart(format_, good, bad):
    assert has_format(good, format_)
    assert not has_format(bad, format_)


def test_paths_lead_to_fields_or_say_why_not():
    schema = {
        "properties": {"a b": {"type": "string"}, "c": {"additionalProperties": {"type": "integer"}}},
    }
    assert schema_at(schema, ".c.any") == ({"type": "integer"}, ("c", "any"))
    assert schema_at(schema, "['a b']").names == ("a b",)
    for path, why in [
        (".d", "does not refer to a valid field"),
        ("c", "expected [ or . but got: c"),
        (".c[any]", "expected single quoted string but got any"),
        (".", "unexpected end of JSON path"),
        (r"['\q']", r"invalid string literal: invalid escape char \q"),
    ]:
        with pytest.raises(PathError) as refused:
            schema_at(schema, path)
        assert str(refused.value) == why
    with pytest.raises(PathError, match="array notation is not allowed"):
        schema_at(schema, "['a b']", allows_brackets=False)


class Engine:
    """Rules in Python, for what surrounds their language."""

    def uses_old(self, expression):
        return "oldSelf" in expression

    def evaluate(self, expression, schema, value, old, *, is_old_optional):
        assert is_old_optional in (True, False)
        assert schema.props
        if expression == "broken":
            raise RuleError("no such key: a")
        result = {
            "self > 1": lambda: value > 1,
            "self >= oldSelf": lambda: value >= old,
            "false": lambda: False,
            "'got ' + string(self)": lambda: f"got {value}",
        }[expression]()
        return result, 1


def rules(*found, type_="integer"):
    return {"type": type_, "x-kubernetes-validations": list(found)}


@pytest.mark.parametrize(
    ("field", "new", "old", "expected"),
    [
        (rules({"rule": "self > 1"}), 2, None, []),
        (rules({"rule": "self > 1"}), 1, None, ["a: Invalid value: 1: failed rule: self > 1"]),
        (rules({"rule": "self > 1", "message": " too small "}), 1, None, ["a: Invalid value: 1: too small"]),
        (
            rules({"rule": "self > 1", "message": "m", "messageExpression": "'got ' + string(self)"}),
            1,
            None,
            ["a: Invalid value: 1: got 1"],
        ),
        (rules({"rule": "self > 1", "reason": "FieldValueForbidden"}), 1, None, ["a: Forbidden: failed rule: self > 1"]),
        (rules({"rule": "self >= oldSelf"}), 1, None, []),
        (rules({"rule": "self >= oldSelf"}), 1, 2, ["a: Invalid value: 1: failed rule: self >= oldSelf"]),
        (rules({"rule": "self > 1"}), 1, 1, []),
        (rules({"rule": "broken"}), 1, None, ['a: Invalid value: "integer": no such key: a evaluating rule: broken']),
        (rules({"rule": "false", "message": "no"}, type_="object"), {"b": 1}, None, ["a: Invalid value: no"]),
        (
            {**rules({"rule": "false", "message": "no", "fieldPath": ".b"}, type_="object"), "properties": {"b": {"type": "integer"}}},
            {"b": 1},
            None,
            ["a.b: Invalid value: no"],
        ),
    ],
)  # fmt: skip
def test_rules_apply_where_they_stand(field, new, old, expected):
    schema = compile_schema({"type": "object", "properties": {"a": field}})
    before = None if old is None else {"a": old}
    assert [each.text() for each in validate_rules(schema, {"a": new}, before, Engine())] == expected


def test_old_items_are_found_by_the_keys_of_their_list():
    item = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "n": rules({"rule": "self >= oldSelf"})},
    }
    ports = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    schema = compile_schema({"type": "object", "properties": {"ports": ports}})
    old = {"ports": [{"name": "a", "n": 5}, {"name": "b", "n": 1}]}
    new = {"ports": [{"name": "b", "n": 2}, {"name": "a", "n": 4}]}
    assert json.dumps([each.field for each in validate_rules(schema, new, old, Engine())]) == '["ports[1].n"]'
