"""kubelet/nodes: time lines of nodes. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="kubelet/nodes",
    files=("nodes.jsonl",),
    answers=(
        "status",
        "events",
    ),
)
