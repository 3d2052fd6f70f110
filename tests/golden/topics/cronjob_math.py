"""l0/cronjob_math: when schedules are due, and what cron jobs have missed."""

from env_core.controllers._cron_times import NeverDue, most_recent, wait_ms
from env_core.objects.cron_schedule import ScheduleError, parse_schedule
from env_core.sim.timefmt import parse_ms, rfc3339
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

MISSED = ("error", "mostRecent", "requeueAfterSeconds", "missed", "jobNameSuffixMinutes")
NEXT = "next "
FROM = ("2026-01-15T12:00:00Z", "2026-03-08T06:00:00Z", "2026-10-31T23:59:59Z", "2028-02-28T23:00:00Z")
ANSWERS = (*MISSED, *(f"{NEXT}{start}" for start in FROM))
NEVER_S = -9223372036.854776
"""Where there is no next time Go's zero time minus now is the least of its durations."""


def _schedule(record: Record) -> Comparison:
    wanted = {key: value for key, value in record.items() if key == "error" or key.startswith(NEXT)}
    text = record["schedule"]
    if record["timeZone"]:
        text = f"TZ={record['timeZone']} {text}"
    try:
        schedule = parse_schedule(text)
    except ScheduleError as error:
        return Comparison(wanted, {"error": str(error)})
    got = {}
    for key, times in record.items():
        if key.startswith(NEXT):
            at_s: int | None = parse_ms(key.removeprefix(NEXT)) // 1000
            found = []
            for _ in times:
                at_s = None if at_s is None else schedule.next_s(at_s)
                found.append("0001-01-01T00:00:00Z" if at_s is None else rfc3339(at_s * 1000))
            got[key] = found
    return Comparison(wanted, got)


def _missed(record: Record) -> Comparison:
    wanted = {key: record[key] for key in MISSED if key in record}
    cronjob = {
        "metadata": {"creationTimestamp": record["creationTimestamp"]},
        "spec": {"startingDeadlineSeconds": record["startingDeadlineSeconds"]},
        "status": {"lastScheduleTime": record["lastScheduleTime"]},
    }
    schedule, now_ms = parse_schedule(record["schedule"]), parse_ms(record["now"])
    got: Record = {"missed": "none", "mostRecent": None}
    try:
        due = most_recent(cronjob, schedule, now_ms, has_deadline=True)
        got["missed"] = due.missed
        if due.recent_s is not None:
            got["mostRecent"] = rfc3339(due.recent_s * 1000)
            got["jobNameSuffixMinutes"] = due.recent_s // 60
    except NeverDue as error:
        got["error"] = str(error)
    after_ms = wait_ms(cronjob, schedule, now_ms)
    got["requeueAfterSeconds"] = NEVER_S if after_ms is None else after_ms / 1000
    return Comparison(wanted, got)


def _judge(record: Record, _folder: Folder) -> Comparison:
    return _schedule(record) if record["kind"] == "schedule" else _missed(record)


TOPIC = Topic(name="l0/cronjob_math", files=("cronjob_math.jsonl",), answers=ANSWERS, judge=_judge)
