"""The rules of schemas, evaluated: what `self` is, what went before, and what is said of failures."""

import pytest

from env_core.apiextensions.rule_engine import ENGINE
from env_core.apiextensions.rules import RuleError, rule_warnings, validate_rules
from env_core.apiextensions.structural import compile_schema

SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "integer"},
        "share": {"type": "number"},
        "since": {"type": "string", "format": "date-time"},
        "wait": {"type": "string", "format": "duration"},
        "blob": {"type": "string", "format": "byte"},
        "port": {"x-kubernetes-int-or-string": True},
        "namespace": {"type": "string"},
        "x-y": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
            },
        },
    },
}
VALUE = {
    "size": 3,
    "share": 1,
    "since": "2026-01-05T09:00:00Z",
    "wait": "90s",
    "blob": "YWJj",
    "port": "http",
    "namespace": "shop",
    "x-y": "z",
    "labels": {"a-b": "1"},
    "parts": [{"name": "a", "size": 1}],
    "unknown": True,
}


def schema(*rules, at="root"):
    spec = dict(SPEC)
    if at == "root":
        spec["x-kubernetes-validations"] = list(rules)
    else:
        items = {**spec["properties"]["parts"]["items"], "x-kubernetes-validations": list(rules)}
        parts = {**spec["properties"]["parts"], "items": items}
        spec = {**spec, "properties": {**spec["properties"], "parts": parts}}
    return compile_schema({"type": "object", "properties": {"spec": spec}})


def texts(compiled, new, old=None):
    before = None if old is None else {"spec": old}
    return [problem.text() for problem in validate_rules(compiled, {"spec": new}, before, ENGINE)]


@pytest.mark.parametrize(
    "rule",
    [
        "self.size == 3",
        "type(self.share) == double && self.share == 1.0",
        "self.since < timestamp('2027-01-01T00:00:00Z') && self.since.getFullYear() == 2026",
        "self.wait == duration('1m30s')",
        "self.blob == b'abc'",
        "type(self.port) == string",
        "self.__namespace__ == 'shop' && self.namespace == 'shop' && self.x__dash__y == 'z'",
        "self.labels['a-b'] == '1'",
        "self.parts.all(p, p.size > 0)",
    ],
)
def test_self_has_the_types_that_the_schema_declares(rule):
    assert texts(schema({"rule": rule}), VALUE) == []


def test_a_rule_that_is_not_met_says_what_its_author_wrote():
    rules = (
        {"rule": "self.size < 3", "message": "too large"},
        {"rule": "self.size < 2", "messageExpression": "'size is ' + string(self.size)"},
        {"rule": "self.size < 1"},
    )
    assert texts(schema(*rules), VALUE) == [
        "spec: Invalid value: too large",
        "spec: Invalid value: size is 3",
        "spec: Invalid value: failed rule: self.size < 1",
    ]


def test_transition_rules_see_what_was_before():
    compiled = schema({"rule": "self.size >= oldSelf.size", "message": "only up"})
    assert texts(compiled, VALUE) == []
    assert texts(compiled, {**VALUE, "size": 2}, VALUE) == ["spec: Invalid value: only up"]
    first = schema(
        {"rule": "!oldSelf.hasValue() || self.size > oldSelf.value().size", "optionalOldSelf": True}
    )
    assert texts(first, VALUE) == []
    assert len(texts(first, {**VALUE, "share": 2}, VALUE)) == 1


def test_what_was_wrong_before_is_only_warned_of():
    compiled = schema({"rule": "self.size > 5", "message": "too small"})
    new, old = {"spec": VALUE}, {"spec": VALUE}
    assert validate_rules(compiled, new, old, ENGINE) == []
    assert rule_warnings(compiled, new, old, ENGINE) == ["spec: Invalid value: too small"]


def test_a_rule_that_costs_too_much_ends_all_of_them():
    text = "true"
    for name in "abcdef":
        text = f"[1,2,3,4,5,6,7,8,9,10].all({name}, {text})"
    compiled = schema({"rule": text})
    found = texts(compiled, VALUE)
    assert len(found) == 1
    assert found[0].startswith(
        "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        "rules will be run due to call cost exceeds limit for rule: [1,2,3"
    )


def test_items_of_lists_have_rules_of_their_own():
    compiled = schema({"rule": "self.size < 2", "message": "part too large"}, at="items")
    parts = [{"name": "a", "size": 1}, {"name": "b", "size": 2}]
    assert texts(compiled, {**VALUE, "parts": parts}) == ["spec.parts[1]: Invalid value: part too large"]


def test_what_cannot_be_evaluated_is_an_error():
    spec = compile_schema(SPEC)
    with pytest.raises(RuleError, match="no such key: size"):
        ENGINE.evaluate("self.size > 1", spec, {}, None, is_old_optional=False)
    with pytest.raises(
        RuleError, match="rule compile error: compilation failed: ERROR: <input>:1:5: undefined field"
    ):
        ENGINE.evaluate("self.unknown", spec, VALUE, None, is_old_optional=False)
    assert ENGINE.uses_old("self.size == oldSelf.size")
    assert not ENGINE.uses_old("self.oldSelf == 'oldSelf'")
