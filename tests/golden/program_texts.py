"""Recorded texts of programs: templates with placeholders, and whether ours is one that the real program may print.

Source of every rule: shared oracle `programs/README.md`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from tests.golden.recordings import Record

PATTERNS: Final = {
    "httpdate": r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT",
    "certdate": r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT",
    "ts": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
    "rate": r"[\d.]+ ?[KMG]?B?(?:/s)?",
    "secs": r"[\d.]+m?s",
    "secs3": r"[\d.]+",
    "etag": r"[0-9a-f]+-[0-9a-f]+",
    "msec": r"\d+(?:\.\d{1,3})?",
    "rtt": r"[\d./]+",
    "when": r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}",
    "cookie": r"[0-9a-f]{16}",
    "eta": r"\d+:\d\d:\d\d",
    "builddate": r"[^)]*",
    "sec.6": r"\d+\.\d{6}",
    "ptr": r"0x[0-9a-f]+",
    "off": r"0x[0-9a-f]+",
    "hash": r"[0-9a-f]+",
    "kernel": r"\S+",
    "base64": r"[A-Za-z0-9+/=\n]+",
    "hex": r"[0-9A-Fa-f]+",
    "hexdump": r"[^\n]+",
    "osslthread": r"[0-9A-F]+",
    "serial": r"[0-9A-Fa-f]+",
    "epoch": r"\d+",
    "replid": r"[0-9a-f]{40}",
    "nofile": r"\d+",
}
"""Formats by placeholder; any other one stands for a decimal number."""

ALWAYS: Final = ("ttl", "dnsid", "spd", "ms", "n", "port", "pid", "serial")
"""Placeholders that a record need not list."""

_METER_START: Final = "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9]*(?:\.\d)?)(?::(\d+))?\}")
_POINTER: Final = re.compile(r"0x[0-9a-f]{6,}")
_HELP: Final = re.compile(r"^(?:BusyBox v|[Uu]sage:?\b)", re.MULTILINE)
_TEMPORARY: Final = re.compile(r"(/etc/sed|/etc/passwd)[A-Za-z0-9]{6}\b")
_SPENT: Final = re.compile(r"(copied, )[\d.]+ s, [\d.]+ [kMG]?B/s")


_RAW: Final = (
    (re.compile(r"(status: \w+, id: )\d+"), r"\g<1>1"),
    (re.compile(r"(; COOKIE: )[0-9a-f]{16}"), r"\g<1>0000000000000001"),
    (re.compile(r"(Query time: )\d+( msec)"), r"\g<1>1\2"),
    (re.compile(r"(;; WHEN: )[A-Z].*"), r"\1Mon Nov 30 00:00:00 UTC 2026"),
    (re.compile(r"(inet6 fe80::)[0-9a-f:]+"), r"\g<1>1"),
    (re.compile(r"(        ether )[0-9a-f:]{17}"), r"\g<1>00:00:00:00:00:01"),
    (re.compile(r"([RT]X packets )\d+(  bytes )\d+ \([\d.]+ [KMG]?i?B\)"), r"\g<1>1\g<2>1 (1.0 KiB)"),
    (re.compile(r"( port \d+ after )\d+( ms: )"), r"\g<1>1\2"),
)
"""Values that have a placeholder in the families of clients, and that the recorder left as they were in others."""


@lru_cache(maxsize=4096)
def _pattern(template: str, names: tuple[str, ...]) -> re.Pattern[str]:
    out: list[str] = []
    position = 0
    for found in _PLACEHOLDER.finditer(template):
        name, width = found[1], found[2]
        if name not in PATTERNS and name not in names and not width:
            continue
        out.append(re.escape(template[position : found.start()]))
        out.append(rf"[ \d.kM]{{{width}}}" if width else PATTERNS.get(name, r"\d+(?:\.\d+)?"))
        position = found.end()
    out.append(re.escape(template[position:]))
    return re.compile("".join(out))


def plain(text: str) -> str:
    """Return a text without what is by chance.

    "curl's progress meter: the first line is drawn once or twice"; "{ptr}, {off}, {hash} … hexadecimal"; the random
    ends of temporary files' names and measured speeds, where the recorder left the raw value, are such, too.
    """
    while _METER_START * 2 in text:
        text = text.replace(_METER_START * 2, _METER_START)
    text = _TEMPORARY.sub(r"\1XXXXXX", text)
    text = _SPENT.sub(r"\1", text)
    for raw, shown in _RAW:
        text = raw.sub(shown, text)
    return _POINTER.sub("0x55d5c9bdd440", text)


def has_help(record: Record) -> bool:
    """Whether a program printed its help: prose, which this project does not copy."""
    return any(_HELP.search(record.get(stream) or "") is not None for stream in ("stdout", "stderr"))


def without_help(text: str) -> str:
    """Return a text up to where a program's help begins."""
    found = _HELP.search(text)
    return text if found is None else text[: found.start()]


def is_same(template: str, actual: str, names: tuple[str, ...]) -> bool:
    """Whether a text is one that the recorded program may have printed; `names` are the record's placeholders."""
    return _pattern(plain(template), (*names, *ALWAYS)).fullmatch(plain(_escaped(actual))) is not None


def _escaped(text: str) -> str:
    r"""Return a text with bytes that are no UTF-8 as the recorder wrote them (`\x9d`)."""
    return "".join(f"\\x{ord(char) & 0xFF:02x}" if "\udc80" <= char <= "\udcff" else char for char in text)


def answer(template: str, actual: str, record: Record) -> str:
    """Return the template when `actual` fits it, else `actual`: what a comparison shows as ours."""
    names = tuple((record.get("placeholders") or {}).keys())
    if template == actual or is_same(template, actual, names):
        return template
    wanted, got = template.split("\n"), actual.split("\n")
    if len(wanted) != len(got):
        return actual
    return "\n".join(line if is_same(line, ours, names) else ours for line, ours in zip(wanted, got, strict=True))


def answers(record: Record, stdout: str, stderr: str, exit_code: int, cut: Any = None) -> tuple[Any, Any]:
    """Return the recorded answers of a client and ours, made comparable; `cut` is applied to every text."""
    wanted: dict[str, Any] = {}
    got: dict[str, Any] = {}
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        template = record.get(name) or ""
        if cut is not None:
            template, text = cut(template), cut(text)
        wanted[name] = template
        got[name] = answer(template, text, record)
    wanted["exit"], got["exit"] = record["exit"], exit_code
    return wanted, got
