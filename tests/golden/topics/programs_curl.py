"""programs/curl: the client curl."""

from tests.golden.comparison import Topic
from tests.golden.program_clients import judge

TOPIC = Topic(
    name="programs/curl", files=("programs/curl.jsonl", "curl.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
