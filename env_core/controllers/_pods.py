"""The pods of a workload: whose they are, adopting and releasing them, making and deleting them.

Source: k8s.io/kubernetes pkg/controller controller_utils.go, controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Key
from env_core.controllers._retry import is_namespace_terminating
from env_core.objects import selectors
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


def pod_owner(resource: str, kind: str, selector_of: Callable[[Object], Mapping[str, Any] | None]) -> Any:
    """Return a mapper from a pod to its owner of `kind`, or, for a pod nobody manages, to all that select it.

    Pods that nobody manages are noted, so that a reconcile need not look through a whole namespace for them.
    """

    def mapper(pod: Object, component: Component) -> Iterable[Key]:
        metadata = pod["metadata"]
        owner = controller_of(metadata)
        if owner is not None:
            return (Key(metadata["namespace"], owner["name"]),) if owner["kind"] == kind else ()
        namespace = metadata["namespace"]
        note_orphan(component, PODS, metadata)
        labels = metadata.get("labels") or {}
        if not labels:
            return ()
        return tuple(
            Key(namespace, owner["metadata"]["name"])
            for owner in component.cache.list(resource, namespace)
            if selects(selector_of(owner), labels)
        )

    return mapper


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


def claimed(component: Component, owner: Object, selector: Mapping[str, Any] | None) -> list[Object]:
    """Return the pods that belong to `owner`, after adopting what it selects and releasing what it does not.

    Finished and terminating pods are neither adopted nor released; one that `owner` already controls stays
    in the list as long as it is selected.
    """
    metadata = owner["metadata"]
    uid = metadata["uid"]
    found: list[Object] = []
    for pod in component.cache.owned(uid, PODS):
        reference = controller_of(pod["metadata"])
        if reference is None or reference["uid"] != uid:
            continue
        if selects(selector, pod["metadata"].get("labels") or {}):
            found.append(pod)
        elif is_active(pod) and "deletionTimestamp" not in metadata:
            _release(component, pod, uid)
    if "deletionTimestamp" in metadata:
        return found
    for pod in orphans_in(component, PODS, metadata["namespace"]):
        if is_active(pod) and selects(selector, pod["metadata"].get("labels") or {}):
            adopted = _adopt(component, pod, owner)
            if adopted is not None:
                found.append(adopted)
    return found


def _release(component: Component, pod: Object, uid: str) -> None:
    metadata = pod["metadata"]
    rest = [entry for entry in metadata["ownerReferences"] if entry["uid"] != uid]
    patch = {"metadata": {"uid": metadata["uid"], "ownerReferences": rest or None}}
    try:
        component.api.patch(PODS, metadata["namespace"], metadata["name"], patch)
    except StatusError as error:
        if error.code != 404:
            raise


def _adopt(component: Component, pod: Object, owner: Object) -> Object | None:
    metadata = pod["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), controller_reference(owner)]
    patch = {"metadata": {"uid": metadata["uid"], "ownerReferences": references}}
    try:
        return component.api.patch(PODS, metadata["namespace"], metadata["name"], patch)
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
