"""The replica sets of a Deployment: which is its newest, which are old, and the notes it leaves on them.

Source: k8s.io/kubernetes pkg/controller/deployment/util deployment_util.go; tests/golden/l2/flows (ids deploy-).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from env_core.apiserver.schema import StructType, struct_named
from env_core.controllers import _rolling
from env_core.controllers._victims import created_first
from env_core.objects.owners import controller_reference
from env_core.objects.template_hash import compute_hash
from env_core.world import Object

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
HISTORY_LENGTH_MAX = 2000
NAME_LENGTH_MAX = 253
_OWN_ANNOTATIONS = frozenset(
    (
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        _rolling.DESIRED_REPLICAS,
        _rolling.MAX_REPLICAS,
        "deprecated.deployment.rollback.to",
    )
)


def annotations_of(obj: Object) -> dict[str, str]:
    """Return the annotations; do not change them."""
    found: dict[str, str] = obj["metadata"].get("annotations") or {}
    return found


def revision_of(obj: Object) -> int:
    """Return the rollout revision noted on an object, 0 if there is none."""
    return _number(annotations_of(obj).get(REVISION, ""))


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _has_template(replicaset: Object, template: Object) -> bool:
    """Say whether the replica set's template is this one, the hash label aside."""
    own = replicaset["spec"]["template"]
    if own.get("spec") != template.get("spec"):
        return False
    mine, other = _plain(own.get("metadata")), _plain(template.get("metadata"))
    return mine == other


def _plain(metadata: Object | None) -> Object:
    if not metadata:
        return {}
    labels = metadata.get("labels")
    if labels and HASH_LABEL in labels:
        labels = {key: value for key, value in labels.items() if key != HASH_LABEL}
    rest = {key: value for key, value in metadata.items() if value and key != "labels"}
    return {**rest, "labels": labels} if labels else rest


def find_new(deployment: Object, replicasets: Sequence[Object]) -> Object | None:
    """Return the oldest replica set that has the deployment's template."""
    template = deployment["spec"]["template"]
    found = [replicaset for replicaset in replicasets if _has_template(replicaset, template)]
    if len(found) < 2:
        return found[0] if found else None
    return created_first(found)[0]


def active(replicasets: Iterable[Object]) -> list[Object]:
    """Return those that are to have pods."""
    return [replicaset for replicaset in replicasets if _rolling.wanted_replicas(replicaset) > 0]


def active_or_latest(new: Object | None, old: Sequence[Object]) -> Object | None:
    """Return the only replica set with pods, or the latest when none has any; None when several have."""
    if new is None and not old:
        return None
    running = active([*old, new] if new is not None else old)
    if not running:
        return new if new is not None else created_first(old)[-1]
    return running[0] if len(running) == 1 else None


def template_hash(deployment: Object) -> str:
    """Return the hash that names the replica set of the deployment's template."""
    count = (deployment.get("status") or {}).get("collisionCount")
    return compute_hash(deployment["spec"]["template"], count, _template_type())


@lru_cache(maxsize=1)
def _template_type() -> StructType:
    return struct_named("api/core/v1.PodTemplateSpec")


def new_replicaset(deployment: Object, old: Sequence[Object], revision: int) -> Object:
    """Return the replica set to create for the deployment's template."""
    spec, metadata = deployment["spec"], deployment["metadata"]
    digest = template_hash(deployment)
    template = spec["template"]
    said = template.get("metadata") or {}
    labels = {**(said.get("labels") or {}), HASH_LABEL: digest}
    selector = spec["selector"]
    wanted = _rolling.new_replicas(deployment, _rolling.spec_sum(old), 0)
    own: Object = {
        "replicas": wanted,
        "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: digest}},
        "template": {**template, "metadata": {**said, "labels": labels}},
    }
    if spec.get("minReadySeconds"):
        own["minReadySeconds"] = spec["minReadySeconds"]
    replicaset: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name'][: NAME_LENGTH_MAX - len(digest) - 1]}-{digest}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": own,
    }
    notes = {**noted(deployment, replicaset, revision), **replica_notes(deployment)}
    return {**replicaset, "metadata": {**replicaset["metadata"], "annotations": notes}}


def replica_notes(deployment: Object) -> dict[str, str]:
    """Return the annotations that tell how big the deployment was when it last scaled a replica set."""
    wanted = _rolling.wanted_replicas(deployment)
    return {
        _rolling.DESIRED_REPLICAS: str(wanted),
        _rolling.MAX_REPLICAS: str(wanted + _rolling.max_surge(deployment)),
    }


def noted(deployment: Object, replicaset: Object, revision: int) -> dict[str, str]:
    """Return the newest replica set's annotations: the deployment's own, its revision, and those it had before."""
    passed_on = {
        key: value for key, value in annotations_of(deployment).items() if key not in _OWN_ANNOTATIONS
    }
    notes = {**annotations_of(replicaset), **passed_on}
    before = notes.get(REVISION)
    if _number(before or "") < revision:
        notes[REVISION] = str(revision)
        if before is not None:
            history = _with_history(notes.get(HISTORY, ""), before)
            if history is not None:
                notes[HISTORY] = history
    return notes


def _with_history(history: str, revision: str) -> str | None:
    if not history:
        return revision
    entries = history.split(",")
    length = len(history) + len(revision) + 1
    start = 0
    while length > HISTORY_LENGTH_MAX and start < len(entries):
        length -= len(entries[start]) + 1
        start += 1
    if length > HISTORY_LENGTH_MAX:
        return None
    return ",".join([*entries[start:], revision])
