"""NodeCapacity: a pod is not resized to more than its node could ever grant."""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver import errors
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.objects import quantity
from env_core.world import Object


def _validate(attributes: Attributes) -> None:
    body = attributes.object
    assert body is not None
    spec = body.get("spec") or {}
    node = attributes.store.get("nodes", "", spec.get("nodeName") or "")
    if node is None:
        return
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    for name, read in (("cpu", quantity.to_milli), ("memory", quantity.to_bytes)):
        if name not in allocatable:
            continue
        asked = sum(_requests(container, name, read) for container in spec.get("containers") or ())
        room = read(str(allocatable[name]))
        if asked > room:
            why = f"node didn't have enough allocatable resources: {name}, requested: {asked}, allocatable: {room}"
            refused = refusal(attributes, why)
            details = {**refused.status["details"], "causes": [{"reason": "NodeCapacity"}]}
            raise errors.StatusError({**refused.status, "details": details})


def _requests(container: Object, name: str, read: Callable[[str], int]) -> int:
    value = ((container.get("resources") or {}).get("requests") or {}).get(name)
    return read(str(value)) if value is not None else 0


ADMISSION = Admission(
    name="PodResizeNodeCapacity",
    order=245,
    operations=("UPDATE",),
    resources=("pods",),
    subresources=("resize",),
    validate=_validate,
    source="tests/golden/kubelet (resize-infeasible)",
)
