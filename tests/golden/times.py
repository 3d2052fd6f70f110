"""Printed texts that differ in times only: ages and dates may be some seconds apart, the rest must be the same."""

from __future__ import annotations

import re

from env_core.sim.timefmt import parse_ms

_DATE = r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000"
_STAMP = r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_AGE = r"(?<![\w.:/-])(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?<=[ydhms])(?![\w.:/-])|<invalid>"
_time = re.compile(f"{_DATE}|{_STAMP}|{_AGE}")
_UNITS = {"y": 365 * 86_400, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _seconds(text: str) -> tuple[int, int]:
    """A time in seconds, and the finest unit in which it is written."""
    if text == "<invalid>":
        return 0, 1
    if text[0].isdigit() and "T" not in text:
        parts = re.findall(r"(\d+)([ydhms])", text)
        return sum(int(number) * _UNITS[unit] for number, unit in parts), _UNITS[parts[-1][1]]
    if "T" in text and text[0].isdigit():
        return parse_ms(text) // 1000, 1
    _, day, month, year, clock, _ = text.split()
    stamp = f"{year}-{_MONTHS.index(month) + 1:02}-{day}T{clock}Z"
    return parse_ms(stamp) // 1000, 1


def near(wanted: str, got: str, slack_s: int) -> bool:
    """Whether two lines are the same but for times that are at most `slack_s` seconds apart.

    Runs of blanks count as one where a time is longer in one of the two: it moves the columns.
    """
    if wanted == got:
        return True
    theirs, ours = _time.findall(wanted), _time.findall(got)
    if len(theirs) != len(ours):
        return False
    moved = [len(one) for one in theirs] != [len(other) for other in ours]
    frame, own_frame = _time.sub("\0", wanted), _time.sub("\0", got)
    if moved:
        frame, own_frame = (re.sub(" +", " ", text).rstrip() for text in (frame, own_frame))
    if frame != own_frame:
        return False
    for one, other in zip(theirs, ours, strict=True):
        (first, unit), (second, other_unit) = _seconds(one), _seconds(other)
        if abs(first - second) > max(slack_s, max(unit, other_unit) if max(unit, other_unit) > 1 else 0):
            return False
    return True
