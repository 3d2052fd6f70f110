"""l0/hpa_math: replica counts of the pod autoscaler. Not simulated yet."""

from tests.golden.comparison import Topic

ANSWERS = (
    "result", "reason", "message", "replicas", "utilization", "rawAverage", "error", "usage", "steps",
)  # fmt: skip
TOPIC = Topic(name="l0/hpa_math", files=("hpa_math.jsonl",), answers=ANSWERS)
