"""Forms of objects that are not the stored ones: other versions, other groups, and the scale."""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.kind import Kind
from env_core.world import Object

SCALE = Kind(
    group="autoscaling", version="v1", kind="Scale", plural="scales", source="k8s.io/api/autoscaling/v1 Scale"
)
"""What `scale` subresources answer."""


def reader(kind: Kind) -> Callable[[Object], Object] | None:
    """Return what turns a stored object into the form that a kind shows, None when that is the stored one."""
    return kind.read if kind.conversion is None else kind.conversion.from_stored
