"""How go-yaml v2 writes one string: which style it takes and where it folds the line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from env_core.objects._yamltypes import checked_text, reads_as_string

PLAIN: Final = 0
SINGLE: Final = 1
DOUBLE: Final = 2
LITERAL: Final = 3

_WIDTH: Final = 80
_BREAKS: Final = "\n\r\x85\u2028\u2029"
_FIRST_INDICATORS: Final = frozenset("#,[]{}&*!|>'\"%@`")
_UNPRINTABLE: Final = re.compile("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""What the emitter escapes: go-yaml v2 does not count four-byte characters as printable."""

_SIMPLE: Final = re.compile(
    r"[A-Za-z_/](?:[A-Za-z0-9_./()=+;$@<>^|\\*%&!~\"'?,\[\]{}-]|:(?=[^ ])|#(?<! #)| (?=[^ #]))*\Z"
)
"""Text that stands plain unless it is one of YAML's words: no blanks at the ends, no `: `, no ` #`."""

_ESCAPES: Final = {
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    '"': '\\"',
    "\\": "\\\\",
    "\x85": "\\N",
    "\xa0": "\\_",
    "\u2028": "\\L",
    "\u2029": "\\P",
}


@lru_cache(maxsize=16384)
def inline_scalar(text: str) -> str | None:
    """Return `text` as it stands on one line, or None when it has a break and depends on its place.

    The caller folds what would pass column 80 (`placed_scalar`).

    Raises:
        YamlTextError: for characters that kubectl refuses.
    """
    if _SIMPLE.match(text) is not None and reads_as_string(text):
        return text
    text = checked_text(text)
    style = _style(text)
    if style == LITERAL or (any(char in text for char in _BREAKS) and style != DOUBLE):
        return None
    if style == PLAIN:
        return text
    if style == SINGLE:
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def placed_scalar(text: str, pad: str, column: int) -> str:
    """Return `text` as written from `column` on, with `pad` before every further line."""
    text = checked_text(text)
    style = _style(text)
    if style == LITERAL:
        return _literal(text, pad)
    if style == DOUBLE:
        return _double_quoted(text, pad, column)
    return _folded(text, pad, column, quoted=style == SINGLE)


@lru_cache(maxsize=8192)
def fits_simple_key(key: str) -> bool:
    """Tell whether a key stands before its colon: one line, at most 128 bytes."""
    key = checked_text(key)
    return not any(char in key for char in _BREAKS) and len(key.encode("utf-8", "replace")) <= 128


@lru_cache(maxsize=8192)
def _style(text: str) -> int:
    """Choose the style as goyaml.v2's encoder (what is asked) and emitter (what is allowed) do."""
    if "\n" in text:
        wanted = LITERAL
    elif reads_as_string(text):
        wanted = PLAIN
    else:
        return DOUBLE
    has_breaks = any(char in text for char in _BREAKS)
    special = _UNPRINTABLE.search(text) is not None
    blank_before_break, break_before_blank = _break_blanks(text) if has_breaks else (False, False)
    if wanted == LITERAL:
        allowed = not (blank_before_break or special or text.endswith(" "))
        return LITERAL if allowed else DOUBLE
    edge = text[0] == " " or text[-1] == " " or text[0] in _BREAKS or text[-1] in _BREAKS
    plain_allowed = not (edge or has_breaks or special or _has_block_indicator(text))
    if plain_allowed:
        return PLAIN
    return DOUBLE if special or blank_before_break or break_before_blank else SINGLE


def _break_blanks(text: str) -> tuple[bool, bool]:
    blank_before_break = break_before_blank = False
    previous = ""
    for char in text:
        if char == " " and previous in _BREAKS and previous:
            break_before_blank = True
        elif char in _BREAKS and previous == " ":
            blank_before_break = True
        previous = char
    return blank_before_break, break_before_blank


def _has_block_indicator(text: str) -> bool:
    if text.startswith(("---", "...")):
        return True
    first = text[0]
    if first in _FIRST_INDICATORS:
        return True
    if first in "?:-" and (len(text) == 1 or _is_blank(text[1])):
        return True
    for index in range(1, len(text)):
        char = text[index]
        if char == ":" and (index + 1 == len(text) or _is_blank(text[index + 1])):
            return True
        if char == "#" and _is_blank(text[index - 1]):
            return True
    return False


def _is_blank(char: str) -> bool:
    return char in " \t" or char in _BREAKS or char == "\0"


def _escaped(char: str) -> str:
    known = _ESCAPES.get(char)
    if known is not None and char != "\xa0":
        return known
    if _UNPRINTABLE.match(char) is None:
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _literal(text: str, pad: str) -> str:
    """Return the block form; the last line end is left to the caller, who writes one anyway."""
    head = "|2" if text[0] == " " or text[0] in _BREAKS else "|"
    if text[-1] not in _BREAKS:
        head += "-"
    elif len(text) == 1 or text[-2] in _BREAKS:
        head += "+"
    out = [head, "\n"]
    at_start = True
    for char in text:
        if char in _BREAKS:
            out.append(char)
            at_start = True
            continue
        if at_start:
            out.append(pad)
            at_start = False
        out.append(char)
    if out[-1] == "\n":
        out.pop()
    return "".join(out)


def _folded(text: str, pad: str, column: int, *, quoted: bool) -> str:
    """Return a plain or single-quoted text, a single blank after column 80 becoming a line end."""
    out: list[str] = []
    if quoted:
        out.append("'")
        column += 1
    last = len(text) - 1
    after_blank = after_break = False
    for index, char in enumerate(text):
        if char == " ":
            folds = not after_blank and column > _WIDTH and text[index + 1 : index + 2] != " "
            if folds and (not quoted or 0 < index < last):
                out.append("\n" + pad)
                column = len(pad)
            else:
                out.append(char)
                column += 1
            after_blank = True
        elif char in _BREAKS:
            out.append(char)
            column = 0
            after_break = True
        else:
            if after_break:
                out.append(pad)
                column = len(pad)
            if char == "'" and quoted:
                out.append(char)
                column += 1
            out.append(char)
            column += 1
            after_blank = after_break = False
    if quoted:
        out.append("'")
    return "".join(out)


def _double_quoted(text: str, pad: str, column: int) -> str:
    out = ['"']
    column += 1
    last = len(text) - 1
    after_blank = False
    for index, char in enumerate(text):
        if char == " ":
            if not after_blank and column > _WIDTH and 0 < index < last:
                out.append("\n" + pad)
                column = len(pad)
                if text[index + 1] == " ":
                    out.append("\\")
                    column += 1
            else:
                out.append(char)
                column += 1
            after_blank = True
            continue
        written = _escaped(char)
        out.append(written)
        column += len(written)
        after_blank = False
    out.append('"')
    return "".join(out)
