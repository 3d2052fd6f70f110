"""promql/rules: rule files evaluated at the recorded times, and what the API then says of them."""

from typing import Any

from env_core.observability.prometheus._evaluation import GroupEvaluation, RuleState, Written
from env_core.observability.prometheus._rulefiles import RuleFileError, load
from env_core.observability.prometheus._rulestate import EvaluatedRules
from env_core.observability.promql import Engine, api_number, plain_number
from env_core.observability.promql._labels import NAME, value_of
from env_core.observability.promql._numbers import parse_duration_ms
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import wall_clock_fields
from tests.golden.recordings import Folder, Record
from tests.golden.topics.promql import source_of

ANSWERS = ("evals", "loadErrors", "apiRules", "apiAlerts")
_URL = "http://prometheus.monitoring.svc:9090"


def _alerts(state: RuleState) -> list[Record]:
    shown = []
    for alert in state.alerts:
        times = {
            "activeAt": alert.active_ms,
            "firedAt": alert.fired_ms,
            "resolvedAt": alert.resolved_ms,
            "keepFiringSince": alert.keep_since_ms,
        }
        shown.append(
            {
                "state": alert.state,
                "labels": dict(alert.labels),
                "annotations": dict(alert.annotations),
                "value": plain_number(alert.value),
                **{name: at_ms for name, at_ms in times.items() if at_ms is not None},
            }
        )
    return shown


def _rule(state: RuleState) -> Record:
    kind = "alerting" if state.rule.is_alert else "recording"
    shown: Record = {"name": state.rule.name, "type": kind, "health": "err" if state.problem else "ok"}
    if state.problem:
        shown["lastError"] = state.problem
    if state.rule.is_alert:
        shown["state"] = state.state
        if state.alerts:
            shown["alerts"] = _alerts(state)
    return shown


def _written(group: GroupEvaluation, written: Written, at_ms: int) -> list[Record]:
    names = {state.rule.name for state in group.rules if not state.rule.is_alert}
    names |= {"ALERTS", "ALERTS_FOR_STATE"}
    found = Engine(written).instant('{__name__!=""}', at_ms).value
    return [
        {"metric": dict(labels), "value": api_number(value)}
        for labels, _, value in sorted(found)
        if value_of(labels, NAME) in names
    ]


def _evaluated(group: GroupEvaluation, written: Written, at_ms: int) -> Record:
    group.log.clear()
    notifications = [
        {
            "labels": dict(each.labels),
            "annotations": dict(each.annotations),
            "startsAt": each.starts_ms,
            "endsAt": each.ends_ms,
            "resolved": each.is_resolved,
            "generatorURL": each.generator_url,
        }
        for each in group.evaluate(at_ms)
    ]
    shown: Record = {"t_ms": at_ms, "rules": [_rule(state) for state in group.rules]}
    for name, part in (
        ("notifications", notifications),
        ("written", _written(group, written, at_ms)),
        ("log", list(group.log)),
    ):
        if part:
            shown[name] = part
    return shown


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted: dict[str, Any] = {field: record[field] for field in ANSWERS if field in record}
    try:
        groups = load(record["rules"])
    except RuleFileError as error:
        return Comparison(wanted, {"loadErrors": error.problems})
    written = Written(source_of(record["series"]))
    evaluations = [
        GroupEvaluation(
            group,
            written,
            interval_ms=parse_duration_ms(record["interval"]),
            external_labels=record.get("externalLabels") or {},
            external_url=_URL,
            file="rules.yml",
        )
        for group in groups
    ]
    evals = [_evaluated(evaluations[0], written, each["t_ms"]) for each in record["evals"]]
    state = EvaluatedRules(evaluations, "rules.yml")
    got = {"evals": evals, "apiRules": {"groups": state.groups("")}, "apiAlerts": {"alerts": state.alerts()}}
    return Comparison(wanted, {field: wall_clock_fields(got[field]) for field in wanted})


TOPIC = Topic(name="promql/rules", files=("rules.jsonl",), answers=ANSWERS, judge=_judge)
