"""Copy-on-write dictionaries of immutable values: how components keep state that a fork can share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Table(Generic[K, V]):
    """A dictionary whose fork is O(1); the first write after a fork copies it.

    Values must be immutable (strings, numbers, tuples, frozen dataclasses, Kubernetes objects): a
    change is a new value under the same key. Iteration is in insertion order, which is deterministic.
    """

    __slots__ = ("_is_shared", "_rows")

    def __init__(self) -> None:
        self._rows: dict[K, V] = {}
        self._is_shared = False

    def get(self, key: K) -> V | None:
        """Return the value under `key`, or None."""
        return self._rows.get(key)

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def __contains__(self, key: K) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._rows))

    def items(self) -> list[tuple[K, V]]:
        """Return the rows, as a list that later writes do not disturb."""
        return list(self._rows.items())

    def values(self) -> list[V]:
        """Return the values, as a list that later writes do not disturb."""
        return list(self._rows.values())

    def _own(self) -> dict[K, V]:
        if self._is_shared:
            self._rows = dict(self._rows)
            self._is_shared = False
        return self._rows

    def __setitem__(self, key: K, value: V) -> None:
        self._own()[key] = value

    def pop(self, key: K) -> V | None:
        """Remove and return the value under `key`; None if there is none."""
        if key not in self._rows:
            return None
        return self._own().pop(key)

    def fork(self) -> Table[K, V]:
        """Return a table with the same rows; neither sees the other's later writes."""
        copy: Table[K, V] = Table()
        copy._rows = self._rows
        copy._is_shared = self._is_shared = True
        return copy
