"""l0/taints_affinity: which taints are tolerated, which nodes a pod wants."""

from env_core.objects.node_matching import tolerates, untolerated, wants_node
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("tolerates", "untolerated", "match")


def _judge(record: Record, _folder: Folder) -> Comparison:
    if record["kind"] == "taints":
        # FindMatchingUntoleratedTaint was asked of the taints that keep pods away.
        blocking = [taint for taint in record["taints"] if taint["effect"] != "PreferNoSchedule"]
        tolerations = record["tolerations"]
        got: Record = {
            "tolerates": [[tolerates(entry, taint) for entry in tolerations] for taint in record["taints"]],
            "untolerated": untolerated(blocking, tolerations),
        }
    else:
        metadata = record["node"]["metadata"]
        got = {"match": wants_node(record["spec"], metadata["name"], metadata.get("labels", {}))}
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/taints_affinity", files=("taints_affinity.jsonl",), answers=ANSWERS, judge=_judge)
