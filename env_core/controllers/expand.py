"""Says that a claim which asks for more waits for someone to make its volume bigger: no driver does so here.

Source: k8s.io/kubernetes pkg/controller/volume/expand expand_controller.go; tests/golden/l2/flows (pvc-expand).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import meta, quantity
from env_core.objects.volume_claims import CLAIMS
from env_core.world import Object

_REQUESTS = "requests"


def _requested_bytes(claim: Object) -> int:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.to_bytes(requests.get("storage", "0"))


def _reconcile(component: Component, key: Key) -> Requeue | None:
    claim = component.cache.get(CLAIMS, *key)
    known = component.table(_REQUESTS)
    if claim is None:
        known.pop(key)
        return None
    before = known.get(key)
    now = (meta.uid(claim), _requested_bytes(claim))
    if before == now:
        return None
    known[key] = now
    is_bound = (claim.get("status") or {}).get("phase") == "Bound"
    if is_bound and before is not None and before[0] == now[0] and before[1] < now[1]:
        text = "waiting for an external controller to expand this PVC"
        component.recorder.event(claim, "Normal", "ExternalExpanding", text)
    return None


CONTROLLER = Controller(
    name="expand",
    component="volume_expand",
    watches=((CLAIMS, own_key),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/volume/expand; tests/golden/l2/flows (pvc-expand)",
)
