"""The order in which a build prints its resources.

Source: sigs.k8s.io/kustomize/api internal/builtins SortOrderTransformer.go.
"""

from __future__ import annotations

from typing import Any

from env_core.kubectl.kustomize.ids import RANKS, Gvk, ranks
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resource import Resource


def ordered(resources: list[Resource], options: dict[str, Any] | None) -> list[Resource]:
    """Return the resources as `sortOptions` wants them, by kind without.

    Raises:
        KustomizeError: for an unknown order, and options that are not for it.
    """
    own = RANKS
    if options is not None:
        order = options.get("order") or ""
        if order not in ("fifo", "legacy"):
            raise KustomizeError("the field 'sortOptions.order' must be one of [fifo, legacy]")
        legacy = options.get("legacySortOptions")
        if order == "fifo":
            if legacy is not None:
                raise KustomizeError(
                    "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', "
                    "not 'legacy'"
                )
            return resources
        if legacy is not None:
            own = ranks(legacy.get("orderFirst") or [], legacy.get("orderLast") or [])

    def key(resource: Resource) -> tuple[int, str, str]:
        return own.get(resource.kind, 0), _kind_text(resource.gvk), _text(resource)

    return sorted(resources, key=key)


def _kind_text(gvk: Gvk) -> str:
    if gvk.kind == "Namespace" and not gvk.group:
        # A namespace of another group comes before those of the core.
        return "~~" + gvk.sort_text
    return gvk.sort_text


def _text(resource: Resource) -> str:
    own = resource.id
    return f"{own.gvk}|{own.namespace or '~X'}|{own.name or '~N'}"
