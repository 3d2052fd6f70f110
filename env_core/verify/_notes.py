"""Annotations that kubectl and the cluster write by themselves: they follow from what somebody did, and declare nothing.

Exact names, each where its writer puts it: anything else under a reserved prefix is a change like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from env_core.world import Object

_ANYWHERE: Final = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", "kubernetes.io/change-cause"}
)
"""`kubectl apply`; `--record`, and who releases."""
_ON_TEMPLATES: Final = frozenset({"kubectl.kubernetes.io/restartedAt"})
"""`kubectl rollout restart`."""
_OF_CONTROLLERS: Final[Mapping[str, frozenset[str]]] = {
    "deployments.apps": frozenset({"deployment.kubernetes.io/revision"}),
    "replicasets.apps": frozenset(
        {
            "deployment.kubernetes.io/desired-replicas",
            "deployment.kubernetes.io/max-replicas",
            "deployment.kubernetes.io/revision",
            "deployment.kubernetes.io/revision-history",
        }
    ),
    "daemonsets.apps": frozenset({"deprecated.daemonset.template.generation"}),
    "endpoints": frozenset({"endpoints.kubernetes.io/last-change-trigger-time"}),
    "nodes": frozenset(
        {"node.alpha.kubernetes.io/ttl", "volumes.kubernetes.io/controller-managed-attach-detach"}
    ),
    "persistentvolumeclaims": frozenset(
        {
            "pv.kubernetes.io/bind-completed",
            "pv.kubernetes.io/bound-by-controller",
            "volume.beta.kubernetes.io/storage-provisioner",
            "volume.kubernetes.io/selected-node",
            "volume.kubernetes.io/storage-provisioner",
            "volume.kubernetes.io/storage-resizer",
        }
    ),
    "persistentvolumes": frozenset(
        {"pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/provisioned-by"}
    ),
}
"""By resource. Source: the controllers of Kubernetes 1.37, pkg/controller and pkg/kubelet."""
_NOTHING: Final[frozenset[str]] = frozenset()


def declared_notes(annotations: Any, resource: str) -> Object:
    """Return an object's annotations without those that are written for it."""
    own = _OF_CONTROLLERS.get(resource, _NOTHING)
    return {
        key: value for key, value in (annotations or {}).items() if key not in _ANYWHERE and key not in own
    }


def declared_template_notes(annotations: Any) -> Object:
    """Return the annotations of a pod template without those that kubectl writes."""
    return {key: value for key, value in (annotations or {}).items() if key not in _ON_TEMPLATES}
