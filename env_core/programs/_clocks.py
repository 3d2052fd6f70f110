"""The clocks of machines: what a node's kernel takes for the time, which all that runs on it shares.

A clock that nobody set tells the time of the cluster. One that was set is off by so much from then on; what was stamped
before keeps its stamp.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.sim.state import State

TABLE: Final = "runtime/clocks"
AHEAD_MAX_MS: Final = 20 * 365 * 86_400_000
_CHANGES_MAX: Final = 32


class Change(NamedTuple):
    """From when a clock is ahead of the time by so much (behind, below 0)."""

    from_ms: int
    ahead_ms: int


class Clocks:
    """The clocks of all nodes: times in, what their clocks show out."""

    __slots__ = ("_changes",)

    def __init__(self, state: State) -> None:
        self._changes = state.table(TABLE)

    def set(self, node: str, now_ms: int, ahead_ms: int) -> None:
        """Put a node's clock ahead of the time from now on.

        Raises:
            ValueError: when that is more than twenty years.
        """
        if abs(ahead_ms) > AHEAD_MAX_MS:
            raise ValueError(f"a clock {ahead_ms} ms ahead")
        before: tuple[Change, ...] = self._changes.get(node) or ()
        self._changes[node] = (*before[1 - _CHANGES_MAX :], Change(now_ms, ahead_ms))

    def was_set(self, node: str) -> bool:
        """Whether a node's clock is, or was, off."""
        return node in self._changes

    def changed_ms(self, node: str) -> int:
        """Return when a node's clock was last set, 0 for never."""
        changes: tuple[Change, ...] = self._changes.get(node) or ()
        return changes[-1].from_ms if changes else 0

    def ahead_ms(self, node: str, at_ms: int) -> int:
        """Return by how much a node's clock was ahead at a time."""
        changes: tuple[Change, ...] = self._changes.get(node) or ()
        return next((each.ahead_ms for each in reversed(changes) if each.from_ms <= at_ms), 0)

    def shown_ms(self, node: str, at_ms: int) -> int:
        """Return what a node's clock showed at a time."""
        return at_ms + self.ahead_ms(node, at_ms)
