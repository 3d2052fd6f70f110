"""What belongs to a workload: whose it is, adopting and releasing it; making and deleting pods.

Source: k8s.io/kubernetes pkg/controller controller_utils.go, controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Key, Requeue
from env_core.controllers._retry import is_namespace_terminating
from env_core.objects import conditions, selectors
from env_core.objects.owners import controller_reference
from env_core.world import Object

PODS = "pods"
_FINISHED = ("Succeeded", "Failed")
_ORPHANS = "controllers/orphans"


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Say whether a LabelSelector object matches labels; a missing one matches nothing."""
    if selector is None:
        return False
    if not selector.get("matchExpressions"):
        wanted = selector.get("matchLabels") or {}
        return all(labels.get(key) == value for key, value in wanted.items())
    try:
        return selectors.from_object(selector).matches(labels)
    except selectors.SelectorError:
        return False


def is_finished(pod: Object) -> bool:
    """Say whether the pod has run to its end."""
    return (pod.get("status") or {}).get("phase") in _FINISHED


def is_active(pod: Object) -> bool:
    """Say whether the pod counts for its owner: neither finished nor being deleted."""
    return "deletionTimestamp" not in pod["metadata"] and not is_finished(pod)


def is_terminating(pod: Object) -> bool:
    """Say whether the pod is being deleted and has not finished."""
    return "deletionTimestamp" in pod["metadata"] and not is_finished(pod)


def controller_of(metadata: Object) -> Object | None:
    """Return the managing owner reference of an object's metadata."""
    for reference in metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            found: Object = reference
            return found
    return None


def owner_mapper(
    resource: str,
    kind: str,
    selector_of: Callable[[Object], Mapping[str, Any] | None],
    dependents: str = PODS,
) -> Any:
    """Return a mapper from a dependent to its owner of `kind`; for one that nobody manages, to all that select it.

    Dependents that nobody manages are noted, so that a reconcile need not look through a whole namespace for them.
    """

    def mapper(dependent: Object, component: Component) -> Iterable[Key]:
        metadata = dependent["metadata"]
        owner = controller_of(metadata)
        if owner is not None:
            return (Key(metadata["namespace"], owner["name"]),) if owner["kind"] == kind else ()
        namespace = metadata["namespace"]
        note_orphan(component, dependents, metadata)
        labels = metadata.get("labels") or {}
        if not labels:
            return ()
        return tuple(
            Key(namespace, owner["metadata"]["name"])
            for owner in component.cache.list(resource, namespace)
            if selects(selector_of(owner), labels)
        )

    return mapper


def labels_selected(owner: Object) -> Mapping[str, Any] | None:
    """Return the LabelSelector of an owner."""
    selector: Mapping[str, Any] | None = owner["spec"].get("selector")
    return selector


def note_orphan(component: Component, resource: str, metadata: Object) -> None:
    """Note that nobody manages an object, for `orphans_in`."""
    orphans = component.shared_table(f"{_ORPHANS}/{resource}")
    names: tuple[str, ...] = orphans.get(metadata["namespace"]) or ()
    if metadata["name"] not in names:
        orphans[metadata["namespace"]] = (*names, metadata["name"])


def orphans_in(component: Component, resource: str, namespace: str) -> list[Object]:
    """Return the objects of a namespace that nobody manages, as far as `note_orphan` was told."""
    table = component.shared_table(f"{_ORPHANS}/{resource}")
    names: tuple[str, ...] | None = table.get(namespace)
    if not names:
        return []
    found = [component.cache.get(resource, namespace, name) for name in names]
    orphans = [obj for obj in found if obj is not None and controller_of(obj["metadata"]) is None]
    if len(orphans) != len(names):
        table[namespace] = tuple(obj["metadata"]["name"] for obj in orphans)
    return orphans


def is_kept(dependent: Object) -> bool:
    """Say whether a dependent is not being deleted."""
    return "deletionTimestamp" not in dependent["metadata"]


def claimed(
    component: Component,
    owner: Object,
    selector: Mapping[str, Any] | None,
    dependents: str = PODS,
    *,
    may_claim: Callable[[Object], bool] = is_active,
    is_member: Callable[[Object], bool] | None = None,
    finalizers: Sequence[str] = (),
) -> list[Object]:
    """Return what belongs to `owner`, after adopting what it selects and releasing what it does not.

    What `may_claim` denies (finished and terminating pods) is neither adopted nor released; one that `owner`
    already controls stays in the list as long as it is selected. `is_member` narrows what the selector takes.
    What is adopted gets the `finalizers`.
    """
    metadata = owner["metadata"]
    uid = metadata["uid"]

    def is_selected(dependent: Object) -> bool:
        labels = dependent["metadata"].get("labels") or {}
        return selects(selector, labels) and (is_member is None or is_member(dependent))

    found: list[Object] = []
    for dependent in component.cache.owned(uid, dependents):
        reference = controller_of(dependent["metadata"])
        if reference is None or reference["uid"] != uid:
            continue
        if is_selected(dependent):
            found.append(dependent)
        elif may_claim(dependent) and "deletionTimestamp" not in metadata:
            _release(component, dependents, dependent, uid)
    if "deletionTimestamp" in metadata:
        return found
    for dependent in orphans_in(component, dependents, metadata["namespace"]):
        if may_claim(dependent) and is_selected(dependent):
            adopted = _adopt(component, dependents, dependent, owner, finalizers)
            if adopted is not None:
                found.append(adopted)
    return found


def _release(component: Component, resource: str, dependent: Object, uid: str) -> None:
    metadata = dependent["metadata"]
    rest = [entry for entry in metadata["ownerReferences"] if entry["uid"] != uid]
    patch = {"metadata": {"uid": metadata["uid"], "ownerReferences": rest or None}}
    try:
        component.api.patch(resource, metadata["namespace"], metadata["name"], patch)
    except StatusError as error:
        if error.code != 404:
            raise


def _adopt(
    component: Component, resource: str, dependent: Object, owner: Object, finalizers: Sequence[str]
) -> Object | None:
    metadata = dependent["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), controller_reference(owner)]
    changes: Object = {"uid": metadata["uid"], "ownerReferences": references}
    if finalizers:
        changes["finalizers"] = list(dict.fromkeys([*(metadata.get("finalizers") or ()), *finalizers]))
    try:
        return component.api.patch(resource, metadata["namespace"], metadata["name"], {"metadata": changes})
    except StatusError as error:
        if error.code == 404:
            return None
        raise


def pod_of(template: Object, owner: Object, **metadata: Any) -> Object:
    """Return the pod that a template asks for; `metadata` adds to what the template says."""
    said = template.get("metadata") or {}
    kept = {key: said[key] for key in ("labels", "annotations", "finalizers") if said.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "ownerReferences": [controller_reference(owner)], **metadata},
        "spec": template.get("spec") or {},
    }


def create_pod(component: Component, owner: Object, pod: Object) -> Object:
    """Create a pod for `owner` and say so in an event.

    Raises:
        StatusError: if the API refuses, after an event that says so.
    """
    try:
        created = component.api.create(PODS, owner["metadata"]["namespace"], pod)
    except StatusError as error:
        if not is_namespace_terminating(error):
            component.recorder.event(owner, "Warning", "FailedCreate", f"Error creating: {error.message}")
        raise
    component.recorder.event(
        owner, "Normal", "SuccessfulCreate", f"Created pod: {created['metadata']['name']}"
    )
    return created


def delete_pod(component: Component, owner: Object, pod: Object) -> None:
    """Delete a pod of `owner` and say so in an event; a pod that is gone already is no failure.

    Raises:
        StatusError: if the API refuses, after an event that says so.
    """
    name = pod["metadata"]["name"]
    try:
        component.api.delete(PODS, pod["metadata"]["namespace"], name)
    except StatusError as error:
        if error.code == 404:
            return
        component.recorder.event(owner, "Warning", "FailedDelete", f"Error deleting: {error.message}")
        raise
    component.recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name}")


def in_batches(count: int, act: Callable[[int], None]) -> StatusError | None:
    """Do something for each number below `count` in batches that double from one, and return the first refusal.

    The first batch with a refusal is the last, so that one refusal is not repeated for each number. That the
    namespace is going is no refusal. Within a batch upstream acts at once for all, and the last comes first: a
    goroutine that was just started runs before those that wait (tests/golden/l2/flows: sts-parallel, job-indexed).
    """
    done, batch = 0, min(count, 1)
    while batch:
        failure = None
        for number in (done + batch - 1, *range(done, done + batch - 1)):
            try:
                act(number)
            except StatusError as error:
                if not is_namespace_terminating(error):
                    failure = failure or error
        if failure is not None:
            return failure
        done += batch
        batch = min(2 * batch, count - done)
    return None


def until_available(pods: Iterable[Object], min_ready_seconds: int, now_ms: int) -> Requeue | None:
    """Return when the next of the ready pods has been ready for long enough, None if none has still to wait."""
    if not min_ready_seconds:
        return None
    waits = []
    for pod in pods:
        ready = conditions.get(pod, "Ready")
        if ready is not None and ready["status"] == conditions.TRUE:
            due_ms = (conditions.transition_ms(ready) or 0) + min_ready_seconds * 1000
            if due_ms > now_ms:
                waits.append(due_ms - now_ms)
    return Requeue(min(waits)) if waits else None
