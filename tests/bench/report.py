"""The rows of a run: their table, their JSON, and what has become worse since another run."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.bench.measuring import rounded

MET = "met"
MISSED = "missed"
INFO = "-"
SKIPPED = "skipped"
REGRESSION = 0.20
"""How much worse a ratio may become before a nightly run complains. Source: DESIGN §5."""

_HEADERS = ("row", "what", "budget", "measured", "beside it, same run", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    `measured` and `budget` are in `unit`; `ratio` is how many times better than the peer that was measured in
    the same run, so that it hardly depends on the machine.
    """

    id: str
    what: str
    unit: str
    measured: float | None
    budget: float | None = None
    is_higher_better: bool = False
    peer: str = ""
    peer_measured: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better than the peer; None without one."""
        if not self.measured or not self.peer_measured:
            return None
        if self.is_higher_better:
            return rounded(self.measured / self.peer_measured)
        return rounded(self.peer_measured / self.measured)

    @property
    def verdict(self) -> str:
        """Whether the budget is met; "-" for a row without one."""
        if self.measured is None:
            return SKIPPED
        if self.budget is None:
            return INFO
        is_met = self.measured >= self.budget if self.is_higher_better else self.measured <= self.budget
        return MET if is_met else MISSED

    def shown(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "id": self.id,
            "what": self.what,
            "unit": self.unit,
            "budget": self.budget,
            "measured": self.measured,
            "is_higher_better": self.is_higher_better,
            "peer": self.peer,
            "peer_measured": self.peer_measured,
            "ratio": self.ratio,
            "verdict": self.verdict,
            "skipped": self.skipped,
            "details": self.details,
        }

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        sign = "≥" if self.is_higher_better else "≤"
        budget = "" if self.budget is None else f"{sign} {_number(self.budget)} {self.unit}"
        measured = self.skipped if self.measured is None else f"{_number(self.measured)} {self.unit}"
        peer = ""
        if self.peer_measured is not None:
            times = f" ({_number(self.ratio)}×)" if self.ratio is not None else ""
            peer = f"{self.peer} {_number(self.peer_measured)} {self.unit}{times}"
        return self.id, self.what, budget, measured, peer, self.verdict


def _number(value: float) -> str:
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: list[Row]) -> str:
    """Return the rows as an aligned table."""
    lines = [_HEADERS, *[row.cells() for row in rows]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    ruled = [lines[0], tuple("-" * width for width in widths), *lines[1:]]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in ruled
    )


def machine() -> dict[str, Any]:
    """Return what the figures were measured on, as far as it matters to them."""
    load = os.getloadavg()
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": [round(value, 2) for value in load],
    }


def document(rows: list[Row], *, is_quick: bool) -> dict[str, Any]:
    """Return the JSON document of a run."""
    return {"schema": 1, "quick": is_quick, "machine": machine(), "rows": [row.shown() for row in rows]}


def regressions(rows: list[Row], before: bytes) -> list[str]:
    """Return one line for each row whose ratio is more than a fifth worse than in an earlier run's JSON."""
    old = {entry["id"]: entry["ratio"] for entry in orjson.loads(before)["rows"]}
    found: list[str] = []
    for row in rows:
        was, now = old.get(row.id), row.ratio
        if was and now and now < was * (1 - REGRESSION):
            found.append(f"{row.id}: ratio {_number(now)}, was {_number(was)}")
    return found
