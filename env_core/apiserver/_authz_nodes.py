"""What kubelets may do beyond the rules of a role: read what the pods on their nodes need, one by one.

Source: k8s.io/kubernetes plugin/pkg/auth/authorizer/node node_authorizer.go.
"""

from __future__ import annotations

from env_core.apiserver.request import Identity
from env_core.world import Object

NODES = "system:nodes"
NODE_PREFIX = "system:node:"
RELATED = frozenset({"secrets", "configmaps", "persistentvolumeclaims", "persistentvolumes"})
"""What the node authorizer hands out only along the edges from a node to its pods."""


def node_rule(rule: Object) -> Object:
    """Return a rule of `system:node` without what a node gets one by one."""
    resources = rule.get("resources") or ()
    if RELATED.isdisjoint(resources):
        return rule
    return {**rule, "resources": [resource for resource in resources if resource not in RELATED]}


def is_by_relation(identity: Identity, verb: str, group: str, resource: str) -> bool:
    """Whether the identity is a node, and asks for something of a pod's."""
    return (
        verb == "get"
        and not group
        and resource in RELATED
        and NODES in identity.groups
        and identity.name.startswith(NODE_PREFIX)
    )
