"""promql: the PromQL engine and its neighbours. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="promql",
    files=("promql/*.jsonl",),
    answers=(
        "result",
        "error",
    ),
)
