"""l0/rollout_status: what `kubectl rollout status` says of an object."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.kubectl.test_golden_commands import _status as status_of

ANSWERS = ("message", "done", "error")
ON_DELETE = "only available for RollingUpdate"


def _judge(record: Record, _folder: Folder) -> Comparison:
    message, is_done, error = status_of(record)
    # Go returns true beside the error for strategies without a status, false beside all others.
    done = (ON_DELETE in error) if error else bool(is_done)
    return Comparison(
        {
            "message": record.get("message", ""),
            "error": record.get("error"),
            "done": record.get("done", False),
        },
        {"message": message, "error": error, "done": done},
    )


TOPIC = Topic(name="l0/rollout_status", files=("rollout_status.jsonl",), answers=ANSWERS, judge=_judge)
