"""Warnings and remarks that come with a result.

Source: github.com/prometheus/prometheus util/annotations; texts recorded in tests/golden/promql.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.observability.promql._errors import place
from env_core.observability.promql._numbers import general, quote
from env_core.sim.timefmt import rfc3339

_WARNING: Final = "PromQL warning: "
_INFO: Final = "PromQL info: "
_SHOWN_MAX: Final = 10
_MONOTONICITY: Final = (
    "input to histogram_quantile needed to be fixed for monotonicity "
    "(see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)"
)


class _Forced(NamedTuple):
    low: float
    high: float
    difference: float
    first_ms: int
    last_ms: int
    before: int
    """The count of the steps before the newest."""
    hits: int
    """How often in the newest step."""

    @property
    def shown(self) -> int:
        """The number of samples that is shown.

        Upstream merges what it has collected with itself at every step after the first, so that it doubles.
        """
        return 2 * (self.before + self.hits) if self.before else self.hits


class Annotations:
    """Collects them; the same text at another place counts once."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._found: dict[str, int] = {}
        self._forced: dict[int, _Forced] = {}

    def warn(self, text: str, position: int) -> None:
        """Add a warning about the expression at `position`."""
        self._found.setdefault(_WARNING + text, position)

    def inform(self, text: str, position: int) -> None:
        """Add a remark."""
        self._found.setdefault(_INFO + text, position)

    def invalid_quantile(self, quantile: float, position: int) -> None:
        """Warn unless `quantile` lies in [0, 1]."""
        if not 0 <= quantile <= 1:
            self.warn(f"quantile value should be between 0 and 1, got {general(quantile)}", position)

    def bad_bucket(self, label: str, position: int) -> None:
        """Warn of a bucket without a number for its upper bound."""
        self.warn(f'bucket label "le" is missing or has a malformed value of {quote(label)}', position)

    def forced_monotonicity(
        self, position: int, at_ms: int, low: float, high: float, difference: float
    ) -> None:
        """Remark that bucket counts fell with rising bounds; all of one query are merged."""
        before = self._forced.get(position)
        found = _Forced(low, high, difference, at_ms, at_ms, 0, 1)
        if before is not None:
            found = _Forced(
                min(before.low, low),
                max(before.high, high),
                max(before.difference, difference),
                min(before.first_ms, at_ms),
                max(before.last_ms, at_ms),
                before.before if before.last_ms == at_ms else before.shown,
                before.hits + 1 if before.last_ms == at_ms else 1,
            )
        self._forced[position] = found

    def warnings(self) -> list[str]:
        """Return at most ten warnings, with their places."""
        return self._shown(_WARNING)

    def infos(self) -> list[str]:
        """Return at most ten remarks, with their places."""
        forced = [
            f"{_INFO}{_MONOTONICITY}, from buckets {general(each.low)} to {general(each.high)}, with a max diff of "
            f"{each.difference:.2g}, over {each.shown} samples from {rfc3339(each.first_ms)} to "
            f"{rfc3339(each.last_ms)} ({place(self._query, position)})"
            for position, each in sorted(self._forced.items())
        ]
        return [*self._shown(_INFO), *forced][:_SHOWN_MAX]

    def _shown(self, kind: str) -> list[str]:
        found = [
            f"{text} ({place(self._query, position)})"
            for text, position in self._found.items()
            if text.startswith(kind)
        ]
        return found[:_SHOWN_MAX]
