"""Rules over rising times: pending, firing, kept, resolved; recorded series; files that do not load."""

import pytest

from env_core.observability.prometheus._evaluation import GroupEvaluation, Written
from env_core.observability.prometheus._rulefiles import RuleFileError, load
from env_core.observability.prometheus._rulestate import EvaluatedRules
from env_core.observability.promql import Engine, Series, StaticSource, labels_of

RULES = """
groups:
- name: g
  rules:
  - record: job:up:sum
    expr: sum by (job) (up)
  - alert: Down
    expr: up == 0
    for: 1m
    labels: {severity: page}
    annotations: {summary: '{{ $labels.instance }} is {{ $value }}'}
"""


def evaluated(values, until_ms, text=RULES):
    series = Series(
        labels_of({"__name__": "up", "job": "j", "instance": "i"}),
        [index * 15_000 for index in range(len(values))],
        values,
    )
    written = Written(StaticSource([series]))
    (group,) = load(text)
    evaluation = GroupEvaluation(
        group, written, interval_ms=15_000, external_labels={}, external_url="", file="rules.yml"
    )
    for at_ms in range(0, until_ms + 1, 15_000):
        evaluation.evaluate(at_ms)
    return evaluation, written


def state(values, until_ms):
    evaluation, _ = evaluated(values, until_ms)
    return [each["state"] for each in EvaluatedRules([evaluation], "rules.yml").alerts()]


def test_an_alert_is_pending_then_fires_then_is_gone():
    values = [1.0] * 4 + [0.0] * 6 + [1.0] * 4
    assert state(values, 45_000) == []
    assert state(values, 60_000) == ["pending"]
    assert state(values, 105_000) == ["pending"]
    assert state(values, 120_000) == ["firing"]
    assert state(values, 150_000) == []


def test_an_alert_says_what_its_templates_say():
    evaluation, _ = evaluated([0.0] * 9, 120_000)
    (alert,) = EvaluatedRules([evaluation], "rules.yml").alerts()
    assert alert["annotations"] == {"summary": "i is 0"}
    assert alert["labels"] == {"alertname": "Down", "instance": "i", "job": "j", "severity": "page"}
    assert (alert["activeAt"], alert["value"]) == ("1970-01-01T00:00:00Z", "0e+00")


def test_rules_write_series():
    _, written = evaluated([0.0] * 9, 120_000)
    engine = Engine(written)
    ((labels, _, value),) = engine.instant("job:up:sum", 120_000).value
    assert (dict(labels), value) == ({"__name__": "job:up:sum", "job": "j"}, 0.0)
    ((labels, _, value),) = engine.instant('ALERTS{alertstate="firing"}', 120_000).value
    assert value == 1.0
    assert engine.instant('ALERTS{alertstate="pending"}', 120_000).value == []


@pytest.mark.parametrize(
    "text",
    [
        "groups: [{name: a}, {name: a}]",
        "groups: [{name: a, rules: [{alert: x, expr: 'sum('}]}]",
        "groups: [{name: a, rules: [{record: a, expr: up, for: 1m}]}]",
        "groups: [{name: a, rules: [{alert: x, record: y, expr: up}]}]",
        "groups: [{name: a, nonsense: 1}]",
    ],
)
def test_files_that_do_not_load_say_why(text):
    with pytest.raises(RuleFileError) as caught:
        load(text)
    assert caught.value.problems
