"""l2/facts/hashes: pod-template hashes and revisions that real controllers gave."""

from typing import Any

from env_core.objects.template_hash import compute_hash, revision_hash
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.objects.test_template_hash import TEMPLATE

ANSWERS = ("Deployment", "DaemonSet", "StatefulSet")


def _revision(owner: str, template: Record, hashed: str, *, is_stateful: bool) -> Record:
    labels = template["metadata"].get("labels") or {}
    return {
        "name": f"{owner}-{hashed}",
        "hash": hashed,
        "labels": labels,
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "is_stateful": is_stateful,
    }


def _recorded(revision: Record, *, is_stateful: bool) -> Record:
    labels = dict(revision["labels"])
    return {
        "name": revision["name"],
        "hash": labels.pop("controller.kubernetes.io/hash", None)
        or labels.pop("controller-revision-hash", None),
        "labels": {key: value for key, value in labels.items() if key != "controller-revision-hash"},
        "data": revision["data"],
        "is_stateful": is_stateful,
    }


def _judge(record: Record, _folder: Folder) -> Comparison:
    name = f"x{record['id']}"  # README: "(names x<id>; NOT aliased)"
    deployment, daemon_set, stateful_set = (record[kind] for kind in ANSWERS)
    hashed = compute_hash(deployment["template"], None, TEMPLATE)
    daemon_hash = compute_hash(daemon_set["template"], None, TEMPLATE)
    data: Any = {"spec": {"template": {**stateful_set["template"], "$patch": "replace"}}}
    return Comparison(
        {
            "pod-template-hash": deployment["pod-template-hash"],
            "replicaset": deployment["replicaset"],
            "DaemonSet": _recorded(daemon_set["controllerRevision"], is_stateful=False),
            "StatefulSet": _recorded(stateful_set["controllerRevision"], is_stateful=True),
        },
        {
            "pod-template-hash": hashed,
            "replicaset": f"{name}-{hashed}",
            "DaemonSet": _revision(name, daemon_set["template"], daemon_hash, is_stateful=False),
            "StatefulSet": _revision(
                name, stateful_set["template"], revision_hash(data, 0), is_stateful=True
            ),
        },
    )


TOPIC = Topic(name="l2/facts/hashes", files=("hashes.jsonl",), answers=ANSWERS, judge=_judge)
