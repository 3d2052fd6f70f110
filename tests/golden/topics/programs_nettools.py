"""programs/nettools: nc, ping, openssl and their like."""

from tests.golden.comparison import Topic
from tests.golden.program_clients import judge

TOPIC = Topic(
    name="programs/nettools", files=("programs/nettools.jsonl", "nettools.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
