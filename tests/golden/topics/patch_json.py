"""l0/patch_json: JSON patches and merge patches as the API server applies or refuses them."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_patch_json import outcome, recorded


def _judge(record: Record, _folder: Folder) -> Comparison:
    return Comparison(recorded(record), outcome(record))


TOPIC = Topic(
    name="l0/patch_json", files=("patch_json.jsonl",), answers=("result", "error", "strict"), judge=_judge
)
