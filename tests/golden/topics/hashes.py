"""l2/facts/hashes: pod-template hashes and revisions that real controllers gave."""

from env_core.objects.template_hash import compute_hash, revision_hash
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_template_hash import TEMPLATE

ANSWERS = ("Deployment", "DaemonSet", "StatefulSet")


def _judge(record: Record, _folder: Folder) -> Comparison:
    deployment, daemon_set = record["Deployment"], record["DaemonSet"]
    revision, daemon_revision = record["StatefulSet"]["controllerRevision"], daemon_set["controllerRevision"]
    hashed = compute_hash(daemon_set["template"], None, TEMPLATE)
    state_hash = revision_hash(revision["data"], 0)
    return Comparison(
        {
            "pod-template-hash": deployment["pod-template-hash"],
            "DaemonSet": daemon_revision["name"].rpartition("-")[2],
            "StatefulSet": revision["name"].rpartition("-")[2],
        },
        {
            "pod-template-hash": compute_hash(deployment["template"], None, TEMPLATE),
            "DaemonSet": hashed,
            "StatefulSet": state_hash,
        },
    )


TOPIC = Topic(name="l2/facts/hashes", files=("hashes.jsonl",), answers=ANSWERS, judge=_judge)
