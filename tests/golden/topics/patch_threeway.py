"""l0/patch_threeway: the patches of `kubectl apply`, strategic and JSON merge, and their conflicts."""

import json

from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_merge import PatchError as MergeError
from env_core.objects.patch_merge import create_three_way_json_merge_patch
from env_core.objects.patch_strategic import PatchError, apply_strategic_patch, create_three_way_patch
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_patch_strategic import schema

ANSWERS = ("patch", "result", "error", "applyError", "noOverwriteError", "jsonMergePatch", "jsonMergeError")


def _judge(record: Record, _folder: Folder) -> Comparison:
    documents = record["original"], record["modified"], record["current"]
    struct = schema(record["key"])
    got: Record = {}
    try:
        got["patch"] = to_compact_json(create_three_way_patch(*documents, struct))
        if record["original"] is not None:
            got["result"] = apply_strategic_patch(record["current"], json.loads(got["patch"]), struct)
    except PatchError as why:
        got["applyError" if "patch" in got else "error"] = why.message
    if record["original"] is not None:  # Without it, the recorder computed the patch only.
        try:
            create_three_way_patch(*documents, struct, overwrite=False)
        except PatchError as why:
            got["noOverwriteError"] = why.message
        try:
            got["jsonMergePatch"] = to_compact_json(create_three_way_json_merge_patch(*documents))
        except MergeError as why:
            got["jsonMergeError"] = why.message
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/patch_threeway", files=("patch_threeway.jsonl",), answers=ANSWERS, judge=_judge)
