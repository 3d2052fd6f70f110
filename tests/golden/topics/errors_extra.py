"""l2/facts/errors_extra: anonymous requests to a server that lets them in, and what compaction makes of old versions."""

from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Identity
from tests.golden import http_requests
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.topics.errors import ANSWERS, Replay, comparable

ANONYMOUS = Identity("system:anonymous", ("system:unauthenticated",))
"""README: "errors_extra: anonymous requests with --anonymous-auth=true"."""


def _answer(replay: Replay, record: Record) -> tuple[int, Any]:
    token = record.get("token")
    try:
        identity = http_requests.authenticate(token) if token else ANONYMOUS
        return replay.send(record, identity)
    except StatusError as error:
        return error.code, error.status


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    replay = folder.once("replay", lambda: Replay([]))
    code, body = _answer(replay, record)
    if "status" not in record:
        return []
    return [Comparison(comparable(record["status"], record.get("response")), comparable(code, body))]


TOPIC = Topic(name="l2/facts/errors_extra", files=("errors_extra.jsonl",), answers=ANSWERS, judge=_judge)
