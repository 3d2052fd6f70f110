"""ControllerRevisions: the templates that StatefulSets and DaemonSets have had.

Source: k8s.io/kubernetes pkg/controller/history controller_history.go; tests/golden/l2/flows (ids sts-, ds-).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._pods import claimed, is_kept, labels_selected
from env_core.objects import meta
from env_core.objects.owners import controller_reference
from env_core.world import Object

REVISIONS = "controllerrevisions.apps"
REVISION_LABEL = "controller-revision-hash"
"""Which revision a pod has: of StatefulSets the revision's name, of DaemonSets its hash."""
PREFIX_LENGTH_MAX = 223


def revisions_of(component: Component, owner: Object) -> list[Object]:
    """Return the revisions of an owner, the oldest first, after adopting those that nobody manages."""
    found = claimed(component, owner, labels_selected(owner), REVISIONS, may_claim=is_kept)
    return sorted(found, key=lambda each: (number_of(each), meta.creation_ms(each), meta.name(each)))


def number_of(revision: Object) -> int:
    """Return the number of a revision."""
    number: int = revision.get("revision", 0)
    return number


def data_of(owner: Object) -> Object:
    """Return what a revision keeps of its owner: a patch that brings the template back."""
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


def template_of(revision: Object) -> Object:
    """Return the template that a revision keeps."""
    template: Object = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def new_revision(owner: Object, data: Object, number: int, name: str, labels: Object) -> Object:
    """Return the revision to create: it carries its owner's annotations, and the template's labels besides its own."""
    template_labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    metadata: Object = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "labels": {**template_labels, **labels},
        "ownerReferences": [controller_reference(owner)],
    }
    annotations = meta.annotations(owner)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": data,
        "revision": number,
    }


def created(component: Component, revision: Object) -> Object | None:
    """Create a revision and return it; one of that name with the same data will do; None if the name is taken.

    Raises:
        StatusError: if the API refuses for another reason.
    """
    namespace = revision["metadata"]["namespace"]
    try:
        return component.api.create(REVISIONS, namespace, revision)
    except StatusError as error:
        if error.reason != "AlreadyExists":
            raise
    found = component.cache.get(REVISIONS, namespace, revision["metadata"]["name"])
    return found if found is not None and found["data"] == revision["data"] else None


def renumbered(component: Component, revision: Object, number: int) -> Object:
    """Return the revision with a new number, written if it had another."""
    if number_of(revision) == number:
        return revision
    namespace = revision["metadata"]["namespace"]
    return component.api.update(REVISIONS, namespace, {**revision, "revision": number})


def clean_up(
    component: Component, old: Sequence[Object], kept: Collection[str], limit: int | None, surplus: int
) -> None:
    """Delete the `surplus` oldest revisions, as far as their names are not in `kept`; none if there is no limit."""
    if limit is None or limit < 0:
        return
    for revision in old:
        if surplus <= 0:
            return
        if revision["metadata"]["name"] in kept:
            continue
        try:
            component.api.delete(REVISIONS, revision["metadata"]["namespace"], revision["metadata"]["name"])
        except StatusError as error:
            if error.code != 404:
                raise
        surplus -= 1
