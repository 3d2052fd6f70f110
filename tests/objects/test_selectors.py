import gzip
import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects import selectors
from env_core.objects.selectors import SelectorError

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "selectors.jsonl.gz"


def _label(record, sets):
    got = {}
    try:
        got["toLabelSelector"] = selectors.to_label_selector(record["in"])
    except SelectorError as error:
        got["toLabelSelectorError"] = str(error)
    try:
        selector = selectors.parse_labels(record["in"])
    except SelectorError as error:
        return {**got, "error": str(error)}
    requirements = [
        {"key": requirement.key, "op": requirement.operator, "values": sorted(requirement.values)}
        for requirement in selector.requirements
    ]
    return {
        **got,
        "string": str(selector),
        "empty": selector.is_empty(),
        "matches": [selector.matches(labels) for labels in sets],
        "requirements": requirements,
    }


def _label_selector(record, sets):
    got = {"format": selectors.format_label_selector(record["in"])}
    try:
        selector = selectors.from_object(record["in"])
    except SelectorError as error:
        return {**got, "error": str(error)}
    return {**got, "string": str(selector), "matches": [selector.matches(labels) for labels in sets]}


def _field(record, sets):
    try:
        selector = selectors.parse_fields(record["in"])
    except SelectorError as error:
        return {"error": str(error)}
    return {"string": str(selector), "matches": [selector.matches(fields) for fields in sets]}


REPLAYS = {"label": _label, "labelSelector": _label_selector, "field": _field}
SETS = {"label": "labelSets", "labelSelector": "labelSets", "field": "fieldSets"}


def test_recorded_selectors_match():
    records = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    sets = {record["kind"]: record["sets"] for record in records if "sets" in record}
    records = [record for record in records if "sets" not in record]
    differences = []
    for record in records:
        got = REPLAYS[record["kind"]](record, sets[SETS[record["kind"]]])
        want = {field: value for field, value in record.items() if field not in ("id", "in", "kind")}
        if got != want:
            differences.append((record["id"], got, want))
    assert len(records) - len(differences) >= 136, differences[:3]


WORDS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
VALUES = st.lists(WORDS, min_size=1, max_size=3)
REQUIREMENTS = st.one_of(
    st.builds("{}={}".format, WORDS, WORDS),
    st.builds("{}!={}".format, WORDS, WORDS),
    WORDS,
    st.builds("!{}".format, WORDS),
    st.builds(lambda key, values: f"{key} in ({','.join(values)})", WORDS, VALUES),
    st.builds(lambda key, values: f"{key} notin ({', '.join(values)})", WORDS, VALUES),
    st.builds("{}>{}".format, WORDS, st.integers(0, 99)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(REQUIREMENTS, max_size=4), st.dictionaries(WORDS, WORDS, max_size=4))
def test_a_printed_selector_reads_back_and_selects_the_same(requirements, labels):
    selector = selectors.parse_labels(",".join(requirements))
    again = selectors.parse_labels(str(selector))
    assert str(again) == str(selector)
    assert again.requirements == selector.requirements
    assert again.matches(labels) is selector.matches(labels)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30))
def test_any_text_either_parses_or_is_refused_in_words(text):
    for parse in (selectors.parse_labels, selectors.parse_fields):
        try:
            outcome = parse(text) is not None
        except SelectorError as error:
            outcome = str(error)
        assert outcome


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(WORDS, st.text(max_size=8), min_size=1, max_size=3))
def test_field_values_survive_escaping(fields):
    terms = [selectors.FieldTerm(field, value) for field, value in sorted(fields.items())]
    selector = selectors.parse_fields(str(selectors.FieldSelector(tuple(terms))))
    assert selector.matches(fields)


def test_a_service_selector_matches_by_all_its_pairs():
    selector = selectors.from_labels({"app": "web", "tier": "front"})
    assert selector.matches({"app": "web", "tier": "front", "x": "y"})
    assert not selector.matches({"app": "web"})
    assert not selector.matches(None)
    assert selector.exact == (("app", "web"), ("tier", "front"))


def test_missing_selectors_select_nothing_and_empty_ones_everything():
    assert not selectors.from_object(None).matches({})
    assert selectors.from_object({}).matches({"a": "b"})
    assert selectors.from_labels({}).is_empty()


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (
            {"matchExpressions": [{"key": "a", "operator": "Near"}]},
            '"Near" is not a valid label selector operator',
        ),
        ({"matchLabels": {"": "x"}}, "name part must be non-empty"),
    ],
)
def test_wrong_label_selectors_say_what_is_wrong(selector, message):
    with pytest.raises(SelectorError, match=message):
        selectors.from_object(selector)


def test_field_selectors_tell_the_value_they_require():
    selector = selectors.parse_fields("spec.nodeName=n1,status.phase!=Failed")
    assert selector.exact_value("spec.nodeName") == "n1"
    assert selector.exact_value("status.phase") is None
