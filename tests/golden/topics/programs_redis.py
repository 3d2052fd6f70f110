"""programs/redis: redis-server's logs, replies and refusals; redis-cli."""

from collections.abc import Iterable
from typing import Final

from env_core.programs import redis
from tests.golden.comparison import Comparison, Topic
from tests.golden.program_clients import judge as judge_client
from tests.golden.recordings import Folder, Record
from tests.golden.server_records import Family, judge_of, prepared

FAMILY: Final = Family(
    program=redis.PROGRAM,
    image="redis:7.0",
    prepared=prepared,
    formats={"ts": r"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}"},
)
_JUDGE: Final = judge_of(FAMILY)


def _judge(record: Record, folder: Folder) -> Comparison | Iterable[Comparison]:
    return _JUDGE(record, folder) if "log" in record else judge_client(record, folder)


TOPIC = Topic(
    name="programs/redis", files=("programs/redis.jsonl", "redis.jsonl"), answers=("log", "exit", "trigger", "stdout", "stderr"),
    judge=_judge,
)  # fmt: skip
