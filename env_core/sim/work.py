"""How much work one command line may cause: counted where it is done, in units that no clock has a part in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LINE_MAX: Final = 2_000_000
"""Units for a command line. A unit is about a microsecond on the machine on which they were chosen."""


SETTLING_MAX: Final = 1_000_000
"""Units for the time that passes after a line, or by itself."""
VERDICT_MAX: Final = 5_000_000
"""Units for a verdict; most take less than a hundredth of it."""


class Work:
    """A meter. Without a limit it only counts; above one, what does the work stops at the next place where it can."""

    __slots__ = ("_limit", "done")

    def __init__(self) -> None:
        self.done = 0
        """Units so far; anybody may add to it."""
        self._limit: int | None = None

    @property
    def is_spent(self) -> bool:
        """Whether more has been done than may be."""
        return self._limit is not None and self.done > self._limit

    @property
    def left(self) -> int | None:
        """The units that may still be done; None without a limit."""
        return None if self._limit is None else max(self._limit - self.done, 0)

    @contextmanager
    def limited(self, units: int) -> Iterator[None]:
        """Allow so many units within the block, whatever a block around it has left."""
        outer = self._limit
        self._limit = self.done + units
        try:
            yield
        finally:
            self._limit = outer
