"""l0/patch_twoway: two-way strategic merge patches and JSON merge patches, their text and their result."""

import json

from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_merge import create_merge_patch
from env_core.objects.patch_strategic import PatchError, apply_strategic_patch, create_two_way_patch
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_patch_strategic import schema

ANSWERS = ("patch", "result", "error", "applyError", "jsonMergePatch")


def _judge(record: Record, _folder: Folder) -> Comparison:
    original, modified = record["original"], record["modified"]
    got: Record = {"jsonMergePatch": to_compact_json(create_merge_patch(original, modified))}
    try:
        patch = to_compact_json(create_two_way_patch(original, modified, schema(record["key"])))
        got["patch"] = patch
        got["result"] = apply_strategic_patch(original, json.loads(patch), schema(record["key"]))
    except PatchError as why:
        got["applyError" if "patch" in got else "error"] = why.message
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/patch_twoway", files=("patch_twoway.jsonl",), answers=ANSWERS, judge=_judge)
