"""Revisions of deployments, stateful sets and daemon sets: their history, and going back in it.

Source: k8s.io/kubectl pkg/polymorphichelpers history.go, rollback.go; tests/golden/l0/rollout_history.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from env_core.apiserver.request import JSON_PATCH, STRATEGIC_PATCH, Options
from env_core.kinds._describe_template import write_pod_template
from env_core.kinds._describe_text import LineWriter
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.objects import selectors
from env_core.objects.tabwriter import TabWriter
from env_core.world import Object

CHANGE_CAUSE = "kubernetes.io/change-cause"
REVISION = "deployment.kubernetes.io/revision"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_HASH = "pod-template-hash"
_KEPT = (
    LAST_APPLIED,
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.revision",
)
KINDS = ("Deployment", "StatefulSet", "DaemonSet")


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision: its number, the object that holds it, and its pod template."""

    number: int
    holder: Object
    template: Object

    @property
    def change_cause(self) -> str:
        """What the annotation says, "" when it says nothing."""
        text: str = (self.holder["metadata"].get("annotations") or {}).get(CHANGE_CAUSE, "")
        return text

    @property
    def shown_template(self) -> Object:
        """The template with the change cause among its annotations."""
        if not self.change_cause:
            return self.template
        metadata = self.template.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), CHANGE_CAUSE: self.change_cause}
        return {**self.template, "metadata": {**metadata, "annotations": annotations}}


def history(ctx: Context, info: Info) -> list[Revision]:
    """Return the revisions of a workload, oldest first."""
    obj = info.found()
    selector = str(selectors.from_object((obj.get("spec") or {}).get("selector")))
    is_deployment = info.kind.kind == "Deployment"
    resource = "replicasets.apps" if is_deployment else "controllerrevisions.apps"
    uid = obj["metadata"].get("uid")
    found: list[Revision] = []
    for holder in ctx.api.list(resource, info.namespace, label_selector=selector):
        if not _is_owned(holder, uid):
            continue
        if is_deployment:
            text = (holder["metadata"].get("annotations") or {}).get(REVISION, "")
            if text.isdigit():
                found.append(Revision(int(text), holder, holder["spec"]["template"]))
        else:
            template = (((holder.get("data") or {}).get("spec") or {}).get("template")) or {}
            kept = {key: value for key, value in template.items() if key != "$patch"}
            found.append(Revision(int(holder.get("revision", 0)), holder, kept))
    found.sort(key=lambda revision: revision.number)
    return found


def _is_owned(holder: Object, uid: Any) -> bool:
    return any(
        owner.get("controller") and owner.get("uid") == uid
        for owner in holder["metadata"].get("ownerReferences") or ()
    )


def history_text(info: Info, revisions: list[Revision], number: int) -> str:
    """Return the table of revisions, or the template of one of them.

    Raises:
        Failure: when there is no such revision.
    """
    if number > 0:
        for revision in revisions:
            if revision.number == number:
                is_deployment = info.kind.kind == "Deployment"
                return template_text(revision.shown_template if is_deployment else revision.template)
        raise Failure("unable to find the specified revision")
    if not revisions:
        return "No rollout history found."
    writer = TabWriter(0, 8, 2)
    writer.write("REVISION\tCHANGE-CAUSE\n")
    for revision in revisions:
        writer.write(f"{revision.number}\t{revision.change_cause or '<none>'}\n")
    return writer.flush()


class _TabbedLines(LineWriter):
    """Lines that keep their tabs: `rollout` does not align them."""

    __slots__ = ()

    def text(self) -> str:
        self.flush()
        return "".join(self._blocks)


def template_text(template: Object) -> str:
    """Return a pod template with the lines of `describe`, tabs and all."""
    writer = _TabbedLines()
    write_pod_template(writer, template)
    head, containers, rest = writer.text().partition("ontainers:\n")
    # Labels and annotations after the first stand behind a tab alone.
    return head.replace("\n  \t", "\n\t") + containers + rest


def roll_back(ctx: Context, info: Info, number: int, dry_run: str) -> str:
    """Go back to a revision (0 means the one before) and return what happened, as it is printed.

    Raises:
        Failure: when there is no such revision, or the deployment is paused.
        StatusError: when the server refuses.
    """
    if number < 0:
        raise _not_found(number)
    revisions = history(ctx, info)
    if info.kind.kind == "Deployment":
        return _roll_back_deployment(ctx, info, revisions, number, dry_run)
    return _roll_back_set(ctx, info, revisions, number, dry_run)


def _not_found(number: int) -> Failure:
    return Failure(f"unable to find specified revision {number} in history")


def _roll_back_deployment(
    ctx: Context, info: Info, revisions: list[Revision], number: int, dry_run: str
) -> str:
    obj = info.found()
    if number:
        target = next((revision for revision in revisions if revision.number == number), None)
        if target is None:
            raise _not_found(number)
    elif len(revisions) < 2:
        raise Failure(f'no rollout history found for deployment "{info.name}"')
    else:
        target = revisions[-2]
    if dry_run == "client":
        return template_text(target.template)
    if (obj.get("spec") or {}).get("paused"):
        raise Failure(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
        )
    template = _without_hash(target.template)
    if template == _without_hash(obj["spec"]["template"]):
        return f"skipped rollback (current template already matches revision {number})"
    own = obj["metadata"].get("annotations") or {}
    theirs = target.holder["metadata"].get("annotations") or {}
    annotations = {key: own[key] for key in _KEPT if key in own}
    annotations.update((key, value) for key, value in theirs.items() if key not in _KEPT)
    patch = [
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]
    _patch(ctx, info, patch, JSON_PATCH, dry_run)
    return "rolled back"


def _without_hash(template: Object) -> Object:
    metadata = template.get("metadata") or {}
    labels = metadata.get("labels") or {}
    if _HASH not in labels:
        return template
    kept = {key: value for key, value in labels.items() if key != _HASH}
    return {**template, "metadata": {**metadata, "labels": kept}}


def _roll_back_set(ctx: Context, info: Info, revisions: list[Revision], number: int, dry_run: str) -> str:
    if not number and len(revisions) < 2:
        raise Failure("no last revision to roll back to")
    if number:
        target = next((revision for revision in revisions if revision.number == number), None)
        if target is None:
            raise _not_found(number)
    else:
        target = revisions[-2]
    if dry_run == "client":
        return f"will roll back to {template_text(target.template)}"
    if target.template == info.found()["spec"]["template"]:
        return f"skipped rollback (current template already matches revision {number})"
    _patch(ctx, info, target.holder["data"], STRATEGIC_PATCH, dry_run)
    return "rolled back"


def _patch(ctx: Context, info: Info, patch: Any, content_type: str, dry_run: str) -> None:
    options = Options(dry_run=dry_run == "server")
    ctx.api.patch(info.kind.resource, info.namespace, info.name, patch, content_type, options=options)
