"""sort: orders lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from env_core.shell._inputs import joined_lines, read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {
    "numeric-sort": "n", "reverse": "r", "key=": "k", "field-separator=": "t", "unique": "u",
    "human-numeric-sort": "h", "version-sort": "V", "ignore-case": "f", "ignore-leading-blanks": "b",
    "general-numeric-sort": "g", "month-sort": "M", "output=": "o", "stable": "s", "check": "c",
    "dictionary-order": "d", "zero-terminated": "z",
}  # fmt: skip
_NUMBER = re.compile(r"[ \t]*(-?)(\d*)(?:\.(\d*))?")
_HUMAN = re.compile(r"[ \t]*(-?\d*(?:\.\d*)?)([kKMGTPEZY]?)")
_GENERAL = re.compile(r"[ \t]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_KEY = re.compile(r"(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.(\d+))?([a-zA-Z]*))?\Z", re.ASCII)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_SCALES = {letter: index + 1 for index, letter in enumerate("KMGTPEZY")} | {"k": 1, "": 0}


@dataclass(frozen=True, slots=True)
class _Key:
    value: Callable[[str], Any]
    is_reversed: bool


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "nrk:t:uhVfbgMo:scdzm", _LONG)
        separator = options.value("t") if options.has("t") else None
        if separator is not None and len(separator) != 1:
            separator = {"\\t": "\t", "\\0": "\0"}.get(separator, separator)
            if len(separator) != 1:
                text = "empty tab" if not separator else f"multi-character tab '{separator}'"
                return Output("", f"sort: {text}\n", 2)
        common = "".join(letter for letter, _ in options.given if letter in "nhVgMfbd")
        keys = [_key(each, common, separator, is_reversed=options.has("r")) for each in options.values("k")]
    except UsageProblem as problem:
        return problem.output(argv[0], process, 2)
    error = "sort: {name}: {reason}" if process.is_busybox else "sort: cannot read: {quoted}: {reason}"
    texts, problems = read_inputs(process, options.operands, error)
    if problems:
        return Output("", problems.splitlines(keepends=True)[0], 2)
    lines = [line for _, text in texts for line in split_lines(text)]
    if not keys:
        keys = [_Key(_comparable(common), options.has("r"))]
        tie = common != ""
    else:
        tie = True
    if options.has("c"):
        return _checked(lines, keys, texts)
    ordered = lines
    if tie and not options.has("su"):
        ordered = sorted(ordered, reverse=options.has("r"))
    for key in reversed(keys):
        ordered = sorted(ordered, key=key.value, reverse=key.is_reversed)
    if options.has("u"):
        ordered = _unique(ordered, keys)
    out = joined_lines(ordered)
    if options.has("o"):
        name = options.value("o")
        try:
            process.fs.write(process.path(name), out, process.now_ms())
        except ShellFileError as refused:
            return Output("", f"sort: open failed: {name}: {refused.reason}\n", 2)
        return Output()
    return Output(out)


def _unique(lines: list[str], keys: list[_Key]) -> list[str]:
    out: list[str] = []
    last: object = None
    for line in lines:
        value = tuple(key.value(line) for key in keys)
        if not out or value != last:
            out.append(line)
        last = value
    return out


def _checked(lines: list[str], keys: list[_Key], texts: list[tuple[str, str]]) -> Output:
    for number, (first, second) in enumerate(pairwise(lines), start=2):
        before = [key.value(first) for key in keys]
        after = [key.value(second) for key in keys]
        if before > after and not keys[0].is_reversed:
            return Output("", f"sort: {texts[0][0]}:{number}: disorder: {second}\n", 1)
    return Output()


def _key(text: str, common: str, separator: str | None, *, is_reversed: bool) -> _Key:
    found = _KEY.match(text)
    if found is None:
        raise UsageProblem(
            f"invalid number at field start: invalid count at start of '{text}'", has_hint=False
        )
    start, start_char, first_flags, end, end_char, last_flags = found.groups()
    if int(start) == 0:
        raise UsageProblem(f"field number is zero: invalid field specification '{text}'", has_hint=False)
    flags = first_flags + (last_flags or "")
    kind = flags.replace("r", "") or common
    convert = _comparable(kind)
    is_reversed = "r" in flags if flags else is_reversed
    first = int(start) - 1
    last = int(end) if end else None

    def value(line: str) -> Any:
        if separator is None:
            spans = [match.span() for match in re.finditer(r"[ \t]*[^ \t]+|[ \t]+\Z", line)]
            fields = [line[begin:finish] for begin, finish in spans]
            chosen = fields[first:last]
            joiner = ""
        else:
            chosen = line.split(separator)[first:last]
            joiner = separator
        if end_char and int(end_char) and chosen:
            chosen[-1] = chosen[-1][: int(end_char)]
        whole = joiner.join(chosen)
        if start_char:
            whole = whole[max(int(start_char) - 1, 0) :]
        return convert(whole)

    return _Key(value, is_reversed)


def _comparable(flags: str) -> Callable[[str], Any]:
    """Return the function from text to what is compared, for flags such as "n" or "bf"."""
    if "h" in flags:
        return _human
    if "n" in flags:
        return _number
    if "g" in flags:
        return _general
    if "V" in flags:
        return cmp_to_key(_compare_versions)
    if "M" in flags:
        return _month
    if "f" in flags:
        return (lambda text: text.lstrip().upper()) if "b" in flags else str.upper
    if "b" in flags:
        return str.lstrip
    return str


def _number(text: str) -> tuple[int, float]:
    found = _NUMBER.match(text)
    assert found is not None
    sign, whole, fraction = found.groups()
    value = int(whole[:300] or 0)
    rest = float(f"0.{fraction[:20]}") if fraction else 0.0
    return (-value, -rest) if sign else (value, rest)


def _human(text: str) -> tuple[int, float]:
    found = _HUMAN.match(text)
    assert found is not None
    digits = found.group(1)
    value = float(digits[:300]) if digits.strip("-.") else 0.0
    scale = _SCALES[found.group(2)] if value else 0
    return (-scale if value < 0 else scale, value)


def _general(text: str) -> tuple[int, float]:
    found = _GENERAL.match(text)
    return (1, float(found.group(1))) if found else (0, 0.0)


def _month(text: str) -> int:
    name = text.lstrip()[:3].upper()
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def _compare_versions(left: str, right: str) -> int:
    """Compare as `sort -V`: runs of digits by number, a tilde before everything."""
    one, two = re.findall(r"\d+|\D", left), re.findall(r"\d+|\D", right)
    for first, second in zip(one, two):
        if first == second:
            continue
        if first.isdecimal() and second.isdecimal():
            a, b = first.lstrip("0"), second.lstrip("0")
            if a != b:
                return -1 if (len(a), a) < (len(b), b) else 1
            continue
        return -1 if _weight(first) < _weight(second) else 1
    if len(one) == len(two):
        return (left > right) - (left < right)
    rest = (one + two)[min(len(one), len(two))] if len(one) > len(two) else two[len(one)]
    longer_first = 1 if len(one) > len(two) else -1
    return -longer_first if rest == "~" else longer_first


def _weight(piece: str) -> tuple[int, str]:
    if piece == "~":
        return -1, ""
    if piece.isdecimal():
        return 0, piece
    return (1, piece) if piece.isalpha() else (2, piece)


BUILTIN = Builtin(name="sort", run=_run, source="GNU coreutils 9.1 sort; tests/golden/programs/shell 122")
