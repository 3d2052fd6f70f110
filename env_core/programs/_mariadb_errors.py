"""Errors of a MariaDB server, and how much it does for one statement: bounds of ours, where a real one would take its time.

Source: MariaDB/server sql/share/errmsg-utf8.txt (numbers, SQL states, texts); tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

import json
from typing import Final

from env_core.programs import _sql_reading

TEXT_MAX: Final = 64 << 10
"""Characters of a text that is kept as it is."""
DIGITS_MAX: Final = 65
"""Digits of a number (those of DECIMAL)."""
DEPTH_MAX: Final = 24
"""Brackets, and signs before a value, around each other."""
CHAIN_MAX: Final = 100
"""Operators in one expression."""
ROWS_MAX: Final = 10_000
"""Rows of a table, or of a series that is looked at."""
TABLE_MAX: Final = 512 << 10
"""Characters that a table takes in the data directory."""
STORED_MAX: Final = 4 << 20
"""Characters that a data directory holds."""
RESULT_MAX: Final = 256 << 10
"""Characters of a result."""
UNDO_MAX: Final = 20_000
"""Changes of rows in one transaction."""
STATEMENT_MAX: Final = 64 << 10
"""Characters of a statement."""
_STATES: Final = {
    1007: "HY000", 1008: "HY000", 1040: "08004", 1044: "42000", 1045: "28000", 1046: "3D000", 1048: "23000", 1049: "42000",
    1050: "42S01", 1051: "42S02", 1052: "23000", 1054: "42S22", 1060: "42S21", 1062: "23000", 1064: "42000", 1065: "42000",
    1068: "42000", 1072: "42000", 1094: "HY000", 1095: "HY000", 1102: "42000", 1104: "42000", 1111: "HY000", 1113: "42000",
    1118: "42000", 1130: "HY000", 1136: "21S01", 1141: "42000", 1142: "42000", 1146: "42S02", 1193: "HY000", 1203: "42000",
    1205: "HY000", 1213: "40001", 1227: "42000", 1231: "42000", 1232: "42000", 1235: "42000", 1238: "HY000", 1264: "22003",
    1229: "HY000", 1290: "HY000", 1292: "22007", 1305: "42000", 1317: "70100", 1364: "HY000", 1366: "22007", 1396: "HY000",
    1406: "22001", 1582: "42000", 1690: "22003", 1792: "25006", 1969: "70100", 1927: "70100", 4161: "HY000", 1053: "08S01",
    1037: "HY001", 1114: "HY000", 1133: "28000", 1153: "08S01", 1061: "42000", 1091: "42000", 1075: "42000", 1222: "21000",
}  # fmt: skip


class Problem(Exception):
    """A statement fails."""

    def __init__(self, number: int, text: str, *, is_late: bool = False) -> None:
        super().__init__(text)
        self.number = number
        self.text = text
        self.is_late = is_late
        """Whether the result had begun: what fails row by row."""

    @property
    def state(self) -> str:
        """Its SQL state."""
        return _STATES.get(self.number, "HY000")

    def encode(self) -> str:
        """Return what the client gets."""
        return json.dumps([self.number, self.state, self.text, self.is_late])


class Meter(_sql_reading.Meter):
    """Counts what one statement costs."""

    LIMIT = 400_000

    def refusal(self) -> Problem:
        """Return what is said of a statement that causes too much work."""
        return Problem(1317, "Query execution was interrupted", is_late=True)


def within(kept: dict[str, str]) -> dict[str, str]:
    """Return a data directory that is no larger than it may be.

    Raises:
        Problem: it is.
    """
    if sum(map(len, kept.values())) + 64 * len(kept) > STORED_MAX:
        raise Problem(1114, "The table 'ibdata1' is full")
    return kept


def syntax(near: str, line: int) -> Problem:
    """Return what is said of a statement that is none, from the place on where that shows."""
    return Problem(
        1064,
        "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right"
        f" syntax to use near '{near[:80]}' at line {line}",
    )


def unsupported(what: str) -> Problem:
    """Return what is said of something that the simulated server does not do."""
    return Problem(1235, f"This version of MariaDB doesn't yet support '{what}'")


def too_much(size: int) -> Problem:
    """Return what is said of something for which there is no room."""
    return Problem(1037, f"Out of memory; restart server and try again (needed {size} bytes)")
