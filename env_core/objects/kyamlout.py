"""KYAML, the explicit flow-style subset of YAML that kubectl prints for `-o kyaml`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from env_core.objects._yamltypes import checked_text, is_timestamp, parses_as_integer
from env_core.objects.jsonout import number

_LITERAL: Final = re.compile(r"[ !#-\[\]-~\t]*\Z")
"""Text without a character that would need an escape (printable ASCII and tab)."""

_KEY_PLAIN: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?\Z")
_KEY_WORD_LIST: Final = "null ~ t f true false y yes on n no off .inf -.inf +.inf .nan"
_KEY_WORDS: Final = frozenset(_KEY_WORD_LIST.split())
_FLOAT_WORD_LIST: Final = "inf infinity nan +inf -inf +infinity -infinity"
_FLOAT_WORDS: Final = frozenset(_FLOAT_WORD_LIST.split())
_FLOAT: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z", re.ASCII)
_HEX_FLOAT: Final = re.compile(
    r"[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][-+]?\d+\Z", re.ASCII
)
_SEXAGESIMAL: Final = re.compile(r"[+-]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z", re.ASCII)
_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\r": "\\r",
    "\v": "\\v",
    "\0": "\\0",
    "\x1b": "\\e",
    "\x85": "\\N",
    "\xa0": "\\_",
    "\u2028": "\\L",
    "\u2029": "\\P",
    '"': '\\"',
    "\\": "\\\\",
}


def to_kyaml(value: Any) -> str:
    """Return `value` as one KYAML document with its `---` header and a final line end.

    Raises:
        YamlTextError: for characters that kubectl refuses ("control characters are not allowed").

    Source: sigs.k8s.io/yaml kyaml; tests/golden/l0/yaml_print.
    """
    out: list[str] = ["---\n"]
    _write(value, "", out)
    out.append("\n")
    return "".join(out)


def _write(value: Any, pad: str, out: list[str]) -> None:
    """Append `value`; `pad` is the indent of the line on which it starts."""
    kind = type(value)
    if kind is str:
        out.append(_string(value, pad))
    elif kind is dict:
        if not value:
            out.append("{}")
            return
        inner = pad + "  "
        out.append("{\n")
        for key in sorted(value):
            item = value[key]
            if type(item) is str:
                out.append(f"{inner}{_key(key)}: {_string(item, inner)},\n")
            else:
                out.append(f"{inner}{_key(key)}: ")
                _write(item, inner, out)
                out.append(",\n")
        out.append(pad + "}")
    elif kind is list or kind is tuple:
        _write_list(value, pad, out)
    elif value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    else:
        out.append(number(value))


def _write_list(items: list[Any], pad: str, out: list[str]) -> None:
    """Append a list; one of maps and lists only puts its brackets together with theirs."""
    if not items:
        out.append("[]")
        return
    if all(type(item) in (dict, list, tuple) for item in items):
        lead = "["
        for item in items:
            out.append(lead)
            _write(item, pad, out)
            lead = ", "
        out.append("]")
        return
    inner = pad + "  "
    out.append("[\n")
    for item in items:
        out.append(inner)
        _write(item, inner, out)
        out.append(",\n")
    out.append(pad + "]")


@lru_cache(maxsize=8192)
def _key(key: str) -> str:
    key = checked_text(key, "error decoding: ")
    if _needs_quotes(key):
        return '"' + "".join(_KEY_SPECIAL.get(char) or _escaped(char) for char in key) + '"'
    return key


_KEY_SPECIAL: Final = {"\n": "\\n", "\t": "\\t"}


def _needs_quotes(key: str) -> bool:
    if not key or "\n" in key or _is_ambiguous(key):
        return True
    if _KEY_PLAIN.match(key) is not None:
        return False
    last = len(key) - 1
    for index, char in enumerate(key):
        # Go's IsLetter and IsNumber; isnumeric() also takes some ideographs, which are letters.
        if char.isalpha() or char.isnumeric() or char == "_":
            continue
        if 0 < index < last and char in "-./":
            continue
        return True
    return False


def _is_ambiguous(key: str) -> bool:
    bare = key.replace("_", "")
    if key.lower() in _KEY_WORDS or bare.lower() in _FLOAT_WORDS:
        return True
    if key[0] not in "0123456789+-._":
        return False
    if parses_as_integer(bare, unsigned=False) or _HEX_FLOAT.match(bare):
        return True
    if _FLOAT.match(bare) and abs(float(bare)) != float("inf"):
        return True
    return _SEXAGESIMAL.match(key) is not None or is_timestamp(key)


@lru_cache(maxsize=16384)
def _one_line(text: str) -> str | None:
    """Return `text` quoted, or None when it holds a line end and must be folded."""
    if _LITERAL.match(text) is not None:
        return f'"{text}"'
    text = checked_text(text, "error decoding: ")
    if "\n" in text:
        return None
    return '"' + "".join(map(_escaped, text)) + '"'


def _string(text: str, pad: str) -> str:
    quoted = _one_line(text)
    return _folded(text, pad + "  ") if quoted is None else quoted


def _folded(text: str, pad: str) -> str:
    """Return a text of several lines: one output line for each, joined by YAML's escaped line ends.

    A line that starts with white space has it escaped; any other starts one column further right.
    """
    out = ['"\\\n']
    lines = checked_text(text, "error decoding: ").split("\n")
    out.extend(f"{pad}{_folded_line(line)}\\n\\\n" for line in lines[:-1])
    if lines[-1]:
        out.append(f"{pad}{_folded_line(lines[-1])}\\\n")
    out.append(f'{pad}"')
    return "".join(out)


def _folded_line(line: str) -> str:
    mark = "\\" if line and line[0] in " \t\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" else " "
    if line and "\u2000" <= line[0] <= "\u200a":
        mark = "\\"
    return mark + (line if _LITERAL.match(line) else "".join(map(_escaped, line)))


@lru_cache(maxsize=2048)
def _escaped(char: str) -> str:
    if char == "\t":
        return char
    known = _ESCAPES.get(char)
    if known is not None:
        return known
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
