"""Short texts of volumes, claims and classes: access modes, class names, key=value lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.kinds._describe_text import NONE
from env_core.world import Object

UNSET = "<unset>"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def access_modes_text(modes: Iterable[str] | None) -> str:
    """Return "RWO,ROX": each known mode once, in Kubernetes' order."""
    given = set(modes or ())
    return ",".join(short for mode, short in _MODES if mode in given)


def class_name(obj: Object) -> str:
    """Return the storage class of a claim or volume: the beta annotation first, then the field, else ""."""
    annotations = obj["metadata"].get("annotations") or {}
    if BETA_CLASS in annotations:
        return str(annotations[BETA_CLASS])
    return str((obj.get("spec") or {}).get("storageClassName") or "")


def pairs_text(pairs: Mapping[str, str] | None) -> str:
    """Return "a=b,c=d", sorted, or `<none>`."""
    return ",".join(f"{key}={pairs[key]}" for key in sorted(pairs)) if pairs else NONE
