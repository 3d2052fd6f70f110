"""programs/shell: dash, bash and BusyBox ash, coreutils and BusyBox applets, grep, sed, awk, jq."""

from tests.golden.comparison import Topic
from tests.golden.program_shell import judge

TOPIC = Topic(
    name="programs/shell", files=("programs/shell.jsonl", "shell.jsonl"), answers=("stdout", "stderr", "exit"), judge=judge
)
