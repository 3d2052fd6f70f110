"""Roles: rules for one namespace."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._policy_rules import path_segment_name
from env_core.kinds._rbac_text import ROLE_COLUMNS, describe_role
from env_core.kinds._rbac_validation import GROUP, rules_problems
from env_core.objects.problems import Problem
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    return rules_problems(obj.get("rules") or [], is_namespaced=True)


KIND = Kind(
    group=GROUP,
    version="v1",
    kind="Role",
    plural="roles",
    singular="role",
    is_namespaced=True,
    subresources=(),
    has_status=False,
    validate_name=path_segment_name,
    validate=_validate,
    columns=ROLE_COLUMNS,
    describe=describe_role,
    creates_on_update=True,
    source="k8s.io/api rbac/v1 Role, 1.37; tests/golden/l0",
)
