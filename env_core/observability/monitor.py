"""What monitors a cluster: Prometheus's HTTP API over series and alerts that are computed when it is asked.

Alerts are found by evaluating the rules again over the last minutes, as a server would have done all along. The rules
are those of the ConfigMap `prometheus-rules` in the namespace `monitoring`, or else the default ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl

from env_core.apiserver.store import Store
from env_core.dataplane.network import Network
from env_core.observability._default_rules import DEFAULT_RULES
from env_core.observability.prometheus import Answer, Api
from env_core.observability.prometheus._evaluation import GroupEvaluation, Written
from env_core.observability.prometheus._federation import PATH, federated
from env_core.observability.prometheus._rulefiles import Group, RuleFileError, load
from env_core.observability.prometheus._rulestate import EvaluatedRules
from env_core.observability.promql import Matcher, Series
from env_core.observability.series import SCRAPE_MS, ClusterSource
from env_core.programs import Runtime
from env_core.sim.loop import EventLoop
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

RULES_NAMESPACE: Final = "monitoring"
RULES_NAME: Final = "prometheus-rules"
RULES_FILE: Final = "/etc/prometheus/rules/alerts.yaml"
EVALUATION_MS: Final = 30_000
_MARGIN_MS: Final = 600_000
"""How much longer than its rules' own times the past is that gets evaluated."""
_ALERT_SERIES: Final = frozenset(("ALERTS", "ALERTS_FOR_STATE"))


class _Evaluated:
    """Series with those that the rules have written, which are only made when a query may want them."""

    def __init__(self, behind: ClusterSource, groups: Sequence[Group], now_ms: int) -> None:
        self._behind = behind
        self._groups = groups
        self._now_ms = now_ms
        self._written: Written | None = None
        self._evaluations: list[GroupEvaluation] = []
        own = {rule.name for group in groups for rule in group.rules if not rule.is_alert}
        self._names = own | _ALERT_SERIES

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Sequence[Series]:
        """Return the series that match and have samples in [start, end]."""
        name = next((each.value for each in matchers if each.name == "__name__" and each.operator == "="), "")
        if name and name not in self._names:
            return self._behind.select(matchers, start_ms, end_ms)
        return self._evaluated().select(matchers, start_ms, end_ms)

    def _evaluated(self) -> Written:
        if self._written is not None:
            return self._written
        self._written = written = Written(self._behind)
        self._evaluations = [
            GroupEvaluation(
                group,
                written,
                interval_ms=EVALUATION_MS,
                external_labels={},
                external_url="http://prometheus.monitoring:9090",
                file=RULES_FILE,
            )
            for group in self._groups
        ]
        for evaluation in self._evaluations:
            rules = evaluation.group.rules
            longest_ms = max((rule.for_ms + rule.keep_firing_ms for rule in rules), default=0)
            interval_ms = evaluation.interval_ms
            first = (self._now_ms - longest_ms - _MARGIN_MS) // interval_ms
            for tick in range(first, self._now_ms // interval_ms + 1):
                evaluation.evaluate(tick * interval_ms)
        return written

    # The rules' state, for the API

    def groups(self, kind: str) -> list[Object]:
        """Return the groups with their rules."""
        self._evaluated()
        return EvaluatedRules(self._evaluations, RULES_FILE).groups(kind)

    def alerts(self) -> list[Object]:
        """Return the alerts that are pending or firing."""
        self._evaluated()
        return EvaluatedRules(self._evaluations, RULES_FILE).alerts()


class Monitor:
    """Monitors one cluster."""

    __slots__ = ("_loop", "_network", "_runtime", "_store")

    def __init__(self, *, store: Store, runtime: Runtime, network: Network, loop: EventLoop) -> None:
        self._store = store
        self._runtime = runtime
        self._network = network
        self._loop = loop

    def answer(self, path: str, form: str) -> Answer:
        """Answer a request for a path under /api/v1/ or for /federate, with its URL-encoded parameters."""
        now_ms = self._loop.now_ms
        series = ClusterSource(self._store, self._runtime, self._network, now_ms)
        evaluated = _Evaluated(series, self._groups(), now_ms)
        parameters = parse_qsl(form, keep_blank_values=True)
        if path == PATH:
            return federated(evaluated, now_ms, parameters)
        api = Api(evaluated, now_ms, evaluated, lambda: _targets(series, now_ms))
        return api.answer(path, parameters)

    def _groups(self) -> tuple[Group, ...]:
        config = self._store.get("configmaps", RULES_NAMESPACE, RULES_NAME)
        texts = [DEFAULT_RULES] if config is None else list((config.get("data") or {}).values())
        return _loaded(tuple(texts))


def _targets(source: ClusterSource, now_ms: int) -> Object:
    """Return what is scraped, as https://prometheus.io/docs/prometheus/latest/querying/api/#targets shows it."""
    active: list[Object] = []
    for series in source.select((Matcher("__name__", "=", "up"),), now_ms - SCRAPE_MS, now_ms):
        sample = series.latest(now_ms, 2 * SCRAPE_MS)
        if sample is None:
            continue
        labels = {name: text for name, text in series.labels if name != "__name__"}
        url = f"http://{labels['instance']}/metrics"
        active.append(
            {
                "discoveredLabels": {"__address__": labels["instance"], "job": labels["job"]},
                "labels": labels,
                "scrapePool": labels["job"],
                "scrapeUrl": url,
                "globalUrl": url,
                "lastError": "" if sample[1] else "connection refused",
                "lastScrape": rfc3339(sample[0]),
                "lastScrapeDuration": 0.002,
                "health": "up" if sample[1] else "down",
                "scrapeInterval": "15s",
                "scrapeTimeout": "10s",
            }
        )
    return {"activeTargets": active, "droppedTargets": []}


@lru_cache(maxsize=8)
def _loaded(texts: tuple[str, ...]) -> tuple[Group, ...]:
    """Return the groups of rule files; none when one of them does not load, as in a server that starts with it."""
    try:
        return tuple(group for text in texts for group in load(text, RULES_FILE))
    except RuleFileError:
        return ()
