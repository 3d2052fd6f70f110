"""The order of merged lists: sorting, partitioning and interleaving as strategic merge does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from env_core.objects._patch_problem import PatchError
from env_core.objects._strategic_types import DIRECTIVE, go_kind, no_merge_key, same, wrong_type
from env_core.objects.goformat import value_text
from env_core.objects.gosort import go_sorted


class Places:
    """Where values come first in a list: lists may be long, and each item of one is looked for in the other."""

    __slots__ = ("_first", "_others")

    def __init__(self, values: Iterable[Any]) -> None:
        self._first: dict[tuple[type, Any], int] = {}
        self._others: list[tuple[int, Any]] = []
        """Lists and maps, which are no keys of a dictionary."""
        for index, value in enumerate(values):
            self.add(index, value)

    def add(self, index: int, value: Any) -> None:
        """Note that a value is at an index, unless it is at one before."""
        if isinstance(value, dict | list):
            self._others.append((index, value))
        else:
            self._first.setdefault((type(value), value), index)

    def of(self, value: Any) -> int:
        """Return the index of a value, -1 when it is absent; the types must agree."""
        if isinstance(value, dict | list):
            return next((index for index, other in self._others if same(other, value)), -1)
        return self._first.get((type(value), value), -1)


def places_of(items: list[Any], merge_key: str, kind: str) -> Callable[[Any], int]:
    """Return a function from an item to its index in `items` (by merge key, for maps), -1 when it is absent."""
    if kind != "map":
        return Places(items).of
    places = Places(_key_value(item, merge_key) for item in items)
    return lambda item: places.of(_key_value(item, merge_key))


def _key_value(item: Any, merge_key: str) -> Any:
    return item.get(merge_key) if isinstance(item, dict) else None


def map_places(items: list[Any], merge_key: str) -> Places:
    """Return where the maps of a list are, by the values of their merge key.

    Raises:
        PatchError: for an item that is no map.
    """
    places = Places(())
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise PatchError(f"value for key {index} is not a map")
        if merge_key in item:
            places.add(index, item[merge_key])
    return places


def split_deletions(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the maps that stay and those with a delete directive."""
    kept: list[Any] = []
    deleted: list[Any] = []
    for item in items:
        if not isinstance(item, dict):
            raise wrong_type("map", item)
        (deleted if item.get(DIRECTIVE) == "delete" else kept).append(item)
    return kept, deleted


def sorted_by_order(items: list[Any], order: list[Any], merge_key: str, kind: str) -> list[Any]:
    """Return `items` in the order of `order`; deletions go to the end."""
    deleted: list[Any] = []
    if kind == "map":
        for part in (items, order):
            for item in part:
                if not isinstance(item, dict):
                    raise wrong_type("map", item)
                if merge_key not in item:
                    raise no_merge_key(item, merge_key)
        items, deleted = split_deletions(items)
    places = list(map(places_of(order, merge_key, kind), items))

    def less(left: int, right: int) -> bool:
        return places[left] < places[right] if places[left] >= 0 and places[right] >= 0 else True

    indexes = list(range(len(items)))
    if -1 in places:
        # An item that the order does not name counts as less than all: not a sound order, so sort as Go does.
        indexes = _insertion_sorted(indexes, less)
    else:
        indexes.sort(key=places.__getitem__)
    return [items[index] for index in indexes] + deleted


def _insertion_sorted(items: list[Any], less: Callable[[Any, Any], bool]) -> list[Any]:
    for start in range(1, len(items)):
        at = start
        while at > 0 and less(items[at], items[at - 1]):
            items[at], items[at - 1] = items[at - 1], items[at]
            at -= 1
    return items


def sorted_texts(items: list[Any], text: Callable[[Any], str]) -> list[Any]:
    """Return items sorted by text as Go's sort.Sort leaves them when equals count as less (it is not stable)."""
    pairs = [(text(item), item) for item in items]
    by_text = dict(pairs)
    if len(by_text) == len(items):
        return [by_text[key] for key in sorted(by_text)]
    return [item for _, item in go_sorted(pairs, _is_not_greater)]


def _is_not_greater(left: tuple[str, Any], right: tuple[str, Any]) -> bool:
    return left[0] <= right[0]


def sorted_scalars(items: list[Any]) -> list[Any]:
    """Return scalars sorted by their printed form."""
    return sorted_texts(items, value_text)


def sorted_maps(items: list[Any], merge_key: str) -> list[Any]:
    """Return maps sorted by the printed form of their merge key."""
    return sorted_texts(items, lambda item: value_text(item.get(merge_key)))


def without_duplicates(items: list[Any]) -> list[Any]:
    """Return scalars without repeats; a repeat's place is taken by the last item, as upstream does."""
    items = list(items)
    counts = Counter((type(item), item) for item in items)
    if len(counts) == len(items):
        return items
    last = len(items) - 1
    first = 0
    while first < last:
        second = first + 1 if counts[type(items[first]), items[first]] > 1 else last + 1
        while second <= last:
            if same(items[first], items[second]):
                items[second] = items[last]
                items.pop()
                last -= 1
            else:
                second += 1
        first += 1
    return items


def partition(items: list[Any], chosen: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Return the items that `chosen` names and the others."""
    named: list[Any] = []
    others: list[Any] = []
    places = map_places(chosen, merge_key) if merge_key and items else Places(chosen)
    for item in items:
        if not merge_key:
            found = places.of(item) >= 0
        else:
            if not isinstance(item, dict):
                raise wrong_type("map", item)
            if merge_key not in item:
                raise no_merge_key(item, merge_key)
            found = places.of(item[merge_key]) >= 0
        (named if found else others).append(item)
    return named, others


def interleaved(
    named: list[Any], others: list[Any], order: list[Any], server_order: list[Any], merge_key: str, kind: str
) -> list[Any]:
    """Sort both halves and merge them: `order` rules the named items, the live order places the others."""
    right = sorted_by_order(named, order, merge_key, kind)
    left = sorted_by_order(others, server_order, merge_key, kind)
    place = places_of(server_order, merge_key, kind)
    left_places, right_places = list(map(place, left)), list(map(place, right))
    built: list[Any] = []
    at_left = at_right = 0
    while at_left < len(left) and at_right < len(right):
        if 0 <= left_places[at_left] < right_places[at_right]:
            built.append(left[at_left])
            at_left += 1
        else:
            built.append(right[at_right])
            at_right += 1
    return built + left[at_left:] + right[at_right:]


def same_order(original: list[Any], modified: list[Any], merge_key: str) -> bool:
    """Return whether both lists name the same items in the same order."""
    if len(original) != len(modified):
        return False
    return all(same_item(left, right, merge_key) for left, right in zip(original, modified, strict=True))


def same_item(left: Any, right: Any, merge_key: str) -> bool:
    """Return whether two items are the same one."""
    if not merge_key:
        return same(left, right)
    for item in (left, right):
        if go_kind(item) != "map":
            raise wrong_type("map", item)
        if merge_key not in item:
            raise no_merge_key(item, merge_key)
    return same(left[merge_key], right[merge_key])
