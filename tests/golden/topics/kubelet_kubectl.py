"""kubelet/kubectl: what kubectl printed of the recorded pods. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="kubelet/kubectl",
    files=("kubectl.jsonl",),
    answers=(
        "stdout",
        "stderr",
        "rc",
    ),
)
