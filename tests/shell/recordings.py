"""Recorded runs of real client programs, and how their texts compare with ours."""

from __future__ import annotations

import gzip
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden" / "programs"
METER_START = "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"

PATTERNS = {
    "httpdate": r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT",
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
    "kernel": r"\S+",
    "epoch": r"\d+",
    "replid": r"[0-9a-f]{40}",
}
_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9]*(?:\.\d)?)(?::(\d+))?\}")
_POINTER = re.compile(r"0x[0-9a-f]{6,}")


def records(family: str) -> list[dict[str, Any]]:
    """Return the recordings of a family."""
    with gzip.open(GOLDEN / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


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


def _plain(text: str) -> str:
    """Draw the meter's first line once (the real program does it once or twice), and forget addresses in memory."""
    while METER_START * 2 in text:
        text = text.replace(METER_START * 2, METER_START)
    return _POINTER.sub("0x55d5c9bdd440", text)


def is_same(template: str, actual: str, record: dict[str, Any]) -> bool:
    """Whether a text is one that the recorded program may have printed."""
    names = tuple((record.get("placeholders") or {}).keys())
    return (
        _pattern(
            _plain(template), (*names, "ttl", "dnsid", "spd", "ms", "n", "port", "pid", "serial")
        ).fullmatch(_plain(actual))
        is not None
    )


def differences(record: dict[str, Any], stdout: str, stderr: str, exit_code: int) -> list[str]:
    """Return what differs from a recording, readable."""
    found = []
    if not is_same(record.get("stdout") or "", stdout, record):
        found.append(f"stdout\n  want {record.get('stdout')!r}\n  have {stdout!r}")
    if not is_same(record.get("stderr") or "", stderr, record):
        found.append(f"stderr\n  want {record.get('stderr')!r}\n  have {stderr!r}")
    if record["exit"] != exit_code:
        found.append(f"exit want {record['exit']} have {exit_code}")
    return found
