"""l0/patch_json: JSON patches and merge patches as the API server applies or refuses them."""

from env_core.apiserver import errors
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_patch_json import outcome, recorded


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted, got = recorded(record), outcome(record)
    if "error" in wanted and "error" in got:
        message, code, reason = got["error"]
        # What refused is not told: README: "for a 422 the reason is in status.details.causes".
        details = record["error"]["status"].get("details")
        status = errors.status(code, reason, message)
        wanted = record["error"]
        got = {
            "message": message,
            "status": {**status, "details": details} if details is not None else status,
        }
    return Comparison(wanted, got)


TOPIC = Topic(
    name="l0/patch_json", files=("patch_json.jsonl",), answers=("result", "error", "strict"), judge=_judge
)
