"""The roles and bindings of a store, and what its nodes' pods refer to, as the authorizer reads them."""

from __future__ import annotations

from env_core.apiserver.store import Store
from env_core.objects import pod_references
from env_core.world import Object

_GROUP = "rbac.authorization.k8s.io"
_RESOURCES = tuple(
    f"{plural}.{_GROUP}" for plural in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
)


class RbacView:
    """Reads RBAC objects of one store."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def version(self) -> int:
        """The revision of the newest write to a role or binding."""
        return self._store.newest_write(_RESOURCES)

    def list(self, resource: str, namespace: str) -> list[Object]:
        """Return the roles or bindings of a namespace ("" for the cluster-wide ones)."""
        return self._store.list(f"{resource}.{_GROUP}", namespace)

    def is_related(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Whether a pod on the node refers to a secret, config map or claim, or claims a volume.

        Source: k8s.io/kubernetes plugin/pkg/auth/authorizer/node graph.go.
        """
        store = self._store
        if resource == "persistentvolumes":
            volume = store.get(resource, "", name) or {}
            claim = (volume.get("spec") or {}).get("claimRef") or {}
            namespace, name = claim.get("namespace", ""), claim.get("name", "")
            resource = pod_references.CLAIMS
        return any(
            pod["metadata"]["namespace"] == namespace and pod_references.refers_to(pod, resource, name)
            for pod in store.indexed("node", node)
        )
