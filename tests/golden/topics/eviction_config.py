"""l0/eviction_config: eviction thresholds of the kubelet. Not simulated yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(name="l0/eviction_config", files=("eviction_config.jsonl",), answers=("thresholds", "error"))
