"""TaintNodesByCondition: a new node takes no pods until the node lifecycle controller has seen it ready."""

from __future__ import annotations

from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_KEY = "node.kubernetes.io/not-ready"


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    spec = body.get("spec") or {}
    taints = spec.get("taints") or []
    if any(taint.get("key") == _KEY and taint.get("effect") == "NoSchedule" for taint in taints):
        return body
    return {**body, "spec": {**spec, "taints": [*taints, {"key": _KEY, "effect": "NoSchedule"}]}}


ADMISSION = Admission(
    name="TaintNodesByCondition",
    order=80,
    operations=("CREATE",),
    resources=("nodes",),
    mutate=_mutate,
    source="k8s.io/kubernetes plugin/pkg/admission/nodetaint; tests/golden/l2/flows/node-join-leave.json.gz",
)
