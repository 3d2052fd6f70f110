"""Role bindings: who has which role in a namespace."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._policy_rules import path_segment_name
from env_core.kinds._rbac_text import BINDING_COLUMNS, describe_binding
from env_core.kinds._rbac_validation import GROUP, binding_problems, default_binding, role_reference_problems
from env_core.objects.problems import Problem
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    return binding_problems(obj, is_namespaced=True)


def _validate_update(new: Object, old: Object) -> list[Problem]:
    return [*_validate(new), *role_reference_problems(new, old)]


KIND = Kind(
    group=GROUP,
    version="v1",
    kind="RoleBinding",
    plural="rolebindings",
    singular="rolebinding",
    is_namespaced=True,
    subresources=(),
    has_status=False,
    default=default_binding,
    validate_name=path_segment_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=BINDING_COLUMNS,
    describe=describe_binding,
    creates_on_update=True,
    source="k8s.io/api rbac/v1 RoleBinding, 1.37; tests/golden/l0",
)
