"""l0/strict_decoding: request bodies are decoded, warned about and refused alike in the three modes."""

from env_core.apiserver.strict import DecodeError, decode
from tests.apiserver.test_strict import L0_SCHEME, parts
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

_MODES = ("strict", "warn", "ignore")


def _outcome(record: Record, mode: str) -> Record:
    try:
        decoded = decode(record["body"], *parts(record["key"]), mode.capitalize(), scheme=L0_SCHEME)
    except DecodeError as why:
        return {"ok": False, "message": why.message, "status": why.status}
    return {"ok": True, **({"warnings": list(decoded.warnings)} if decoded.warnings else {})}


def _judge(record: Record, _folder: Folder) -> Comparison:
    got = {mode: _outcome(record, mode) for mode in _MODES}
    return Comparison({mode: record.get(mode) for mode in _MODES}, got)


TOPIC = Topic(name="l0/strict_decoding", files=("strict_decoding.jsonl",), answers=_MODES, judge=_judge)
