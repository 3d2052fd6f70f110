"""programs/busybox: the applets of upstream BusyBox that talk to the network."""

from tests.golden.comparison import Topic
from tests.golden.program_clients import judge

TOPIC = Topic(
    name="programs/busybox", files=("programs/busybox-upstream.jsonl", "busybox-upstream.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
