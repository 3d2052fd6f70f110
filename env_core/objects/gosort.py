"""Go's unstable sort, move for move: where elements compare equal, its order is what Kubernetes shows.

Source: Go 1.26 `sort.Sort` and `slices.SortFunc` (pattern-defeating quicksort); up to twelve elements it is
an insertion sort and thus stable.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar

T = TypeVar("T")

_INSERTION_MAX: Final = 12
_NINTHER_MIN: Final = 50
_SWAPS_MAX: Final = 12
_MASK: Final = 2**64 - 1


class _Hint(Enum):
    UNKNOWN = 0
    INCREASING = 1
    DECREASING = 2


def go_sorted(items: list[T], less: Callable[[T, T], bool]) -> list[T]:
    """Return a new list, ordered as Go's `sort.Sort` would leave `items` under `less`."""
    result = list(items)
    _Sorter(result, less).sort(0, len(result), len(result).bit_length())
    return result


class _Sorter:
    __slots__ = ("_items", "_precedes")

    def __init__(self, items: list[Any], less: Callable[[Any, Any], bool]) -> None:
        self._items = items
        self._precedes = less

    def _less(self, i: int, j: int) -> bool:
        return self._precedes(self._items[i], self._items[j])

    def _swap(self, i: int, j: int) -> None:
        self._items[i], self._items[j] = self._items[j], self._items[i]

    def sort(self, low: int, high: int, bad_choices_left: int) -> None:
        """Order `items[low:high]`."""
        was_balanced = was_partitioned = True
        while True:
            length = high - low
            if length <= _INSERTION_MAX:
                self._insertion(low, high)
                return
            if bad_choices_left == 0:
                self._heap(low, high)
                return
            if not was_balanced:
                self._scatter(low, high)
                bad_choices_left -= 1
            pivot, hint = self._pivot(low, high)
            if hint is _Hint.DECREASING:
                self._items[low:high] = self._items[low:high][::-1]
                pivot = (high - 1) - (pivot - low)
                hint = _Hint.INCREASING
            if was_balanced and was_partitioned and hint is _Hint.INCREASING and self._nearly(low, high):
                return
            if low > 0 and not self._less(low - 1, pivot):
                low = self._split_equal(low, high, pivot)
                continue
            middle, was_partitioned = self._split(low, high, pivot)
            left, right = middle - low, high - middle
            if left < right:
                was_balanced = left >= length // 8
                self.sort(low, middle, bad_choices_left)
                low = middle + 1
            else:
                was_balanced = right >= length // 8
                self.sort(middle + 1, high, bad_choices_left)
                high = middle

    def _insertion(self, low: int, high: int) -> None:
        for i in range(low + 1, high):
            j = i
            while j > low and self._less(j, j - 1):
                self._swap(j, j - 1)
                j -= 1

    def _heap(self, low: int, high: int) -> None:
        size = high - low
        for root in range((size - 1) // 2, -1, -1):
            self._sift(root, size, low)
        for last in range(size - 1, -1, -1):
            self._swap(low, low + last)
            self._sift(0, last, low)

    def _sift(self, root: int, size: int, first: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _scatter(self, low: int, high: int) -> None:
        """Swap three elements near the middle with pseudo-random ones; the seed is the length."""
        length = high - low
        if length < 8:
            return
        state = length
        middle = low + (length // 4) * 2 - 1
        for offset in range(3):
            state ^= (state << 13) & _MASK
            state ^= state >> 7
            state ^= (state << 17) & _MASK
            other = state & ((1 << length.bit_length()) - 1)
            if other >= length:
                other -= length
            self._swap(middle + offset, low + other)

    def _pivot(self, low: int, high: int) -> tuple[int, _Hint]:
        length = high - low
        quarter = length // 4
        points = [low + quarter, low + 2 * quarter, low + 3 * quarter]
        swaps = 0
        if length >= _NINTHER_MIN:
            for index, point in enumerate(points):
                points[index], count = self._median(point - 1, point, point + 1)
                swaps += count
        pivot, count = self._median(*points)
        swaps += count
        if swaps == 0:
            return pivot, _Hint.INCREASING
        return pivot, _Hint.DECREASING if swaps == _SWAPS_MAX else _Hint.UNKNOWN

    def _median(self, a: int, b: int, c: int) -> tuple[int, int]:
        """Return the middle one of three places, and how many pairs had to change order."""
        swaps = 0
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self._less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps

    def _nearly(self, low: int, high: int) -> bool:
        """Repair up to five misplaced neighbours; say whether the range is in order now."""
        i = low + 1
        for _ in range(5):
            while i < high and not self._less(i, i - 1):
                i += 1
            if i == high:
                return True
            if high - low < _NINTHER_MIN:
                return False
            self._swap(i, i - 1)
            if i - low >= 2:
                j = i - 1
                while j >= 1 and self._less(j, j - 1):
                    self._swap(j, j - 1)
                    j -= 1
            if high - i >= 2:
                j = i + 1
                while j < high and self._less(j, j - 1):
                    self._swap(j, j - 1)
                    j += 1
        return False

    def _split_equal(self, low: int, high: int, pivot: int) -> int:
        """Move what equals the pivot to the front; return where the greater ones begin."""
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        while True:
            while i <= j and not self._less(low, i):
                i += 1
            while i <= j and self._less(low, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _split(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        """Move what is less than the pivot before it; return its place, and if nothing had to move."""
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        is_first = True
        while True:
            while i <= j and self._less(i, low):
                i += 1
            while i <= j and not self._less(j, low):
                j -= 1
            if i > j:
                self._swap(j, low)
                return j, is_first
            is_first = False
            self._swap(i, j)
            i, j = i + 1, j - 1
