"""l0/job_math: back-off, pod failure and success policies, index sets of jobs. Not simulated yet."""

from tests.golden.comparison import Topic

ANSWERS = ("remainingSeconds", "action", "counted", "message", "intervals", "string", "met")
TOPIC = Topic(name="l0/job_math", files=("job_math.jsonl",), answers=ANSWERS)
