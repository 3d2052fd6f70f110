"""programs/dns: nslookup, dig, host, getent."""

from tests.golden.comparison import Topic
from tests.golden.program_clients import judge

TOPIC = Topic(
    name="programs/dns", files=("programs/dns.jsonl", "dns.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
