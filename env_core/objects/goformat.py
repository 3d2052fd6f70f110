"""Go's `fmt` on JSON-shaped values: %v, %#v, %q, %T and printf.

The values are those of an unstructured object: None, bool, int (Go `int64`), float (`float64`), str,
dict (`map[string]interface {}`) and list (`[]interface {}`).
"""

from __future__ import annotations

import math
from typing import Any, Final

from env_core.objects.jsonout import shortest_float
from env_core.objects.problems import quoted

NIL: Final = "<nil>"


def type_name(value: Any, integer: str = "int64") -> str:
    """Return the Go type of `value` as %T prints it; `integer` names the type of whole numbers."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return integer
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "map[string]interface {}"
    return "[]interface {}"


def scalar_text(value: Any) -> str:
    """Return %v of anything but a map or a list."""
    if isinstance(value, str):
        return value
    if value is None:
        return NIL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return shortest_float(value)


def value_text(value: Any) -> str:
    """Return %v of a value: maps as `map[k:v k:v]` with sorted keys, lists as `[a b]`."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{value_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(value_text(item) for item in value) + "]"
    return scalar_text(value)


def syntax_text(value: Any) -> str:
    """Return %#v of a value, the Go-syntax form."""
    out: list[str] = []
    _write_syntax(value, out)
    return "".join(out)


def _write_syntax(value: Any, out: list[str]) -> None:
    if isinstance(value, dict):
        lead = "map[string]interface {}{"
        if not value:
            out.append(lead)
        for key in sorted(value):
            out.append(f"{lead}{quoted(key)}:")
            _write_syntax(value[key], out)
            lead = ", "
        out.append("}")
    elif isinstance(value, list):
        lead = "[]interface {}{"
        if not value:
            out.append(lead)
        for item in value:
            out.append(lead)
            _write_syntax(item, out)
            lead = ", "
        out.append("}")
    elif isinstance(value, str):
        out.append(quoted(value))
    elif value is None:
        out.append("interface {}(nil)")
    else:
        out.append(scalar_text(value))


def rune_text(char: str) -> str:
    """Return %#U of a character: `U+0026 '&'`, without the quotes when it does not print."""
    code = f"U+{ord(char):04X}"
    return f"{code} '{char}'" if char.isprintable() else code


def quoted_rune(char: str) -> str:
    """Return %q of a character: in single quotes, escaped like a string."""
    return {"'": "'\\''", '"': "'\"'"}.get(char) or "'" + quoted(char)[1:-1] + "'"


def sprint(values: list[Any]) -> str:
    """Return Go's `fmt.Sprint`: a blank between two operands when neither is a string."""
    out: list[str] = []
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            out.append(" ")
        out.append(value_text(value))
    return "".join(out)


def sprintf(layout: str, values: list[Any], integer: str = "int64") -> str:
    """Return Go's `fmt.Sprintf`, its complaints about wrong verbs and operand counts included.

    Widths and precisions are cut to Go's limit of a million; `integer` is the type name of whole numbers.
    """
    return _Printer(layout, values, integer).run()


class _Printer:
    __slots__ = ("_at", "_integer", "_layout", "_next", "_reordered", "_values")

    def __init__(self, layout: str, values: list[Any], integer: str) -> None:
        self._layout = layout
        self._values = values
        self._integer = integer
        self._at = 0
        self._next = 0
        self._reordered = False

    def run(self) -> str:
        out: list[str] = []
        layout = self._layout
        while self._at < len(layout):
            percent = layout.find("%", self._at)
            if percent < 0:
                out.append(layout[self._at :])
                break
            out.append(layout[self._at : percent])
            self._at = percent + 1
            out.append(self._directive())
        if not self._reordered and self._next < len(self._values):
            extra = ", ".join(
                f"{type_name(value, self._integer)}={value_text(value)}" if value is not None else NIL
                for value in self._values[self._next :]
            )
            out.append(f"%!(EXTRA {extra})")
        return "".join(out)

    def _directive(self) -> str:
        layout = self._layout
        flags = ""
        while self._at < len(layout) and layout[self._at] in "+-# 0":
            flags += layout[self._at]
            self._at += 1
        self._index()
        complaint = ""
        width, bad = self._number()
        if bad:
            complaint += "%!(BADWIDTH)"
        if width is not None and width < 0:
            flags, width = flags + "-", -width
        precision: int | None = None
        if self._at < len(layout) and layout[self._at] == ".":
            self._at += 1
            self._index()
            precision, bad = self._number()
            if bad:
                complaint += "%!(BADPREC)"
            elif precision is None:
                precision = 0
            elif precision < 0:
                precision = None
        self._index()
        if self._at >= len(layout):
            return complaint + "%!(NOVERB)"
        verb = layout[self._at]
        self._at += 1
        if verb == "%":
            return complaint + "%"
        if not 0 <= self._next < len(self._values):
            return complaint + f"%!{verb}({'BADINDEX' if self._reordered else 'MISSING'})"
        value = self._values[self._next]
        self._next += 1
        return complaint + _formatted(verb, value, flags, width, precision, self._integer)

    def _index(self) -> None:
        """Read an explicit operand index, "[2]"."""
        layout = self._layout
        if self._at < len(layout) and layout[self._at] == "[":
            close = layout.find("]", self._at)
            digits = layout[self._at + 1 : close] if close > 0 else ""
            self._reordered = True
            if close > 0:
                self._at = close + 1
            self._next = int(digits) - 1 if digits.isdigit() and len(digits) < 7 else -1

    def _number(self) -> tuple[int | None, bool]:
        """Return a width or precision (None: not given) and whether it was a wrong "*" operand."""
        layout = self._layout
        if self._at < len(layout) and layout[self._at] == "*":
            self._at += 1
            value = self._values[self._next] if 0 <= self._next < len(self._values) else None
            self._next += 1
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _WIDTH_MAX:
                return None, True
            return value, False
        start = self._at
        while self._at < len(layout) and layout[self._at] in "0123456789":
            self._at += 1
        digits = layout[start : self._at]
        if not digits:
            return None, False
        return (int(digits), False) if int(digits[:8]) <= _WIDTH_MAX and len(digits) < 8 else (None, True)


_WIDTH_MAX: Final = 100_000


def _padded(text: str, flags: str, width: int | None, *, zero_from: int | None = None) -> str:
    if width is None or len(text) >= width:
        return text
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and zero_from is not None:
        return text[:zero_from] + "0" * (width - len(text)) + text[zero_from:]
    return text.rjust(width)


def _formatted(
    verb: str, value: Any, flags: str, width: int | None, precision: int | None, integer: str
) -> str:
    """Return one operand under one verb."""
    if verb == "T":
        return _padded(type_name(value, integer), flags, width)
    if value is None:
        return _padded(NIL, flags, width) if verb == "v" else f"%!{verb}({NIL})"
    if isinstance(value, dict):
        if verb == "v" and "#" in flags:
            return syntax_text(value)
        inner = " ".join(
            _formatted(verb, key, flags, width, precision, integer)
            + ":"
            + _formatted(verb, value[key], flags, width, precision, integer)
            for key in sorted(value)
        )
        return f"map[{inner}]"
    if isinstance(value, list):
        if verb == "v" and "#" in flags:
            return syntax_text(value)
        return (
            "[" + " ".join(_formatted(verb, item, flags, width, precision, integer) for item in value) + "]"
        )
    if isinstance(value, bool):
        text = _verb_bool(verb, value)
    elif isinstance(value, int):
        return _verb_int(verb, value, flags, width, precision, integer)
    elif isinstance(value, float):
        return _verb_float(verb, value, flags, width, precision)
    else:
        text = _verb_string(verb, value, flags, precision)
    if text is None:
        return f"%!{verb}({type_name(value, integer)}={value_text(value)})"
    return _padded(text, flags, width, zero_from=0)


def _verb_bool(verb: str, value: bool) -> str | None:
    return ("true" if value else "false") if verb in "tv" else None


def _verb_string(verb: str, value: str, flags: str, precision: int | None) -> str | None:
    if precision is not None and verb in "svqxX":
        value = value[:precision]
    if verb == "v" and "#" in flags:
        return quoted(value)
    if verb in "sv":
        return value
    if verb == "q":
        return f"`{value}`" if "#" in flags and "`" not in value and value.isprintable() else quoted(value)
    if verb in "xX":
        text = value.encode().hex(" " if " " in flags else "") if " " in flags else value.encode().hex()
        return text.upper() if verb == "X" else text
    return None


def _verb_int(
    verb: str, value: int, flags: str, width: int | None, precision: int | None, integer: str
) -> str:
    prefix = ""
    if verb in "vd":
        digits = str(abs(value))
    elif verb == "b":
        digits, prefix = f"{abs(value):b}", "0b" if "#" in flags else ""
    elif verb in "oO":
        digits, prefix = f"{abs(value):o}", "0o" if verb == "O" else "0" if "#" in flags else ""
    elif verb == "x":
        digits, prefix = f"{abs(value):x}", "0x" if "#" in flags else ""
    elif verb == "X":
        digits, prefix = f"{abs(value):X}", "0X" if "#" in flags else ""
    elif verb in "cqU" and 0 <= value < 0x110000:
        char = chr(value)
        text = char if verb == "c" else quoted_rune(char)
        if verb == "U":
            text = rune_text(char) if "#" in flags else f"U+{value:04X}"
        return _padded(text, flags, width)
    else:
        return f"%!{verb}({integer}={value})"
    if precision is not None:
        digits = digits.rjust(precision, "0") if precision or value else ""
    sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    lead = sign + prefix
    zero_from = len(lead) if precision is None else None
    return _padded(lead + digits, flags, width, zero_from=zero_from)


def _verb_float(verb: str, value: float, flags: str, width: int | None, precision: int | None) -> str:
    if verb not in "vgGeEfF":
        return f"%!{verb}(float64={shortest_float(value)})"
    if math.isinf(value) or math.isnan(value):
        return _padded(shortest_float(value), flags, width)
    if verb in "vgG":
        text = shortest_float(value) if precision is None else f"{value:.{max(precision, 1)}g}"
        text = text.upper() if verb == "G" else text
    else:
        text = f"{value:.{6 if precision is None else min(precision, _WIDTH_MAX)}{verb}}"
    if not text.startswith("-"):
        text = ("+" if "+" in flags else " " if " " in flags else "") + text
    return _padded(text, flags, width, zero_from=0 if text[0].isdigit() else 1)
