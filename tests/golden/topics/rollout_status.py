"""l0/rollout_status: what `kubectl rollout status` says of an object."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.kubectl.test_golden_commands import _status as status_of

ANSWERS = ("message", "done", "error")


def _judge(record: Record, _folder: Folder) -> Comparison:
    message, is_done, error = status_of(record)
    wanted: Record = {"message": record.get("message", ""), "error": record.get("error")}
    got: Record = {"message": message, "error": error}
    if not wanted["error"]:  # With an error, nobody looks at `done`.
        wanted["done"], got["done"] = record.get("done", False), bool(is_done)
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/rollout_status", files=("rollout_status.jsonl",), answers=ANSWERS, judge=_judge)
