"""Which of several classes marked as default counts: the newest, then the first by name."""

from __future__ import annotations

from env_core.apiserver.store import Store
from env_core.world import Object


def default_class(store: Store, resource: str, annotations: tuple[str, ...]) -> Object | None:
    """Return the default object among cluster-scoped `resource`, marked by any of `annotations`; None if there is none."""
    marked = [entry for entry in store.list(resource) if _is_marked(entry, annotations)]
    if not marked:
        return None
    newest = max(entry["metadata"].get("creationTimestamp") or "" for entry in marked)
    return next(entry for entry in marked if (entry["metadata"].get("creationTimestamp") or "") == newest)


def _is_marked(entry: Object, annotations: tuple[str, ...]) -> bool:
    given = entry["metadata"].get("annotations") or {}
    return any(given.get(annotation) == "true" for annotation in annotations)
