"""l0/drain_filters: which pods `kubectl drain` deletes, and why it refuses. Not simulated yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="l0/drain_filters", files=("drain_filters.jsonl",), answers=("errors", "warnings", "toDelete")
)
