"""ClusterRoles that are the sum of others, selected by label.

Source: k8s.io/kubernetes pkg/controller/clusterroleaggregation; tests/golden/l2/facts/default_objects.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._pods import selects
from env_core.controllers._retry import retrying
from env_core.world import Object

RESOURCE = "clusterroles.rbac.authorization.k8s.io"


def _of_role(_role: Object, component: Component) -> Iterable[Key]:
    return [
        Key("", role["metadata"]["name"])
        for role in component.cache.list(RESOURCE)
        if (role.get("aggregationRule") or {}).get("clusterRoleSelectors")
    ]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    role = component.cache.get(RESOURCE, "", key.name)
    if role is None or not role.get("aggregationRule"):
        return None
    rules: list[Object] = []
    for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        for other in component.cache.list(RESOURCE):
            if other["metadata"]["name"] == key.name:
                continue
            if selects(selector, other["metadata"].get("labels") or {}):
                rules.extend(rule for rule in other.get("rules") or () if rule not in rules)
    if rules != (role.get("rules") or []):
        component.api.update(RESOURCE, "", {**role, "rules": rules})
    return None


CONTROLLER = Controller(
    name="clusterrole-aggregation",
    watches=((RESOURCE, _of_role),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/clusterroleaggregation; tests/golden/l2/facts/default_objects",
)
