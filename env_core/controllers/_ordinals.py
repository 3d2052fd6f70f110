"""The pods of a StatefulSet: their ordinals, their identity, their health.

Source: k8s.io/kubernetes pkg/controller/statefulset stateful_set_utils.go; tests/golden/l2/flows (ids sts-).
"""

from __future__ import annotations

from env_core.controllers._history import REVISION_LABEL
from env_core.controllers._pods import pod_of
from env_core.controllers._statefulset_claims import claim_name
from env_core.objects import conditions, meta
from env_core.world import Object

NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
_ORDINAL_MAX = 2**31 - 1


def ordinal_of(pod: Object) -> int:
    """Return the number at the end of a pod's name, -1 if there is none."""
    digits = meta.name(pod).rpartition("-")[2]
    number = int(digits) if digits.isascii() and digits.isdigit() else -1
    return number if number <= _ORDINAL_MAX else -1


def is_member(stateful_set: Object, pod: Object) -> bool:
    """Say whether a pod's name makes it one of the set."""
    return meta.name(pod).rpartition("-")[0] == meta.name(stateful_set) and ordinal_of(pod) >= 0


def wanted_ordinals(stateful_set: Object) -> range:
    """Return the ordinals that the set wants pods for."""
    spec = stateful_set["spec"]
    start: int = (spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + spec.get("replicas", 1))


def revision_of(pod: Object) -> str:
    """Return the name of the revision that a pod has, "" if it is not said."""
    return meta.label(pod, REVISION_LABEL)


def new_pod(stateful_set: Object, template: Object, revision: str, ordinal: int) -> Object:
    """Return the pod to create for an ordinal."""
    name = f"{meta.name(stateful_set)}-{ordinal}"
    pod = pod_of(template, stateful_set, generateName=f"{meta.name(stateful_set)}-")
    pod = with_identity(stateful_set, meta.with_metadata(pod, name=name))
    spec = {**pod["spec"], "hostname": name}
    if stateful_set["spec"].get("serviceName"):
        spec["subdomain"] = stateful_set["spec"]["serviceName"]
    return with_storage(stateful_set, meta.with_labels({**pod, "spec": spec}, {REVISION_LABEL: revision}))


def has_identity(pod: Object) -> bool:
    """Say whether a pod carries its name as a label."""
    return meta.label(pod, NAME_LABEL) == meta.name(pod)


def with_identity(stateful_set: Object, pod: Object) -> Object:
    """Return the pod with the labels that say which of the set it is."""
    changed = meta.with_labels(pod, {NAME_LABEL: meta.name(pod), INDEX_LABEL: str(ordinal_of(pod))})
    return meta.with_metadata(changed, namespace=meta.namespace(stateful_set))


def _volumes(stateful_set: Object, ordinal: int) -> list[Object]:
    return [
        {
            "name": claim["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(stateful_set, claim, ordinal)},
        }
        for claim in stateful_set["spec"].get("volumeClaimTemplates") or ()
    ]


def has_storage(stateful_set: Object, pod: Object) -> bool:
    """Say whether a pod mounts the claims of its ordinal."""
    mounted = {
        volume["name"]: (volume.get("persistentVolumeClaim") or {}).get("claimName")
        for volume in pod["spec"].get("volumes") or ()
    }
    return all(
        mounted.get(volume["name"]) == volume["persistentVolumeClaim"]["claimName"]
        for volume in _volumes(stateful_set, ordinal_of(pod))
    )


def with_storage(stateful_set: Object, pod: Object) -> Object:
    """Return the pod with the claims of its ordinal in front of its other volumes."""
    own = _volumes(stateful_set, ordinal_of(pod))
    if not own:
        return pod
    names = [volume["name"] for volume in own]
    others = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in names]
    return {**pod, "spec": {**pod["spec"], "volumes": [*own, *others]}}


def is_ready(pod: Object) -> bool:
    """Say whether a pod runs and is ready."""
    return conditions.pod_phase(pod) == "Running" and conditions.is_pod_ready(pod)


def is_unavailable(pod: Object | None, min_ready_seconds: int, now_ms: int) -> bool:
    """Say whether a pod is missing, going, not ready, or has not been for long enough."""
    if pod is None or meta.is_terminating(pod) or not is_ready(pod):
        return True
    return not conditions.is_pod_available(pod, min_ready_seconds, now_ms)
