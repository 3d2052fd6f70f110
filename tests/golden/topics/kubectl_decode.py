"""l0/kubectl_decode: manifests are read as kubectl's resource builder reads them."""

from env_core.kubectl.manifests import read_manifests
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("objects", "error")


def _judge(record: Record, _folder: Folder) -> Comparison:
    manifests = read_manifests(record["text"], "STDIN")
    got = {
        "objects": list(manifests.objects),
        "error": manifests.error.text if manifests.error else None,
    }
    return Comparison({"objects": record["objects"] or [], "error": record.get("error")}, got)


TOPIC = Topic(name="l0/kubectl_decode", files=("kubectl_decode.jsonl",), answers=ANSWERS, judge=_judge)
