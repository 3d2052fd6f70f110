"""kubelet/flows: end-to-end flows with real controllers, scheduler and kubelets. Not simulated by the harness yet."""

from tests.golden.comparison import Topic

TOPIC = Topic(
    name="kubelet/flows",
    files=("flows.jsonl",),
    answers=(
        "timeline",
        "kubectl",
    ),
)
