"""How much the simulated server does for one statement: bounds of ours, where a real one would take its time or its memory.

Source of the texts: postgres 15 src/backend/utils/mmgr/aset.c (MemoryContextAllocationFailure), tcop/postgres.c
(check_stack_depth). None of them is recorded.
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _sql_reading
from env_core.programs._postgres_errors import Problem

TEXT_MAX: Final = 64 << 10
"""Characters of a text."""
DIGITS_MAX: Final = 1_000
"""Digits of a number."""
DEPTH_MAX: Final = 24
"""Brackets, and signs before a value, around each other."""
CHAIN_MAX: Final = 100
"""Operators in one expression."""
ROWS_MAX: Final = 10_000
"""Rows of a table, or of a series that is looked at."""
TABLE_MAX: Final = 512 << 10
"""Characters that a table takes in the data directory."""
UNDO_MAX: Final = 20_000
"""Changes of rows in one transaction."""


class Meter(_sql_reading.Meter):
    """Counts what one statement costs."""

    LIMIT = 200_000

    def refusal(self) -> Problem:
        """Return what is said of a statement that causes too much work."""
        return Problem(
            "canceling statement due to user request",
            detail="This simulated server does not do that much work for one statement.",
        )


def no_memory(size: int) -> Problem:
    """Return what is said of a value that is too long."""
    return Problem(
        "out of memory", detail=f'Failed on request of size {size} in memory context "ExprContext".'
    )


def too_deep() -> Problem:
    """Return what is said of an expression that is too deep."""
    return Problem(
        "stack depth limit exceeded",
        hint='Increase the configuration parameter "max_stack_depth" (currently 2048kB), after ensuring the platform\'s stack depth'
        " limit is adequate.",
    )
