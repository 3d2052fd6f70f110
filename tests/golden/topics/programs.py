"""programs: what real programs print and log. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="programs",
    files=("programs/*.jsonl",),
    answers=(
        "stdout",
        "stderr",
        "rc",
    ),
)
