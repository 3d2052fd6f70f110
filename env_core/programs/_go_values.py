"""What Go's standard library says of values that it cannot read, of files and commands, and of its own panics.

Source: tests/golden/promql/go_net (go1.26: runtime), tests/golden/programs/app-go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from env_core.objects import gojson
from env_core.objects._re2_parser import Re2Error
from env_core.objects.problems import quoted
from env_core.objects.re2 import compiled
from env_core.programs._go_net import GoError
from env_core.sim.timefmt import DurationError, parse_go_duration

_SYNTAX: Final = ("*strconv.NumError", "*errors.errorString")
_BOOLS: Final = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
_FLOAT: Final = re.compile(
    r"[+-]?(?:inf|infinity|nan|0x[0-9a-f.]+p[+-]?\d+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE
)
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_PARTS: Final = (
    ("2006", r"\d{4}"), ("-", "-"), ("01", r"\d\d"), ("-", "-"), ("02", r"\d\d"), ("T", "T"), ("15", r"\d\d"), (":", ":"),
    ("04", r"\d\d"), (":", ":"), ("05", r"\d\d(?:[.,]\d+)?"), ("Z07:00", r"Z|[+-]\d\d:\d\d"),
)  # fmt: skip
_RANGES: Final = {
    "01": (1, 12, "month"),
    "02": (1, 31, "day"),
    "15": (0, 23, "hour"),
    "04": (0, 59, "minute"),
    "05": (0, 59, "second"),
}


def _number_error(function: str, text: str, why: str) -> GoError:
    return GoError(f"strconv.{function}: parsing {quoted(text)}: {why}", _SYNTAX)


def integer_error(function: str, text: str, bits: int = 64) -> GoError | None:
    """Return why strconv.Atoi, ParseInt or ParseUint does not take a decimal number, or None."""
    is_signed = function != "ParseUint"
    if not re.fullmatch(r"[+-]?\d+" if is_signed else r"\d+", text, re.ASCII):
        return _number_error(function, text, "invalid syntax")
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    return None if least <= int(text) <= most else _number_error(function, text, "value out of range")


def bool_error(text: str) -> GoError | None:
    """Return why strconv.ParseBool does not take a text, or None."""
    return None if text in _BOOLS else _number_error("ParseBool", text, "invalid syntax")


def float_error(text: str) -> GoError | None:
    """Return why strconv.ParseFloat does not take a text, or None."""
    if not _FLOAT.fullmatch(text):
        return _number_error("ParseFloat", text, "invalid syntax")
    is_infinite = "inf" not in text.lower() and "x" not in text.lower() and abs(float(text)) == float("inf")
    return _number_error("ParseFloat", text, "value out of range") if is_infinite else None


def duration_error(text: str) -> GoError | None:
    """Return why time.ParseDuration does not take a text, or None."""
    try:
        parse_go_duration(text)
    except DurationError as error:
        return GoError(str(error), ("*time.parseDurationError",))
    return None


def time_error(text: str) -> GoError | None:
    """Return why time.Parse does not take a text for RFC 3339, or None."""
    rest = text
    for name, pattern in _PARTS:
        found = re.match(pattern, rest)
        start = (
            f"parsing time {quoted(text)} as {quoted(_LAYOUT)}: cannot parse {quoted(rest)} as {quoted(name)}"
        )
        if found is None:
            return GoError(start, ("*time.ParseError",))
        limits = _RANGES.get(name)
        if limits is not None and not limits[0] <= int(found[0][:2]) <= limits[1]:
            return GoError(f"parsing time {quoted(text)}: {limits[2]} out of range", ("*time.ParseError",))
        rest = rest[found.end() :]
    if rest:
        return GoError(f"parsing time {quoted(text)}: extra text: {quoted(rest)}", ("*time.ParseError",))
    return None


def regexp_error(text: str) -> GoError | None:
    """Return why regexp.Compile does not take a pattern, or None."""
    try:
        compiled(text)
    except Re2Error as error:
        return GoError(str(error), ("*syntax.Error",))
    return None


def json_error(text: str, fields: Mapping[str, Any], struct: str = "") -> GoError | None:
    """Return why json.Unmarshal does not take a text, or None.

    `fields` are the struct's fields by JSON name: a Go type ("int32", "string", "bool", "[]string"), or fields again;
    `struct` is its name ("" for one without).
    """
    problem = gojson.syntax_problem(text)
    if problem:
        return GoError(problem, ("*json.SyntaxError",))
    found = _mismatch(gojson.read(text), fields, "")
    if found is None:
        return None
    word, path, kind = found
    where = f"Go struct field {struct}.{path} of type {kind}" if path else f"Go value of type {kind}"
    return GoError(f"json: cannot unmarshal {word} into {where}", ("*json.UnmarshalTypeError",))


_KINDS: Final = {"string": str, "bool": bool, "map": dict}


def _mismatch(value: Any, wanted: Any, path: str) -> tuple[str, str, str] | None:
    if value is None:
        return None
    word = gojson.kind_word(value)
    if isinstance(wanted, Mapping):
        if not isinstance(value, Mapping):
            return word, path, "struct"
        for name, item in value.items():
            inner = wanted.get(name)
            if inner is None:
                continue
            found = _mismatch(item, inner, f"{path}.{name}" if path else name)
            if found is not None:
                return found
        return None
    if wanted == "string":
        return None if word == "string" else (word, path, wanted)
    if wanted == "bool":
        return None if word == "bool" else (word, path, wanted)
    if wanted.startswith("[]"):
        if not isinstance(value, (list, tuple)):
            return word, path, wanted
        return next(filter(None, (_mismatch(each, wanted[2:], path) for each in value)), None)
    if wanted.startswith(("int", "uint")):
        if word != "number":
            return word, path, wanted
        number = gojson.plain(value)
        return None if isinstance(number, int) else (f"number {gojson.number_text(number)}", path, wanted)
    return None if word == "number" else (word, path, wanted)


def path_error(operation: str, path: str, why: str) -> GoError:
    """Return the error of a system call on a path: `open /x: no such file or directory`."""
    return GoError(f"{operation} {path}: {why}", ("*fs.PathError", "syscall.Errno"), is_timeout=False)


def command_missing(name: str) -> GoError:
    """Return the error of starting a command that is not there."""
    if "/" in name:
        return path_error("fork/exec", name, "no such file or directory")
    return GoError(
        f"exec: {quoted(name)}: executable file not found in $PATH", ("*exec.Error", "*errors.errorString")
    )


def command_ended(status: int, signal: str = "") -> GoError:
    """Return the error of a command that ended badly: by its status, or by a signal ("killed")."""
    return GoError(f"signal: {signal}" if signal else f"exit status {status}", ("*exec.ExitError",))


PANICS: Final = {
    "nil map": "assignment to entry in nil map",
    "nil pointer": "runtime error: invalid memory address or nil pointer dereference",
    "divide": "runtime error: integer divide by zero",
    "closed channel": "send on closed channel",
    "close of closed channel": "close of closed channel",
    "close of nil channel": "close of nil channel",
    "negative counter": "sync: negative WaitGroup counter",
}
"""What `panic: ` is followed by. Source: the same recordings; the closing of channels is Go runtime/chan.go, not recorded."""


def index_panic(index: int, length: int) -> str:
    """Return the text of an index that is out of range."""
    if index < 0:
        return f"runtime error: index out of range [{index}]"
    return f"runtime error: index out of range [{index}] with length {length}"


def slice_panic(high: int, capacity: int) -> str:
    """Return the text of a slice that reaches over its array."""
    return f"runtime error: slice bounds out of range [:{high}] with capacity {capacity}"


def assertion_panic(held: str, wanted: str) -> str:
    """Return the text of a type assertion that does not hold; `held` is "nil" for an empty interface."""
    return f"interface conversion: interface {{}} is {held}, not {wanted}"
