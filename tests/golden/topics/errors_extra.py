"""l2/facts/errors_extra: anonymous requests to a server that lets them in, and what compaction makes of old versions."""

from env_core.apiserver.store import LOG_MAX
from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.topics.errors import ANSWERS, Replay, comparable

COMPACTED_BEFORE = "continue-expired"
"""README: "410 Gone with --etcd-compaction-interval=2s"; the requests from here on name versions that are gone."""


def _forget(replay: Replay) -> None:
    """Write until no version from before is kept."""
    store = replay.world.store
    for number in range(LOG_MAX + 1):
        name = f"x{number}"
        store.put("leases", {"metadata": {"name": name, "namespace": "default", "uid": name}})


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    replay = folder.once("replay", lambda: Replay([]))
    if record["id"] == COMPACTED_BEFORE:
        _forget(replay)
    token = record.get("token")
    identity = http.TOKENS.get(token) if token else http.ANONYMOUS
    code, body = http.send(replay.world.server, record, identity)
    if "status" not in record:
        return []
    return [Comparison(comparable(record["status"], record.get("response")), comparable(code, body))]


TOPIC = Topic(name="l2/facts/errors_extra", files=("errors_extra.jsonl",), answers=ANSWERS, judge=_judge)
