"""l2/facts/watches: raw watch streams. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(name="l2/facts/watches", files=("watches.jsonl",), answers=("events",))
