"""`python -m tests.bench`: measure against the budgets of DESIGN §5, each beside a peer in the same run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Protocol

import orjson

from tests.bench import control_plane, facade, idle, in_process, kubectl, memory, over_websocket, writes
from tests.bench.measuring import Profile
from tests.bench.report import MISSED, Row, document, regressions, table


class _Group(Protocol):
    """Measures the rows that belong together."""

    def __call__(self, profile: Profile, /, *, is_quick: bool) -> list[Row]: ...


GROUPS: dict[str, tuple[_Group, ...]] = {
    "1": (in_process.reset_new,),
    "2": (in_process.reset_again,),
    "3": (in_process.steps,),
    "4": (kubectl.rows,),
    "5": (over_websocket.rows,),
    "6": (memory.rows,),
    "7": (in_process.verdicts,),
    "8": (in_process.growth, writes.rows, idle.rows),
    "9": (facade.rows,),
    "10": (control_plane.rows,),
}
"""What `--only` names. Row 2's figure over a WebSocket is measured with the fifth."""


def run(names: Sequence[str], *, is_quick: bool, profile: Profile, say: Callable[[str], None]) -> list[Row]:
    """Measure the rows called `names`, in their order; a row whose machinery fails is told, not fatal."""
    in_process.warm()
    rows: list[Row] = []
    for name in names:
        started = perf_counter()
        for measure in GROUPS[name]:
            try:
                rows += measure(profile, is_quick=is_quick)
            except Exception as error:
                why = f"{type(error).__name__}: {error}".splitlines()[0]
                rows.append(Row(id=name, what="could not be measured", unit="", measured=None, skipped=why))
        say(f"row {name}: {perf_counter() - started:.1f} s")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line and return the exit code: 0, unless --strict finds something."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures as JSON")
    parser.add_argument(
        "--quick", action="store_true", help="tiny counts: shows that it works, measures nothing well"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="ROW", choices=sorted(GROUPS), help=f"of {', '.join(GROUPS)}"
    )
    parser.add_argument(
        "--profile", action="store_true", help="print where the time goes; the figures are worthless then"
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        type=Path,
        help="an earlier run's JSON: tell which ratios fell by a fifth",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 for a missed budget or a fallen ratio"
    )
    given = parser.parse_args(arguments)
    profile = Profile(is_on=given.profile)
    names = [name for name in GROUPS if not given.only or name in given.only]
    rows = run(names, is_quick=given.quick, profile=profile, say=lambda text: print(text, file=sys.stderr))
    print(table(rows))
    for name, text in profile.texts.items():
        print(f"\nProfile of row {name}\n{text}")
    fallen = regressions(rows, given.baseline.read_bytes()) if given.baseline else []
    for line in fallen:
        print(f"worse than before: {line}")
    if given.json:
        given.json.write_bytes(
            orjson.dumps(document(rows, is_quick=given.quick), option=orjson.OPT_INDENT_2) + b"\n"
        )
    is_bad = bool(fallen) or any(row.verdict == MISSED for row in rows)
    return 1 if given.strict and is_bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
