"""Differences of two texts as `diff -u` prints them.

Source: POSIX diff, unified format; GNU diff slides changes down, deletions before insertions;
tests/golden/l2/flows/apply-client, tests/golden/l2/kubectl/shop.
"""

from __future__ import annotations

from typing import NamedTuple

_CONTEXT = 3


class _Edit(NamedTuple):
    mark: str
    line: str
    old: int
    new: int


def unified_diff(old: str, new: str) -> str:
    """Return the hunks, without the two header lines; "" for equal texts."""
    if old == new:
        return ""
    edits = _edits(old.splitlines(), new.splitlines())
    changed = [index for index, edit in enumerate(edits) if edit.mark != " "]
    hunks: list[str] = []
    start = 0
    while start < len(changed):
        end = start
        while end + 1 < len(changed) and changed[end + 1] - changed[end] <= 2 * _CONTEXT + 1:
            end += 1
        low = max(changed[start] - _CONTEXT, 0)
        high = min(changed[end] + _CONTEXT + 1, len(edits))
        hunks.append(_hunk(edits[low:high]))
        start = end + 1
    return "".join(hunks)


def _hunk(edits: list[_Edit]) -> str:
    removed = sum(edit.mark != "+" for edit in edits)
    added = sum(edit.mark != "-" for edit in edits)
    first = edits[0]
    head = f"@@ -{_range(first.old, removed)} +{_range(first.new, added)} @@\n"
    return head + "".join(f"{edit.mark}{edit.line}\n" for edit in edits)


def _range(start: int, count: int) -> str:
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _edits(old: list[str], new: list[str]) -> list[_Edit]:
    """Return the lines with their marks: a longest common subsequence, changes as far down as they go."""
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    edits = [_Edit(" ", line, index, index) for index, line in enumerate(old[:head])]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    lengths = _common_lengths(left, right)
    row = column = 0
    while row < len(left) or column < len(right):
        place = (head + row, head + column)
        if row < len(left) and column < len(right) and left[row] == right[column]:
            edits.append(_Edit(" ", left[row], *place))
            row, column = row + 1, column + 1
        elif row < len(left) and (
            column == len(right) or lengths[row + 1][column] >= lengths[row][column + 1]
        ):
            edits.append(_Edit("-", left[row], *place))
            row += 1
        else:
            edits.append(_Edit("+", right[column], *place))
            column += 1
    for index in range(tail):
        place = (len(old) - tail + index, len(new) - tail + index)
        edits.append(_Edit(" ", old[place[0]], *place))
    return edits


def _common_lengths(left: list[str], right: list[str]) -> list[list[int]]:
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for row in range(len(left) - 1, -1, -1):
        below, current = lengths[row + 1], lengths[row]
        for column in range(len(right) - 1, -1, -1):
            if left[row] == right[column]:
                current[column] = below[column + 1] + 1
            else:
                current[column] = max(below[column], current[column + 1])
    return lengths
