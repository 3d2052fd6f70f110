"""The conditions of `test` and `[`, for scripts that are only followed on paper."""

from __future__ import annotations

from collections.abc import Mapping


def holds(files: Mapping[str, str], words: list[str]) -> bool:
    """Whether the condition that `test` is given holds; `files` are those that exist, by path."""
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2:
        if words[0] == "-n":
            return bool(words[1])
        if words[0] == "-z":
            return not words[1]
        return words[1] in files or (
            words[0] in ("-d", "-e") and any(path.startswith(words[1].rstrip("/") + "/") for path in files)
        )
    if len(words) == 3:
        left, operator, right = words
        if operator in ("=", "=="):
            return left == right
        if operator == "!=":
            return left != right
        if left.lstrip("-").isdigit() and right.lstrip("-").isdigit():
            first, second = int(left), int(right)
            return {"-eq": first == second, "-ne": first != second, "-gt": first > second,
                    "-ge": first >= second, "-lt": first < second, "-le": first <= second}.get(operator, False)  # fmt: skip
    return False
