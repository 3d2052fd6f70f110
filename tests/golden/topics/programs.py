"""programs: what real programs print and log that no other topic has. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="programs",
    files=tuple(
        f"programs/{name}.jsonl"
        for name in (
            "coredns", "public-knowledge",
        )
    ),
    answers=("stdout", "stderr", "log", "exit"),
)  # fmt: skip
