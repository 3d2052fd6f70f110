"""When a CronJob is due: its last time that went by, how many it has missed, and when to look again.

Source: k8s.io/kubernetes pkg/controller/cronjob utils.go; tests/golden/l0/cronjob_math.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.objects import meta
from env_core.objects.cron_schedule import Schedule
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

SKEW_MS = 100
"""Added to each wait, so that clocks that differ a little do not miss a time."""
MANY = 100
NONE_MISSED, FEW_MISSED, MANY_MISSED = "none", "few", "many"
NEVER = "time difference between two schedules is less than 1 second"


class NeverDue(ValueError):
    """The schedule names days that no month has; the message is the controller's."""


class Due(NamedTuple):
    """What a look at the schedule tells. `recent_s` is the newest due second that is not after now."""

    earliest_s: int
    recent_s: int | None
    missed: str


def most_recent(cronjob: Object, schedule: Schedule, now_ms: int, *, has_deadline: bool) -> Due:
    """Return the newest due time since the last run (or creation), no older than the deadline if it counts.

    Raises:
        NeverDue: if the schedule is never due.
    """
    last = (cronjob.get("status") or {}).get("lastScheduleTime")
    earliest_ms = parse_ms(last) if last else meta.creation_ms(cronjob)
    deadline_s = cronjob["spec"].get("startingDeadlineSeconds")
    if has_deadline and deadline_s is not None:
        earliest_ms = max(earliest_ms, now_ms - deadline_s * 1000)
    earliest_s, now_s = earliest_ms // 1000, now_ms // 1000
    first_s = schedule.next_s(earliest_s)
    if first_s is None:
        raise NeverDue(NEVER)
    if now_s < first_s:
        return Due(earliest_s, None, NONE_MISSED)
    second_s = schedule.next_s(first_s)
    if second_s is None:
        raise NeverDue(NEVER)
    if now_s < second_s:
        return Due(earliest_s, first_s, NONE_MISSED)
    between_s = second_s - first_s
    count = (now_s - first_s) // between_s + 1
    recent_s = None
    # One step before the newest regular time, as times need not be regular.
    due_s = schedule.next_s(first_s + (count - 2) * between_s)
    while due_s is not None and due_s <= now_s:
        recent_s = due_s
        due_s = schedule.next_s(due_s)
    return Due(earliest_s, recent_s, MANY_MISSED if count > MANY else FEW_MISSED)


def wait_ms(cronjob: Object, schedule: Schedule, now_ms: int) -> int | None:
    """Return how long after now the next look is due; None if the schedule is never due again."""
    try:
        due = most_recent(cronjob, schedule, now_ms, has_deadline=False)
    except NeverDue:
        return None
    base_s = due.recent_s
    if base_s is None:
        base_s = due.earliest_s if due.missed == NONE_MISSED else now_ms // 1000
    next_s = schedule.next_s(base_s)
    return None if next_s is None else next_s * 1000 + SKEW_MS - now_ms
