"""What one evaluation carries along: variables, local variables, and what has been spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

LIMIT_TEXT: Final = "operation cancelled: actual cost limit exceeded"


class CostExceeded(Exception):
    """The evaluation has cost more than it may."""


class Frame:
    """The state of one evaluation."""

    __slots__ = ("cost", "limit", "slots", "variables")

    def __init__(self, variables: Mapping[str, Any], slots: int, limit: int) -> None:
        self.variables = variables
        self.slots: list[Any] = [None] * slots
        self.cost = 0
        self.limit = limit

    def spend(self, cost: int) -> None:
        """Count a cost.

        Raises:
            CostExceeded: it is too much.
        """
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded(LIMIT_TEXT)


Run = Callable[[Frame], Any]


class Growing(list[Any]):
    """The list that a comprehension collects in: nobody else sees it, so that it may grow in place."""

    __slots__ = ()


class GrowingMap(dict[Any, Any]):
    """The map that a comprehension collects in."""

    __slots__ = ()
