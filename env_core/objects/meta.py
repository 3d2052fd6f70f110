"""An object's metadata: what everybody reads, typed, and changed only by copying."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

_NO_TEXTS: Final[Mapping[str, str]] = {}


def metadata(obj: Object) -> Object:
    """Return the metadata, empty if there is none."""
    return obj.get("metadata") or {}


def name(obj: Object) -> str:
    """Return the name, "" if it has none yet."""
    text: str = metadata(obj).get("name") or ""
    return text


def namespace(obj: Object) -> str:
    """Return the namespace, "" for cluster-wide objects."""
    text: str = metadata(obj).get("namespace") or ""
    return text


def key(obj: Object) -> tuple[str, str]:
    """Return namespace and name."""
    meta = metadata(obj)
    return meta.get("namespace") or "", meta.get("name") or ""


def uid(obj: Object) -> str:
    """Return the uid, "" if it has none yet."""
    text: str = metadata(obj).get("uid") or ""
    return text


def kind(obj: Object) -> str:
    """Return the kind, "" if it is not said."""
    text: str = obj.get("kind") or ""
    return text


def api_version(obj: Object) -> str:
    """Return group and version ("apps/v1"), "" if it is not said."""
    text: str = obj.get("apiVersion") or ""
    return text


def labels(obj: Object) -> Mapping[str, str]:
    """Return the labels; do not change them."""
    found: Mapping[str, str] = metadata(obj).get("labels") or _NO_TEXTS
    return found


def label(obj: Object, label_key: str, default: str = "") -> str:
    """Return one label's value."""
    return labels(obj).get(label_key, default)


def annotations(obj: Object) -> Mapping[str, str]:
    """Return the annotations; do not change them."""
    found: Mapping[str, str] = metadata(obj).get("annotations") or _NO_TEXTS
    return found


def annotation(obj: Object, annotation_key: str, default: str = "") -> str:
    """Return one annotation's value."""
    return annotations(obj).get(annotation_key, default)


def finalizers(obj: Object) -> list[str]:
    """Return the finalizers; do not change the list."""
    return metadata(obj).get("finalizers") or []


def owner_references(obj: Object) -> list[Object]:
    """Return the owner references; do not change the list."""
    return metadata(obj).get("ownerReferences") or []


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference of the managing controller, None if there is none."""
    for reference in owner_references(obj):
        if reference.get("controller"):
            return reference
    return None


def controller_uid(obj: Object) -> str:
    """Return the uid of the managing controller, "" if there is none."""
    reference = controller_of(obj)
    text: str = reference.get("uid", "") if reference is not None else ""
    return text


def resource_version(obj: Object) -> str:
    """Return the resource version, "" if it has none yet."""
    text: str = metadata(obj).get("resourceVersion") or ""
    return text


def generation(obj: Object) -> int:
    """Return the generation of the spec, 0 if it is not counted."""
    number: int = metadata(obj).get("generation") or 0
    return number


def observed_generation(obj: Object) -> int:
    """Return the generation that the controller last acted on, 0 if it has not yet."""
    number: int = (obj.get("status") or {}).get("observedGeneration") or 0
    return number


def creation_ms(obj: Object) -> int:
    """Return the creation time in milliseconds since the epoch, 0 if it has none yet."""
    text = metadata(obj).get("creationTimestamp")
    return parse_ms(text) if text else 0


def deletion_ms(obj: Object) -> int | None:
    """Return when the object is to be gone, in milliseconds since the epoch; None if it stays."""
    text = metadata(obj).get("deletionTimestamp")
    return parse_ms(text) if text else None


def is_terminating(obj: Object) -> bool:
    """Say whether deletion has been asked for."""
    return bool(metadata(obj).get("deletionTimestamp"))


def with_metadata(obj: Object, **fields: Any) -> Object:
    """Return a copy with these metadata fields set; None takes a field out."""
    meta = {**metadata(obj), **fields}
    for field, value in fields.items():
        if value is None:
            del meta[field]
    return {**obj, "metadata": meta}


def with_labels(obj: Object, changes: Mapping[str, str | None]) -> Object:
    """Return a copy with these labels set; None takes one out."""
    return with_metadata(obj, labels=_merged(labels(obj), changes))


def with_annotations(obj: Object, changes: Mapping[str, str | None]) -> Object:
    """Return a copy with these annotations set; None takes one out."""
    return with_metadata(obj, annotations=_merged(annotations(obj), changes))


def _merged(current: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str] | None:
    merged = dict(current)
    for text_key, value in changes.items():
        if value is None:
            merged.pop(text_key, None)
        else:
            merged[text_key] = value
    return merged or None


def with_finalizers(obj: Object, names: Iterable[str]) -> Object:
    """Return a copy with exactly these finalizers."""
    return with_metadata(obj, finalizers=list(names) or None)


def with_resource_version(obj: Object, version: str) -> Object:
    """Return a copy with this resource version."""
    return {**obj, "metadata": {**metadata(obj), "resourceVersion": version}}


def with_deletion(obj: Object, at_ms: int, grace_seconds: int) -> Object:
    """Return a copy that is to be gone at `at_ms` (milliseconds since the epoch)."""
    return with_metadata(obj, deletionTimestamp=rfc3339(at_ms), deletionGracePeriodSeconds=grace_seconds)


def with_status(obj: Object, status: Object) -> Object:
    """Return a copy with this status."""
    return {**obj, "status": status}
