"""Values of MariaDB's SQL: how they are compared, shown, and fitted into columns.

Source: https://mariadb.com/kb/en/type-conversion/, data-types/; tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Final, NamedTuple

from env_core.programs._mariadb_declaring import BLOBS, INTEGERS, TEXTS, TIMES
from env_core.programs._mariadb_errors import DIGITS_MAX, TEXT_MAX, Problem, too_much
from env_core.programs._mariadb_syntax import Column

EXACT: Final = Context(prec=DIGITS_MAX + 15, rounding=ROUND_HALF_UP, Emax=400, Emin=-400)
_WHOLE: Final = re.compile(r"\s*[-+]?\d{1,65}\s*\Z")
_NUMBER: Final = re.compile(r"\s*[-+]?(?:\d{1,65}(?:\.\d{0,38})?|\.\d{1,38})(?:[eE][-+]?\d{1,2})?")
_DATE: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d?)(?::(\d\d?)(?:\.\d{1,6})?)?)?\Z")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_APPROXIMATE_MAX: Final = 1.7976931348623157e308


class Repeated(NamedTuple):
    """A long text that is another one over and over: nobody has to write it out."""

    unit: str
    times: int

    @property
    def length(self) -> int:
        """How many characters it has."""
        return len(self.unit) * self.times


Value = int | Decimal | float | str | Repeated | None


def is_number(value: Value) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | Decimal | float)


def number(value: Value) -> int | Decimal | float | None:
    """Return a value as a number: of a text, what it begins with."""
    if value is None or isinstance(value, int | Decimal | float):
        return value
    text = value.unit[:100] if isinstance(value, Repeated) else value
    found = _NUMBER.match(text)
    if found is None:
        return 0
    shown = found[0].strip()
    return int(shown) if shown.lstrip("+-").isdigit() else float(shown)


def text(value: Value) -> str:
    """Return a value as a text.

    Raises:
        Problem: it is too long to be written out.
    """
    if isinstance(value, Repeated):
        if value.length > TEXT_MAX:
            raise too_much(value.length)
        return value.unit * value.times
    return shown(value)


def shown(value: Value) -> str:
    """Return a value as a result shows it."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:.15g}") != value else f"{value:.15g}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value) if not isinstance(value, Repeated) else value.unit * value.times


def length(value: Value) -> int:
    """Return how many characters a value takes."""
    return value.length if isinstance(value, Repeated) else len(shown(value))


def key(value: Value) -> Value:
    """Return what two values have in common that a unique key, or an order, takes for the same: texts whatever their case."""
    return value.lower().rstrip(" ") if isinstance(value, str) else value


def compared(left: Value, right: Value) -> int | None:
    """Return whether one value comes before (-1), with (0) or after (1) another, None when one of them is NULL."""
    if left is None or right is None:
        return None
    if isinstance(left, Repeated) or isinstance(right, Repeated):
        return 0 if left == right else 1
    a: float | Decimal | str
    b: float | Decimal | str
    if isinstance(left, str) and isinstance(right, str):
        a, b = str(key(left)), str(key(right))
        return (a > b) - (a < b)
    first, second = number(left), number(right)
    assert first is not None
    assert second is not None
    if isinstance(first, float) or isinstance(second, float):
        first, second = _double(first), _double(second)
    return (first > second) - (first < second)


def _double(value: int | Decimal | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return _APPROXIMATE_MAX


def truth(value: Value) -> bool | None:
    """Return whether a value is true, None for NULL."""
    found = number(value)
    return None if found is None else found != 0


def exact(value: int | Decimal | float) -> Decimal:
    """Return a number as a decimal one."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def fitted(value: Value, column: Column, where: tuple[str, str], row: int) -> Value:
    """Return a value as a column keeps it; `where` are the database and the table.

    Raises:
        Problem: it does not fit.
    """
    if value is None:
        return None
    if column.type in INTEGERS:
        return _integer(value, column, where, row)
    if column.type in ("decimal", "double", "float"):
        return _decimal(value, column, where, row)
    if column.type in TIMES:
        return _time(value, column, where, row)
    most = TEXTS.get(column.type) or BLOBS.get(column.type) or column.size
    if length(value) > most:
        raise Problem(1406, f"Data too long for column '{column.name}' at row {row}")
    return value if isinstance(value, Repeated) else shown(value)


def _incorrect(kind: str, value: Value, column: Column, where: tuple[str, str], row: int) -> Problem:
    database, table = where
    text_ = value.unit if isinstance(value, Repeated) else shown(value)
    place = f"`{database}`.`{table}`.`{column.name}`"
    return Problem(1366, f"Incorrect {kind} value: '{text_[:64]}' for column {place} at row {row}")


def _out_of_range(column: Column, row: int) -> Problem:
    return Problem(1264, f"Out of range value for column '{column.name}' at row {row}")


def _integer(value: Value, column: Column, where: tuple[str, str], row: int) -> int:
    if isinstance(value, str) and not _WHOLE.match(value):
        found = _NUMBER.match(value)
        if found is None or found.end() != len(value.rstrip()):
            if found is not None and value.strip():
                raise Problem(1265, f"Data truncated for column '{column.name}' at row {row}")
            raise _incorrect("integer", value, column, where, row)
    if isinstance(value, Repeated):
        raise _incorrect("integer", value, column, where, row)
    found_ = number(value)
    assert found_ is not None
    whole = found_ if isinstance(found_, int) else int(exact(found_).to_integral_value(ROUND_HALF_UP))
    bits = INTEGERS[column.type][1]
    low, high = (0, (1 << bits) - 1) if column.is_unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    if not low <= whole <= high:
        raise _out_of_range(column, row)
    return whole


def _decimal(value: Value, column: Column, where: tuple[str, str], row: int) -> Decimal | float:
    kind = "decimal" if column.type == "decimal" else "double"
    if isinstance(value, Repeated) or (isinstance(value, str) and not _is_number(value)):
        raise _incorrect(kind, value, column, where, row)
    found = number(value)
    assert found is not None
    if kind == "double":
        return _double(found)
    try:
        rounded = exact(found).quantize(Decimal(1).scaleb(-column.scale), context=EXACT)
    except InvalidOperation:
        raise _out_of_range(column, row) from None
    if abs(rounded) >= Decimal(10) ** (column.size - column.scale):
        raise _out_of_range(column, row)
    return rounded


def _is_number(value: str) -> bool:
    found = _NUMBER.match(value)
    return found is not None and found.end() == len(value.rstrip())


def _time(value: Value, column: Column, where: tuple[str, str], row: int) -> str:
    written = "" if isinstance(value, Repeated) else shown(value)
    if column.type == "time":
        if not re.fullmatch(r"-?\d{1,3}:\d\d(?::\d\d)?", written):
            raise _not_a_time("time", written, column, where, row)
        return written if written.count(":") == 2 else f"{written}:00"
    found = _DATE.match(written)
    parts = [int(part or 0) for part in found.groups()] if found is not None else []
    is_good = (
        len(parts) == 6
        and 1 <= parts[1] <= 12
        and 1 <= parts[2] <= _DAYS[parts[1] - 1]
        and parts[3] < 24
        and max(parts[4:]) < 60
    )
    if not is_good:
        raise _not_a_time("date" if column.type == "date" else "datetime", written, column, where, row)
    day = f"{parts[0]:04d}-{parts[1]:02d}-{parts[2]:02d}"
    return day if column.type == "date" else f"{day} {parts[3]:02d}:{parts[4]:02d}:{parts[5]:02d}"


def _not_a_time(kind: str, written: str, column: Column, where: tuple[str, str], row: int) -> Problem:
    place = f"`{where[0]}`.`{where[1]}`.`{column.name}`"
    return Problem(1292, f"Incorrect {kind} value: '{written[:64]}' for column {place} at row {row}")


def stored(value: Value) -> object:
    """Return a value as a data directory keeps it, of which JSON can be made."""
    if isinstance(value, Repeated):
        return {"repeat": value.unit, "count": value.times}
    return {"decimal": str(value)} if isinstance(value, Decimal) else value


def loaded(kept: object) -> Value:
    """Return a value that was stored."""
    if isinstance(kept, dict):
        return Decimal(kept["decimal"]) if "decimal" in kept else Repeated(kept["repeat"], kept["count"])
    assert kept is None or isinstance(kept, int | float | str)
    return kept
