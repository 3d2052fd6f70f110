"""The order and the columns of `kubectl events`.

Source: k8s.io/kubectl pkg/cmd/events event_printer.go, events.go; tests/golden/l0/events_table.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.objects.gosort import go_sorted
from env_core.objects.tabwriter import TabWriter
from env_core.sim.timefmt import human_duration, parse_ms
from env_core.world import Object


def by_time(events: Sequence[Object]) -> list[Object]:
    """Return events ordered by when they last happened."""
    return go_sorted(list(events), lambda left, right: _moment(left) < _moment(right))


def _moment(event: Object) -> tuple[int, str]:
    """Return when the event last happened: milliseconds, and the text for what is finer."""
    series = event.get("series") or {}
    text = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return (parse_ms(text), text.rstrip("Z") if "." in text else "") if text else (-(2**62), "")


class EventTable:
    """A table of events whose columns never get narrower; the headers come before the first row."""

    def __init__(self, *, has_headers: bool = True, has_namespace: bool = False) -> None:
        self._writer = TabWriter(remember_widths=True)
        self._has_headers = has_headers
        self._has_namespace = has_namespace

    def rows(self, events: Sequence[Object], now_ms: int) -> str:
        """Return the rows of `events`, aligned together and with everything before."""
        if self._has_headers and events:
            self._has_headers = False
            names = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
            self._write(["NAMESPACE", *names] if self._has_namespace else names)
        for event in events:
            involved = event.get("involvedObject") or {}
            cells = [
                _interval(event, now_ms),
                event.get("type", ""),
                event.get("reason", ""),
                f"{involved.get('kind', '')}/{involved.get('name', '')}",
                (event.get("message") or "").strip(),
            ]
            if self._has_namespace:
                cells.insert(0, event["metadata"].get("namespace", ""))
            self._write(cells)
        return self._writer.flush()

    def _write(self, cells: list[str]) -> None:
        self._writer.write("\t".join(cells) + "\n")


def _interval(event: Object, now_ms: int) -> str:
    first = _age(event.get("firstTimestamp") or event.get("eventTime"), now_ms)
    series = event.get("series")
    if series:
        return f"{_age(series.get('lastObservedTime'), now_ms)} (x{series.get('count', 0)} over {first})"
    if (event.get("count") or 0) > 1:
        return f"{_age(event.get('lastTimestamp'), now_ms)} (x{event['count']} over {first})"
    return first


def _age(text: str | None, now_ms: int) -> str:
    return human_duration(now_ms - parse_ms(text)) if text else "<unknown>"
