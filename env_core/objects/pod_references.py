"""Which secrets, config maps and claims a pod's spec names."""

from __future__ import annotations

from typing import Any

from env_core.world import Object

SECRETS = "secrets"
CONFIG_MAPS = "configmaps"
CLAIMS = "persistentvolumeclaims"

# The field that refers, what it refers to, and where in it the name stands.
_FIELDS = {
    "secret": (SECRETS, ("secretName", "name")),
    "secretRef": (SECRETS, ("name",)),
    "secretKeyRef": (SECRETS, ("name",)),
    "nodePublishSecretRef": (SECRETS, ("name",)),
    "configMap": (CONFIG_MAPS, ("name",)),
    "configMapRef": (CONFIG_MAPS, ("name",)),
    "configMapKeyRef": (CONFIG_MAPS, ("name",)),
    "persistentVolumeClaim": (CLAIMS, ("claimName",)),
}


def refers_to(pod: Object, resource: str, name: str) -> bool:
    """Whether a pod names an object of its namespace; `resource` is one of the constants of this module.

    Source: k8s.io/kubernetes pkg/api/v1/pod VisitPodSecretNames and VisitPodConfigmapNames.
    """
    spec = pod.get("spec") or {}
    if resource == SECRETS and any(each.get("name") == name for each in spec.get("imagePullSecrets") or ()):
        return True
    if resource == CLAIMS and any(
        volume.get("ephemeral") is not None and f"{pod['metadata']['name']}-{volume.get('name')}" == name
        for volume in spec.get("volumes") or ()
    ):
        return True
    return _mentions(spec, resource, name)


def _mentions(value: Any, resource: str, name: str) -> bool:
    if isinstance(value, list):
        return any(_mentions(each, resource, name) for each in value)
    if not isinstance(value, dict):
        return False
    for key, inner in value.items():
        wanted, names = _FIELDS.get(key, ("", ()))
        if wanted == resource and isinstance(inner, dict) and any(inner.get(each) == name for each in names):
            return True
        if _mentions(inner, resource, name):
            return True
    return False
