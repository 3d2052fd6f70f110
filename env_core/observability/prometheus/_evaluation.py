"""Rules evaluated time after time: recorded series, and alerts that are pending, fire and resolve.

Source: github.com/prometheus/prometheus rules/alerting.go, recording.go and group.go; recorded in
tests/golden/promql/rules.jsonl.gz.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from env_core.objects.yamlout import to_yaml
from env_core.observability.prometheus._rulefiles import Group, Rule
from env_core.observability.prometheus._templates import ExpansionError, expanded, graph_link
from env_core.observability.promql import (
    STALE,
    Engine,
    EvaluationError,
    InvalidQuery,
    Labels,
    Matcher,
    Series,
    Source,
    parse,
)
from env_core.observability.promql._labels import NAME, labels_of, with_label, without_name
from env_core.observability.promql._numbers import duration_text, quote
from env_core.observability.promql._printing import text_of
from env_core.observability.promql._series import fulfils

INACTIVE: Final = "inactive"
PENDING: Final = "pending"
FIRING: Final = "firing"
RESOLVED_RETENTION_MS: Final = 15 * 60_000
RESEND_DELAY_MS: Final = 60_000
_STATES: Final = (INACTIVE, PENDING, FIRING)
ALERT_NAME: Final = "alertname"


class RuleProblem(Exception):
    """Why a rule's evaluation failed; the text is Prometheus's."""


@dataclass(slots=True, kw_only=True)
class Alert:
    """One alert of a rule. It belongs to one evaluation, not to a world's state."""

    labels: Labels
    annotations: Labels
    value: float
    active_ms: int
    state: str = PENDING
    fired_ms: int | None = None
    resolved_ms: int | None = None
    keep_since_ms: int | None = None
    sent_ms: int | None = None

    def needs_sending(self, now_ms: int) -> bool:
        """Whether the Alertmanager is to be told (again)."""
        if self.state == PENDING:
            return False
        if self.sent_ms is None:
            return True
        if self.resolved_ms is not None and self.resolved_ms > self.sent_ms:
            return True
        return self.sent_ms + RESEND_DELAY_MS < now_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """What the Alertmanager is told."""

    labels: Labels
    annotations: Labels
    starts_ms: int
    ends_ms: int
    is_resolved: bool
    generator_url: str


@dataclass(slots=True)
class RuleState:
    """A rule and how its last evaluation went."""

    rule: Rule
    expr: str
    """Canonical."""
    active: dict[Labels, Alert] = field(default_factory=dict)
    problem: str = ""
    last_ms: int = 0
    returned: frozenset[Labels] = frozenset()

    @property
    def alerts(self) -> list[Alert]:
        """All alerts, resolved ones too, by their labels."""
        return [self.active[labels] for labels in sorted(self.active)]

    @property
    def state(self) -> str:
        """The gravest state of its alerts."""
        return max((alert.state for alert in self.active.values()), key=_STATES.index, default=INACTIVE)


def _attribute(text: str) -> str:
    """Return a value as Go's slog writes it: in quotes where it needs them."""
    is_plain = text != "" and text.isprintable() and not any(char in text for char in ' "=')
    return text if is_plain else quote(text)


def _yaml(state: RuleState) -> str:
    """Return a rule as Prometheus prints it."""
    rule = state.rule
    fields = {
        "alert" if rule.is_alert else "record": rule.name,
        "expr": state.expr,
        "for": duration_text(rule.for_ms) if rule.for_ms else "",
        "keep_firing_for": duration_text(rule.keep_firing_ms) if rule.keep_firing_ms else "",
        "labels": dict(rule.labels),
        "annotations": dict(rule.annotations),
    }
    return "".join(to_yaml({name: value}) for name, value in fields.items() if value)


class Written:
    """Series that rules have written, in front of another source."""

    def __init__(self, behind: Source) -> None:
        self._behind = behind
        self._samples: dict[Labels, tuple[list[int], list[float | None]]] = {}

    def add(self, labels: Labels, at_ms: int, value: float | None) -> None:
        """Append a sample; one of the same time is replaced."""
        times, values = self._samples.setdefault(labels, ([], []))
        if times and times[-1] >= at_ms:
            index = bisect_left(times, at_ms)
            times[index:], values[index:] = [at_ms], [value]
            return
        times.append(at_ms)
        values.append(value)

    def own(self) -> list[Series]:
        """Return what has been written, by labels."""
        return [Series(labels, *self._samples[labels]) for labels in sorted(self._samples)]

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Sequence[Series]:
        """Return the series behind, then the written ones, that match and have samples in [start, end]."""
        found = list(self._behind.select(matchers, start_ms, end_ms))
        found += [
            each
            for each in self.own()
            if each.times[0] <= end_ms and each.times[-1] >= start_ms and fulfils(each.labels, matchers)
        ]
        return found


class GroupEvaluation:
    """One group, evaluated at rising times."""

    def __init__(
        self,
        group: Group,
        written: Written,
        *,
        interval_ms: int,
        external_labels: Mapping[str, str],
        external_url: str,
        file: str,
    ) -> None:
        self.group = group
        self.interval_ms = group.interval_ms or interval_ms
        self.rules = [RuleState(rule, text_of(parse(rule.expr))) for rule in group.rules]
        self.log: list[str] = []
        """What Prometheus has logged, without the time."""
        self._file = file
        self._written = written
        self._external_labels = external_labels
        self._external_url = external_url

    def evaluate(self, now_ms: int) -> list[Notification]:
        """Evaluate every rule once; return what the Alertmanager is told."""
        notifications: list[Notification] = []
        for state in self.rules:
            state.last_ms = now_ms
            try:
                samples = (
                    self._alerts(state, now_ms) if state.rule.is_alert else self._recorded(state, now_ms)
                )
            except (RuleProblem, EvaluationError, InvalidQuery) as problem:
                state.problem = str(problem)
                self._log_failure(state)
                continue
            state.problem = ""
            self._write(state, samples, now_ms - self.group.offset_ms)
            notifications += self._notifications(state, now_ms)
        return notifications

    def _log(self, message: str, **attributes: object) -> None:
        parts = [f"level=WARN msg={_attribute(message)}"]
        parts += [f"{name}={_attribute(str(value))}" for name, value in attributes.items()]
        self.log.append(" ".join(parts))

    def _log_failure(self, state: RuleState) -> None:
        self._log(
            "Evaluating rule failed",
            file=self._file,
            group=self.group.name,
            name=state.rule.name,
            index=self.rules.index(state),
            rule=_yaml(state),
            err=state.problem,
        )

    def _write(self, state: RuleState, samples: list[tuple[Labels, float]], at_ms: int) -> None:
        for labels, value in samples:
            self._written.add(labels, at_ms, value)
        returned = frozenset(labels for labels, _ in samples)
        for labels in sorted(state.returned - returned):
            self._written.add(labels, at_ms, STALE)
        state.returned = returned

    def _vector(self, expr: str, at_ms: int) -> list[tuple[Labels, float]]:
        result = Engine(self._written).instant(expr, at_ms)
        if result.type == "scalar":
            return [((), result.value[1])]
        if result.type != "vector":
            raise RuleProblem("rule result is not a vector or scalar")
        return [(labels, value) for labels, _, value in result.value]

    def _recorded(self, state: RuleState, now_ms: int) -> list[tuple[Labels, float]]:
        rule = state.rule
        found: dict[Labels, float] = {}
        for labels, value in self._vector(state.expr, now_ms - self.group.offset_ms):
            labels = with_label(labels, NAME, rule.name)
            for name, text in rule.labels.items():
                labels = with_label(labels, name, text)
            if labels in found:
                raise RuleProblem("vector contains metrics with the same labelset after applying rule labels")
            found[labels] = value
        limit = self.group.limit
        if 0 < limit < len(found):
            raise RuleProblem(f"exceeded limit of {limit} with {len(found)} series")
        return list(found.items())

    def _query(self, text: str, now_ms: int) -> list[tuple[Labels, float]]:
        try:
            return self._vector(text, now_ms)
        except (EvaluationError, InvalidQuery, RuleProblem) as problem:
            raise ValueError(str(problem)) from None

    def _alerts(self, state: RuleState, now_ms: int) -> list[tuple[Labels, float]]:
        found = self._found(state, now_ms)
        for labels, alert in found.items():
            known = state.active.get(labels)
            if known is not None and known.state != INACTIVE:
                known.value, known.annotations = alert.value, alert.annotations
            else:
                state.active[labels] = alert
        samples: list[tuple[Labels, float]] = []
        count = 0
        for labels, alert in list(state.active.items()):
            if labels in found:
                alert.keep_since_ms = None
            elif not self._is_kept(state, labels, alert, now_ms):
                continue
            count += 1
            if alert.state == PENDING and now_ms - alert.active_ms >= state.rule.for_ms:
                alert.state, alert.fired_ms = FIRING, now_ms
            # A label whose template came out empty shows here as it was written.
            shown = {**state.rule.labels, **dict(labels)}
            samples.append((labels_of({**shown, NAME: "ALERTS", "alertstate": alert.state}), 1.0))
            since = float(alert.active_ms // 1000)
            samples.append((labels_of({**shown, NAME: "ALERTS_FOR_STATE"}), since))
        limit = self.group.limit
        if 0 < limit < count:
            state.active.clear()
            raise RuleProblem(f"exceeded limit of {limit} with {count} alerts")
        return samples

    @staticmethod
    def _is_kept(state: RuleState, labels: Labels, alert: Alert, now_ms: int) -> bool:
        """Whether an alert without its series goes on firing; else it is resolved or forgotten."""
        if alert.state == FIRING and state.rule.keep_firing_ms:
            if alert.keep_since_ms is None:
                alert.keep_since_ms = now_ms
            if now_ms - alert.keep_since_ms < state.rule.keep_firing_ms:
                return True
        is_old = alert.resolved_ms is not None and now_ms - alert.resolved_ms > RESOLVED_RETENTION_MS
        if alert.state == PENDING or is_old:
            del state.active[labels]
        if alert.state != INACTIVE:
            alert.state, alert.resolved_ms = INACTIVE, now_ms
        return False

    def _found(self, state: RuleState, now_ms: int) -> dict[Labels, Alert]:
        rule = state.rule
        found: dict[Labels, Alert] = {}
        for labels, value in self._vector(state.expr, now_ms - self.group.offset_ms):

            def filled(text: str, labels: Labels = labels, value: float = value) -> str:
                if "{{" not in text:
                    return text
                try:
                    return expanded(
                        rule.name,
                        text,
                        labels=labels,
                        value=value,
                        now_ms=now_ms,
                        query=lambda query: self._query(query, now_ms),
                        external_labels=self._external_labels,
                        external_url=self._external_url,
                    )
                except ExpansionError as error:
                    self._log("Expanding alert template failed", alert=rule.name, err=error, data=error.data)
                    return f"<error expanding template: {error}>"

            own = without_name(labels)
            for name, text in rule.labels.items():
                own = with_label(own, name, filled(text))
            own = with_label(own, ALERT_NAME, rule.name)
            if own in found:
                raise RuleProblem(
                    "vector contains metrics with the same labelset after applying alert labels"
                )
            annotations = tuple(sorted((name, filled(text)) for name, text in rule.annotations.items()))
            found[own] = Alert(labels=own, annotations=annotations, value=value, active_ms=now_ms)
        return found

    def _notifications(self, state: RuleState, now_ms: int) -> list[Notification]:
        sent = []
        for alert in state.alerts:
            if not state.rule.is_alert or not alert.needs_sending(now_ms):
                continue
            alert.sent_ms = now_ms
            is_resolved = alert.resolved_ms is not None
            valid_ms = now_ms + 4 * max(self.interval_ms, RESEND_DELAY_MS)
            sent.append(
                Notification(
                    labels=alert.labels,
                    annotations=alert.annotations,
                    starts_ms=alert.fired_ms or 0,
                    ends_ms=alert.resolved_ms if alert.resolved_ms is not None else valid_ms,
                    is_resolved=is_resolved,
                    generator_url=self._external_url + graph_link(state.expr, 1),
                )
            )
        return sent
