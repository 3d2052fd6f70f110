"""l0/template_hash: hashes of pod templates."""

from env_core.objects.template_hash import compute_hash, dump
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_template_hash import TEMPLATE

ANSWERS = ("hash", "hashCollision0", "hashCollision1", "dump")


def _judge(record: Record, _folder: Folder) -> Comparison:
    template = record["template"]
    got = {
        "hash": compute_hash(template, None, TEMPLATE),
        "hashCollision0": compute_hash(template, 0, TEMPLATE),
        "hashCollision1": compute_hash(template, 1, TEMPLATE),
        **({"dump": dump(template, TEMPLATE)} if "dump" in record else {}),
    }
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/template_hash", files=("template_hash.jsonl",), answers=ANSWERS, judge=_judge)
