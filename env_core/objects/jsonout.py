"""JSON as Go prints it: kubectl's `-o json` and the compact `json.Marshal` form."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

import orjson

_HTML: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_HTML_ESCAPES: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1


def to_json(value: Any) -> str:
    """Return `value` as kubectl's `-o json` prints it: four blanks of indent, a final line end.

    Keys are sorted, `<`, `>`, `&` and U+2028/9 are escaped as Go's encoding/json escapes them.

    Source: cli-runtime JSONPrinter; tests/golden/l0/yaml_print.
    """
    out: list[str] = []
    _write_indented(value, "\n", out)
    out.append("\n")
    return "".join(out)


def to_compact_json(value: Any) -> str:
    """Return `value` as Go's `json.Marshal` writes a map: sorted keys, no blanks, HTML escapes."""
    out: list[str] = []
    _write_compact(value, out)
    return "".join(out)


def json_size(value: Any) -> int:
    """Return how many bytes a value takes as compact JSON, near enough for a bound."""
    try:
        return len(orjson.dumps(value, default=str))
    except TypeError:
        # Lone surrogates, numbers above 64 bits, hundreds of levels.
        return len(to_compact_json(value))


@lru_cache(maxsize=16384)
def quote(text: str) -> str:
    """Return `text` as a JSON string with Go's HTML escaping; lone surrogates become U+FFFD."""
    quoted: str = encode_basestring(text)
    if _HTML.search(quoted) is None:
        return quoted
    return _HTML.sub(lambda found: _HTML_ESCAPES.get(found.group(), "\ufffd"), quoted)


@lru_cache(maxsize=8192)
def _field(key: str) -> str:
    return quote(key) + ": "


def number(value: float) -> str:
    """Return a number as encoding/json prints an unstructured one.

    Integers outside int64 have been read as float64, so they print as such.

    Source: encoding/json floatEncoder: exponents below 1e-6 and from 1e21 on.
    """
    if isinstance(value, int):
        if _INT64_MIN <= value <= _INT64_MAX:
            return str(int(value))
        value = float(value)
    magnitude = abs(value)
    if magnitude and not 1e-6 <= magnitude < 1e21:
        text = _exponent_form(value)
        # encoding/json shortens e-09 to e-9.
        if text[-4:-1] == "e-0":
            return text[:-2] + text[-1]
        return text
    return positional_float(value)


def shortest_float(value: float) -> str:
    """Return `strconv.FormatFloat(value, 'g', -1, 64)`, what go-yaml prints for a float."""
    if math.isnan(value):
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    digits, point = decimal_digits(value)
    return _exponent_form(value) if digits and not -4 <= point - 1 < 6 else positional_float(value)


def decimal_digits(value: float) -> tuple[str, int]:
    """Return the shortest digits that read back as `value`, and where the decimal point stands."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = whole + fraction
    point = len(whole) + (int(exponent) if exponent else 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return stripped.rstrip("0"), point


def _exponent_form(value: float) -> str:
    digits, point = decimal_digits(value)
    exponent = point - 1
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{'-' if value < 0 else ''}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def positional_float(value: float) -> str:
    """Return `strconv.FormatFloat(value, 'f', -1, 64)`: shortest digits, never an exponent."""
    digits, point = decimal_digits(value)
    sign = "-" if repr(value).startswith("-") else ""
    if not digits:
        return sign + "0"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | float):
        return number(value)
    raise TypeError(f"not a JSON value: {value!r}")


def _write_indented(value: Any, break_: str, out: list[str]) -> None:
    """Append `value`; `break_` is a line end followed by the indent of the line that closes it."""
    kind = type(value)
    if kind is str:
        out.append(quote(value))
    elif kind is dict:
        if not value:
            out.append("{}")
            return
        inner = break_ + "    "
        lead = "{" + inner
        for key in sorted(value):
            item = value[key]
            if type(item) is str:
                out.append(lead + _field(key) + quote(item))
            else:
                out.append(lead + _field(key))
                _write_indented(item, inner, out)
            lead = "," + inner
        out.append(break_ + "}")
    elif kind is list or kind is tuple:
        if not value:
            out.append("[]")
            return
        inner = break_ + "    "
        lead = "[" + inner
        for item in value:
            out.append(lead)
            _write_indented(item, inner, out)
            lead = "," + inner
        out.append(break_ + "]")
    else:
        out.append(_scalar(value))


def _write_compact(value: Any, out: list[str]) -> None:
    kind = type(value)
    if kind is str:
        out.append(quote(value))
    elif kind is dict:
        lead = "{"
        for key in sorted(value):
            out.append(lead + quote(key) + ":")
            _write_compact(value[key], out)
            lead = ","
        out.append("}" if value else "{}")
    elif kind is list or kind is tuple:
        lead = "["
        for item in value:
            out.append(lead)
            _write_compact(item, out)
            lead = ","
        out.append("]" if value else "[]")
    else:
        out.append(_scalar(value))
