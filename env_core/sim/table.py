"""Copy-on-write dictionaries of immutable values: how components keep state that a fork can share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Table(Generic[K, V]):
    """A dictionary that copies its rows at the first write after its world was forked.

    `epoch` is a list that all tables of a world share. A fork raises its first element, which tells every table at
    once that its rows are not its own any more; the second one counts writes, except to quiet tables. Values must be
    immutable (strings, numbers, tuples, frozen dataclasses, Kubernetes objects): a change is a new value under the
    same key. Iteration is in insertion order, which is deterministic.
    """

    __slots__ = ("_epoch", "_is_quiet", "_owned", "rows")

    def __init__(self, epoch: list[int], rows: dict[K, V] | None = None, *, is_quiet: bool = False) -> None:
        self._epoch = epoch
        self._is_quiet = is_quiet
        self._owned = epoch[0] if rows is None else -1
        self.rows: dict[K, V] = {} if rows is None else rows
        """For reading, and for a fork to share."""

    def get(self, key: K) -> V | None:
        """Return the value under `key`, or None."""
        return self.rows.get(key)

    def __getitem__(self, key: K) -> V:
        return self.rows[key]

    def __contains__(self, key: K) -> bool:
        return key in self.rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self.rows))

    def items(self) -> list[tuple[K, V]]:
        """Return the rows, as a list that later writes do not disturb."""
        return list(self.rows.items())

    def values(self) -> list[V]:
        """Return the values, as a list that later writes do not disturb."""
        return list(self.rows.values())

    def _own(self) -> dict[K, V]:
        if self._owned != self._epoch[0]:
            self.rows = dict(self.rows)
            self._owned = self._epoch[0]
        if not self._is_quiet:
            self._epoch[1] += 1
        return self.rows

    def __setitem__(self, key: K, value: V) -> None:
        self._own()[key] = value

    def pop(self, key: K) -> V | None:
        """Remove and return the value under `key`; None if there is none."""
        if key not in self.rows:
            return None
        return self._own().pop(key)
