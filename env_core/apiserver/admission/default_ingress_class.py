"""DefaultIngressClass: an Ingress that names no class gets the one marked as default."""

from __future__ import annotations

from env_core.apiserver.admission._default_class import default_class
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_MARK = "ingressclass.kubernetes.io/is-default-class"
_LEGACY = "kubernetes.io/ingress.class"


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    spec = body.get("spec") or {}
    if spec.get("ingressClassName") is not None or _LEGACY in (body["metadata"].get("annotations") or {}):
        return body
    chosen = default_class(attributes.store, "ingressclasses.networking.k8s.io", (_MARK,))
    if chosen is None:
        return body
    return {**body, "spec": {**spec, "ingressClassName": chosen["metadata"]["name"]}}


ADMISSION = Admission(
    name="DefaultIngressClass",
    order=280,
    operations=("CREATE",),
    resources=("ingresses.networking.k8s.io",),
    mutate=_mutate,
    source="k8s.io/kubernetes plugin/pkg/admission/network/defaultingressclass",
)
