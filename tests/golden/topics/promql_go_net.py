"""promql/go_net: the errors of Go's network clients. Not replayed yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(name="promql/go_net", files=("go_net.jsonl",), answers=("error", "httpStatus", "body"))
