"""l0/duration: ages and durations as people read them."""

from env_core.sim import timefmt
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("human", "short", "go")


def _judge(record: Record, _folder: Folder) -> Comparison:
    ms = record["milliseconds"] if "milliseconds" in record else record["seconds"] * 1000
    got = (timefmt.human_duration(ms), timefmt.short_human_duration(ms), timefmt.go_duration(ms))
    return Comparison({field: record.get(field) for field in ANSWERS}, dict(zip(ANSWERS, got, strict=True)))


TOPIC = Topic(name="l0/duration", files=("duration.jsonl",), answers=ANSWERS, judge=_judge)
