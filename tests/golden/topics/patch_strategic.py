"""l0/patch_strategic: strategic merge patches applied by the API server, strictly and with warnings."""

from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import DecodeError, decode_strategic_patched
from env_core.objects.patch_merge import read_merge_patch
from env_core.objects.patch_strategic import PatchError, merge_strategic_patch
from tests.apiserver.test_strict import parts
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

_MODES = ("strict", "warn")


def _outcome(record: Record, mode: str) -> Record:
    merged = None
    try:
        patch, warnings = read_merge_patch(record["patch"], "")
        merged = merge_strategic_patch(record["original"], patch, schema_for(*parts(record["key"])))
        decoded = decode_strategic_patched(
            *merged, *parts(record["key"]), mode.capitalize(), patch_warnings=warnings
        )
    except DecodeError as why:
        error = {"error": {"message": why.message, "status": why.status}}
        return error | ({"result": merged.object} if merged is not None else {})
    except PatchError as why:
        return {"error": {"message": why.message, "status": (why.code, why.reason)}}
    return {"result": merged.object, "warnings": list(decoded.warnings)}


def _recorded(wanted: Record, got: Record) -> Record:
    """The recorded outcome in the terms of ours: a refused patch has a code and a reason, some have no status."""
    error = wanted.get("error")
    if not error:
        return {"result": wanted["result"], "warnings": wanted.get("warnings") or []}
    status = error.get("status")
    ours = (got.get("error") or {}).get("status")
    if isinstance(ours, tuple):
        status = (status["code"], status["reason"]) if status else ours
    shown = {"result": wanted["result"]} if "result" in wanted and "result" in got else {}
    return {"error": {"message": error["message"], "status": status}} | shown


def _judge(record: Record, _folder: Folder) -> Comparison:
    got = {mode: _outcome(record, mode) for mode in _MODES}
    return Comparison({mode: _recorded(record[mode], got[mode]) for mode in _MODES}, got)


TOPIC = Topic(name="l0/patch_strategic", files=("patch_strategic.jsonl",), answers=_MODES, judge=_judge)
