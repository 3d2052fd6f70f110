"""programs/wget: GNU wget and the wget of Debian's BusyBox."""

from tests.golden.comparison import Topic
from tests.golden.program_clients import judge

TOPIC = Topic(
    name="programs/wget", files=("programs/wget.jsonl", "wget.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
