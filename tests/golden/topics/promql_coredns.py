"""promql/coredns: what CoreDNS logs and answers, by its Corefile. Not replayed yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(name="promql/coredns", files=("coredns.jsonl",), answers=("log", "answers", "error"))
