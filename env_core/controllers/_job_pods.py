"""The pods of a Job: which count as what, which go first, and how they are made.

Source: k8s.io/kubernetes pkg/controller/job job_controller.go, indexed_job_utils.go, tracking_utils.go;
pkg/controller ActivePods; tests/golden/l2/flows (ids job-).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from env_core.controllers._job_indexes import FAILURES, IGNORED_FAILURES, INDEX, failure_count, index_of
from env_core.controllers._job_policies import judge_failure
from env_core.controllers._pods import pod_of
from env_core.objects import conditions, meta
from env_core.world import Object

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
GENERATED_LENGTH_MAX = 58
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def is_indexed(job: Object) -> bool:
    """Say whether each completion has a number of its own."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def is_limited_per_index(job: Object) -> bool:
    """Say whether each index may fail only so often."""
    return job["spec"].get("backoffLimitPerIndex") is not None


def is_suspended(job: Object) -> bool:
    """Say whether the job is to have no pods now."""
    return bool(job["spec"].get("suspend"))


def replaces_only_failed(job: Object) -> bool:
    """Say whether a pod is replaced only once it has ended, and not while it stops."""
    spec = job["spec"]
    return spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy") is not None


def is_tracked(pod: Object) -> bool:
    """Say whether a pod has not been counted yet."""
    return TRACKING in meta.finalizers(pod)


def has_succeeded(pod: Object) -> bool:
    """Say whether a pod has ended well."""
    return conditions.pod_phase(pod) == "Succeeded"


def has_failed(job: Object, pod: Object) -> bool:
    """Say whether a pod counts as failed; one that is being deleted may already."""
    phase = conditions.pod_phase(pod)
    if phase == "Failed":
        return True
    return not replaces_only_failed(job) and meta.is_terminating(pod) and phase != "Succeeded"


def valid_index(job: Object, pod: Object) -> int | None:
    """Return the completion index of a pod, None if the job has no such index."""
    index = index_of(meta.annotations(pod))
    return index if index is not None and index < job["spec"]["completions"] else None


def indexes_of(pods: Iterable[Object]) -> list[int]:
    """Return the completion indexes of pods, each once, in rising order."""
    found = [index_of(meta.annotations(pod)) for pod in pods]
    return sorted({index for index in found if index is not None})


def by_index(pods: Iterable[Object]) -> list[Object]:
    """Return pods in the order of their completion indexes."""
    return sorted(pods, key=_index_or_less)


def _index_or_less(pod: Object) -> int:
    index = index_of(meta.annotations(pod))
    return -1 if index is None else index


def least_active_first(pods: Iterable[Object]) -> list[Object]:
    """Return pods in the order in which they are given up: those that are least on their way first."""
    return sorted(pods, key=_activity)


def _activity(pod: Object) -> tuple[bool, int, bool, int, int, int]:
    ready = conditions.get(pod, "Ready")
    is_ready = ready is not None and ready.get("status") == conditions.TRUE
    ready_ms = (conditions.transition_ms(ready) or 0) if is_ready and ready is not None else 0
    rows = (pod.get("status") or {}).get("containerStatuses") or ()
    restarts = max((row.get("restartCount", 0) for row in rows), default=0)
    phase = _PHASES.get(conditions.pod_phase(pod), 0)
    return bool(pod["spec"].get("nodeName")), phase, is_ready, -ready_ms, -restarts, -meta.creation_ms(pod)


def to_remove(job: Object, active: Sequence[Object], least: int) -> list[Object]:
    """Return the pods to delete: of an indexed job doubles and strays, then others, until they are `least`."""
    removed: list[Object] = []
    left = list(active)
    if is_indexed(job):
        kept: dict[int, Object] = {}
        for pod in least_active_first(active):
            index = valid_index(job, pod)
            if index is None:
                removed.append(pod)
                continue
            if index in kept:
                removed.append(kept[index])
            kept[index] = pod
        left = list(kept.values())
    return [*removed, *least_active_first(left)[: max(least - len(removed), 0)]]


def new_pod(job: Object, index: int | None, replaced: Object | None) -> Object:
    """Return the pod to create, for an index if the job has such. `replaced` is the failed pod that had it before."""
    template = job["spec"]["template"]
    job_name = meta.name(job)
    if index is None:
        return _tracked(pod_of(template, job, generateName=f"{job_name}-"))
    ending = f"-{index}-"
    pod = pod_of(template, job, generateName=f"{job_name[: GENERATED_LENGTH_MAX - len(ending)]}{ending}")
    notes: dict[str, str | None] = {INDEX: str(index)}
    if is_limited_per_index(job):
        notes |= _failure_notes(job, replaced)
    spec = {**pod["spec"], "hostname": f"{job_name}-{index}"}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [_with_index(container) for container in spec[field]]
    pod = meta.with_annotations({**pod, "spec": spec}, notes)
    return _tracked(meta.with_labels(pod, {INDEX: str(index)}))


def _tracked(pod: Object) -> Object:
    return meta.with_finalizers(pod, dict.fromkeys([*meta.finalizers(pod), TRACKING]))


def _with_index(container: Object) -> Object:
    variables = container.get("env") or []
    if any(variable["name"] == INDEX_VARIABLE for variable in variables):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]}


def _failure_notes(job: Object, replaced: Object | None) -> dict[str, str]:
    if replaced is None:
        return {FAILURES: "0"}
    had = meta.annotations(replaced)
    counted, ignored = failure_count(had), failure_count(had, IGNORED_FAILURES)
    if judge_failure(job["spec"].get("podFailurePolicy"), replaced).is_counted:
        counted += 1
    else:
        ignored += 1
    notes = {FAILURES: str(counted)}
    return {**notes, IGNORED_FAILURES: str(ignored)} if ignored else notes
