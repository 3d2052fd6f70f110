"""l0/cronjob_math: when schedules are due. Not simulated yet."""

from tests.golden.comparison import Topic

ANSWERS = ("error", "mostRecent", "requeueAfterSeconds", "missed", "jobNameSuffixMinutes")
TOPIC = Topic(name="l0/cronjob_math", files=("cronjob_math.jsonl",), answers=ANSWERS)
