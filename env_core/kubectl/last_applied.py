"""The annotation in which `kubectl apply` keeps what was last applied.

Source: k8s.io/kubectl pkg/util/apply.go; tests/golden/l2/flows/apply-client, tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

from env_core.kubectl.writes import typed_json
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def original_text(obj: Object) -> str | None:
    """Return what was last applied, None when nothing says."""
    text: str | None = ((obj.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    return text


def configuration(obj: Object) -> Object:
    """Return the object as it is kept: with annotations, even empty ones, but without this one."""
    metadata = obj.get("metadata") or {}
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED
    }
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def annotated(obj: Object, *, is_typed: bool = False) -> Object:
    """Return the object with its own configuration in the annotation."""
    kept = configuration(obj)
    if is_typed and not kept["metadata"]["annotations"]:
        # A typed object has no empty map of annotations.
        metadata = {key: value for key, value in kept["metadata"].items() if key != "annotations"}
        text = typed_json({**kept, "metadata": metadata})
    else:
        text = typed_json(kept) if is_typed else to_compact_json(kept) + "\n"
    metadata = kept["metadata"]
    return {**kept, "metadata": {**metadata, "annotations": {**metadata["annotations"], LAST_APPLIED: text}}}


def saved(obj: Object, *, is_wanted: bool, is_typed: bool = False) -> Object:
    """Return the object with its annotation made (--save-config) or brought up to date, else as it is."""
    if is_wanted or original_text(obj):
        return annotated(obj, is_typed=is_typed)
    return obj
