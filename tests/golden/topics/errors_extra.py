"""l2/facts/errors_extra: anonymous requests to a server that lets them in, and what compaction makes of old versions."""

from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.topics.errors import ANSWERS, Replay, comparable


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    replay = folder.once("replay", lambda: Replay([]))
    token = record.get("token")
    identity = http.TOKENS.get(token) if token else http.ANONYMOUS
    code, body = http.send(replay.world.server, record, identity)
    if "status" not in record:
        return []
    return [Comparison(comparable(record["status"], record.get("response")), comparable(code, body))]


TOPIC = Topic(name="l2/facts/errors_extra", files=("errors_extra.jsonl",), answers=ANSWERS, judge=_judge)
