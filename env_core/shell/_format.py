"""printf formats, for the shell's printf and for awk."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_DIRECTIVE: Final = re.compile(r"%(?:(%)|([-+ #0']*)(\*|\d{1,6})?(?:\.(\*|\d{1,6})?)?[hlLqjzt]*([a-zA-Z]))|%")
_HAS_PRECISION: Final = re.compile(r"%[-+ #0']*(?:\*|\d+)?\.")
_ESCAPE: Final = re.compile(r"\\([0-7]{1,3}|[abefnrtv\\\"'])")
_CHARACTERS: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"',
    "'": "'",
}  # fmt: skip
_WIDTH_MAX: Final = 10_000
_REPEATS_MAX: Final = 10_000


class FormatProblem(Exception):
    """The format is malformed."""

    def __init__(self, text: str) -> None:
        """Record the text."""
        super().__init__(text)
        self.text = text


def unescaped(text: str) -> str:
    r"""Return `text` with `\n`, `\t`, `\101` and their like replaced."""
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        code = found.group(1)
        return chr(int(code, 8) & 0xFF) if code[0].isdecimal() else _CHARACTERS[code]

    return _ESCAPE.sub(character, text)


def formatted(template: str, arguments: list[str], problems: list[str]) -> str:
    """Return the output of the shell's printf: the format is used again until the arguments are used up.

    Bad numbers count as 0 and are noted in `problems`.

    Raises:
        FormatProblem: for an unknown directive.
    """
    left = list(arguments)
    pieces: list[str] = []
    for _ in range(_REPEATS_MAX):
        before = len(left)
        pieces.append(_once(template, left, problems))
        if not left or len(left) == before:
            break
    return "".join(pieces)


def _once(template: str, left: list[str], problems: list[str]) -> str:
    out: list[str] = []
    position = 0

    def take() -> str | None:
        return left.pop(0) if left else None

    for found in _DIRECTIVE.finditer(template):
        out.append(unescaped(template[position : found.start()]))
        position = found.end()
        percent, flags, width, precision, kind = found.groups()
        if percent:
            out.append("%")
            continue
        if kind is None:
            raise FormatProblem(f"{template[found.start() : found.start() + 2]}: invalid directive")
        if width == "*":
            width = str(_integer(take() or "0", problems))
        if precision == "*":
            precision = str(_integer(take() or "0", problems))
        if precision is None and _HAS_PRECISION.match(found.group()):
            precision = "0"
        value = take()
        if kind == "b":
            text = value or ""
            stop = text.find("\\c")
            out.append(_padded(unescaped(text if stop == -1 else text[:stop]), flags, width, precision))
            if stop != -1:
                left.clear()
                return "".join(out)
        elif kind in "sc":
            text = (value or "")[:1] if kind == "c" else value or ""
            out.append(_padded(text, flags, width, precision))
        elif kind in "diouxX":
            out.append(integer_text(_integer(value, problems), flags, width, precision, kind))
        elif kind in "eEfFgG":
            out.append(float_text(_float(value, problems), flags, width, precision, kind))
        else:
            raise FormatProblem(f"%{kind}: invalid directive")
    out.append(unescaped(template[position:]))
    return "".join(out)


def _integer(text: str | None, problems: list[str]) -> int:
    if not text:
        return 0
    if text[0] in "'\"" and len(text) > 1:
        return ord(text[1])
    found = re.match(r"\s*([-+]?)(0[xX][0-9a-fA-F]+|\d+)", text, re.ASCII)
    if found is None:
        problems.append(f"{text}: expected numeric value")
        return 0
    if found.end() != len(text):
        problems.append(f"{text}: not completely converted")
    digits = found.group(2)[:40]
    if digits[:2].lower() == "0x":
        value = int(digits, 16)
    elif digits[0] == "0" and re.fullmatch("[0-7]+", digits):
        value = int(digits, 8)
    else:
        value = int(digits)
    return -value if found.group(1) == "-" else value


def _float(text: str | None, problems: list[str]) -> float:
    if not text:
        return 0.0
    found = re.match(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", text, re.ASCII)
    if found is None:
        problems.append(f"{text}: expected numeric value")
        return 0.0
    if found.end() != len(text):
        problems.append(f"{text}: not completely converted")
    return float(found.group())


def _padded(text: str, flags: str, width: str | None, precision: str | None) -> str:
    if precision is not None:
        text = text[: max(int(precision), 0)]
    return _filled(text, flags, width, is_number=False)


def _filled(text: str, flags: str, width: str | None, *, is_number: bool) -> str:
    columns = int(width or 0)
    if columns < 0:
        flags += "-"
    columns = min(abs(columns), _WIDTH_MAX)
    if "-" in flags:
        return text.ljust(columns)
    if "0" in flags and is_number and len(text) < columns:
        sign = text[0] if text[:1] in ("-", "+", " ") and text else ""
        prefix = sign + (
            text[len(sign) : len(sign) + 2] if text[len(sign) : len(sign) + 2].lower() == "0x" else ""
        )
        return prefix + text[len(prefix) :].rjust(columns - len(prefix), "0")
    return text.rjust(columns)


def integer_text(value: int, flags: str, width: str | None, precision: str | None, kind: str) -> str:
    """Return an integer as C's printf writes it."""
    if kind in "ouxX" and value < 0:
        value += 2**64
    convert: dict[str, Callable[[int], str]] = {
        "o": lambda number: f"{number:o}",
        "x": lambda number: f"{number:x}",
        "X": lambda number: f"{number:X}",
    }
    digits = convert.get(kind, str)(abs(value))
    if precision is not None:
        digits = digits.rjust(min(int(precision), _WIDTH_MAX), "0")
        flags = flags.replace("0", "")
    if "#" in flags and value and kind in "xX":
        digits = f"0{kind}{digits}"
    return _filled(_sign(value < 0, flags, kind) + digits, flags, width, is_number=True)


def float_text(value: float, flags: str, width: str | None, precision: str | None, kind: str) -> str:
    """Return a floating-point number as C's printf writes it."""
    places = 6 if precision is None else min(int(precision), 500)
    text = f"{abs(value):.{places}{kind}}" if "#" not in flags else f"{abs(value):#.{places}{kind}}"
    is_negative = value < 0 or str(value).startswith("-")
    return _filled(_sign(is_negative, flags, "d") + text, flags, width, is_number=True)


def _sign(is_negative: bool, flags: str, kind: str) -> str:
    if kind not in "di":
        return ""
    if is_negative:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""
