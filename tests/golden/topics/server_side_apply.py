"""l0/server_side_apply: live objects and managed fields after applies and updates. Not simulated yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(name="l0/server_side_apply", files=("server_side_apply.jsonl",), answers=("steps",))
