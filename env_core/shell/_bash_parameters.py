"""Parameter expansions that only bash has: elements of arrays, indirection, changed case, replacement, substrings.

Source: bash(1), "Parameter Expansion".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from env_core.shell import _pattern
from env_core.shell._arithmetic import ArithmeticProblem, evaluate
from env_core.shell.budget import LimitReached
from env_core.shell.syntax import Parameter, Word

if TYPE_CHECKING:
    from env_core.shell._expansion import Expander
    from env_core.shell.pipeline import Shell

_TEXT_MAX: Final = 65_536


def resolved(shell: Shell, part: Parameter, expander: Expander) -> tuple[Parameter, list[str] | None]:
    """Return the expansion with the name that it comes to, and the values when it stands for several."""
    if part.is_indirect:
        if part.index is not None:
            return part, list(shell.arrays.get(part.name, {}))
        target = shell.parameter(part.name) or ""
        return replace(part, name=target, is_indirect=False), None
    if part.index is None:
        return part, None
    key = expander.one(part.index)
    if key in ("@", "*"):
        rows = shell.arrays.get(part.name)
        if rows is None:
            value = shell.parameter(part.name)
            return part, [] if value is None else [value]
        values = list(rows.values())
        if part.operator == ":" and part.argument is not None:
            return replace(part, operator=""), _slice(shell, part, values, expander)
        return part, values
    rows = shell.arrays.get(part.name, {})
    if key not in rows:
        key = _index(shell, key, rows)
    return replace(part, name=f"{part.name}[{key}]", index=None), None


def _index(shell: Shell, key: str, rows: dict[str, str]) -> str:
    try:
        number = evaluate(key, shell.variables, is_extended=True)
    except ArithmeticProblem:
        return key
    if number < 0:
        whole = [int(each) for each in rows if each.isdecimal()]
        number += max(whole, default=-1) + 1
    return str(number)


def _slice(shell: Shell, part: Parameter, values: list[str], expander: Expander) -> list[str]:
    start, length = _bounds(shell, part, expander)
    if start < 0:
        start = max(start + len(values), 0)
    return values[start:] if length is None else values[start : start + length]


def _bounds(shell: Shell, part: Parameter, expander: Expander) -> tuple[int, int | None]:
    def number(word: Word | None) -> int | None:
        if word is None or not word.parts:
            return None
        try:
            return evaluate(expander.one(word), shell.variables, is_extended=True)
        except ArithmeticProblem:
            return 0

    return number(part.argument) or 0, number(part.second)


def changed(shell: Shell, part: Parameter, value: str, expander: Expander) -> str:
    """Return a value with `^`, `,`, `/` or `:` applied."""
    operator = part.operator
    if len(value) > _TEXT_MAX:
        raise LimitReached(f"a value of {len(value)} characters is too long for ${{…{operator}…}}")
    if operator[0] in "^,":
        return _cased(operator, value, expander.pattern(part.argument) if part.argument else "")
    if operator == ":":
        start, length = _bounds(shell, part, expander)
        if start < 0:
            start += len(value)
            if start < 0:
                return ""
        end = len(value) if length is None else len(value) + length if length < 0 else start + length
        return value[start : max(end, start)]
    pattern = expander.pattern(part.argument) if part.argument else ""
    return _replaced(operator, value, pattern, expander.one(part.second) if part.second else "")


def _cased(operator: str, value: str, pattern: str) -> str:
    change: Callable[[str], str] = str.upper if operator[0] == "^" else str.lower
    wanted = _pattern.compiled(pattern) if pattern else None
    if len(operator) == 1:
        first, rest = value[:1], value[1:]
        return (change(first) if wanted is None or wanted.match(first) else first) + rest
    return "".join(change(char) if wanted is None or wanted.match(char) else char for char in value)


def _replaced(operator: str, value: str, pattern: str, other: str) -> str:
    if not pattern:
        return value
    if operator == "/#":
        found = _pattern.prefix(pattern, is_longest=True).match(value)
        return other + value[found.end() :] if found else value
    if operator == "/%":
        found = _pattern.suffix(pattern, is_longest=True).match(value)
        return found.group(1) + other if found else value
    prefix = _pattern.prefix(pattern, is_longest=True)
    out: list[str] = []
    at = 0
    while at < len(value):
        length = _matched(prefix, value, at)
        if length:
            out.append(other)
            at += length
            if operator == "/":
                break
        else:
            out.append(value[at])
            at += 1
    return "".join(out) + value[at:]


def _matched(prefix: re.Pattern[str], value: str, at: int) -> int:
    found = prefix.match(value[at:])
    return found.end() if found else 0
